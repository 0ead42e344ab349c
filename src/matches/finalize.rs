//! From reduced pairs to a whole output: count, judge, expand, write.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Kind, Result};
use crate::fingerprint::Fingerprint;
use crate::matches::crowd::Crowd;
use crate::matches::expand::{
    Held, Unnamed, expand_copies, expand_groups, expand_store, name, pair,
};
use crate::matches::frequent::{Hot, Hottest};
use crate::matches::listing::{Listing, Named};
use crate::matches::partition::{FAR, Sifted, copies, sift};
use crate::matches::verdicts::{Edge, Judgement, Judgements, judge};
use crate::matches::{Against, Batch, Confirm, KeepOrder, Leaders, Pair, Row, groups};
use crate::output::{self, Staging, Sum};
use crate::runs::{Sorted, Sorter};
use crate::store::{Dated, Segment};
use crate::tables::Design;

/// What to do where there are too many matches.
const BEST: &str = "write one row for each dropped page instead with --matches best";

/// There are more matches than the `most` that may be written.
pub fn too_many(found: impl fmt::Display, most: u64) -> Error {
    Error::new(Kind::BadData, "there are more matches than may be written")
        .expected(format!("at most {most}"))
        .found(found)
        .help(format!("allow more with --max-matches, or {BEST}"))
}

/// Which rows matches.tsv holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// Every near pair of documents.
    All,
    /// For each dropped page the pair its verdict names.
    #[default]
    Best,
}

/// What is to be settled, and how.
#[derive(Debug)]
pub struct Settlement<'a> {
    /// The batch's segment.
    pub segment: &'a Segment,
    /// What matches are confirmed by, if by anything.
    pub confirm: Option<Confirm>,
    /// The segments of the store it was joined with, and the days of their rows.
    pub store: &'a [Dated],
    /// The largest distance that counts as near.
    pub distance: u32,
    /// Which page of several near ones is kept.
    pub keep: KeepOrder,
    /// Which rows are written.
    pub detail: Detail,
    /// How many rows may be written when all are asked for.
    pub max_matches: u64,
    /// Memory that each sort may use, in bytes; up to seven are under way at once.
    pub memory_bytes: usize,
}

/// What was found and written.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Outcome {
    /// Pages kept.
    pub kept: u64,
    /// Pages dropped.
    pub dropped: u64,
    /// Rows of matches.tsv.
    pub matches: u64,
    /// Rows of matches.tsv at each distance.
    pub distances: BTreeMap<u32, u128>,
    /// With a check and [`Detail::All`], the pairs of documents within k before it. The confirmed ones
    /// are the matches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidates: Option<u128>,
    /// Pages that share their fingerprint with others of the batch.
    pub copies: u64,
    /// The most pages of the batch with one fingerprint.
    pub largest_group: u64,
    /// The fingerprints that most pages of the batch have.
    #[serde(default)]
    pub hot_copies: Vec<Hot>,
    /// With [`Detail::All`], the fingerprints with most matches in the store and among the smaller
    /// ones of the batch.
    #[serde(default)]
    pub hot_matches: Vec<Hot>,
    /// The files written.
    pub files: BTreeMap<String, Sum>,
}

impl Settlement<'_> {
    /// Draws the verdicts from `pairs` and writes every file of the output but the report.
    ///
    /// # Errors
    /// Where all rows are asked for, they are counted first: [`Kind::BadData`] if they are more than
    /// may be written, and [`Kind::Io`] if the disk has no room for them.
    pub fn write<F: Fingerprint>(&self, pairs: Sorted<Pair>, staging: &Staging) -> Result<Outcome> {
        let (folder, memory_bytes) = (staging.folder(), self.memory_bytes);
        let (batch, ids) = Batch::load::<F>(self.segment, self.confirm, folder, memory_bytes)?;
        let leaders = batch.leaders(self.segment, self.keep, folder, memory_bytes)?;
        let all = self.detail == Detail::All;
        let wanted = (self.detail, self.max_matches);
        let Sifted { edges, standings, nearest, crowded, rows: mut counted, candidates, hot } =
            sift(&batch, &leaders, self.store, pairs, wanted, (folder, memory_bytes))?;
        if all {
            self.check_room(counted.iter().sum(), &batch, folder)?;
        }
        let mut unnamed = Sorter::new(folder, memory_bytes);
        let near = Neighbours { edges, nearest: &nearest, crowded };
        let judged = self.judged::<F>(&batch, &leaders, near, all.then_some(&mut unnamed))?;
        let [mut rows, mut verdicts] = [(); 2].map(|()| Sorter::new(folder, memory_bytes));
        let (standings, wanted) = (standings.sorted()?, all.then_some(&mut rows));
        let mut held = Sorter::new(folder, memory_bytes);
        expand_store(&batch, self.store, standings, &nearest, wanted, &mut held)?;
        if all {
            expand_copies(&batch, &mut unnamed)?;
        }
        let found = Found { batch: &batch, leaders, judged, nearest };
        let mut copies_of = Sorter::new(folder, memory_bytes);
        found.each_dropped(held, |row, of| {
            if !all {
                counted[usize::from(of.distance())] += 1;
            }
            match of {
                Nearest::Row(existing, distance) => {
                    if !all {
                        unnamed.push(pair(&batch, row, existing, distance))?;
                    }
                    let (existing, new) = (batch.place(existing), batch.rank(row));
                    copies_of.push(Unnamed { existing, new, distance, similarity: None })
                }
                Nearest::Held(held, distance) => {
                    let (existing, against) = (held.id.clone(), Against::Day(held.day));
                    let (new, similarity) = (batch.rank(row), held.similarity);
                    let row = Row { new, distance, existing, against, similarity };
                    if !all {
                        rows.push(row.clone())?;
                    }
                    verdicts.push(row)
                }
            }
        })?;
        name(unnamed, self.segment, &mut rows)?;
        name(copies_of, self.segment, &mut verdicts)?;
        let (matches, verdicts) = (rows.sorted()?, verdicts.sorted()?);
        let (empties, checked) = (self.segment.empty_ids(), self.confirm.is_some());
        let listing = Listing { ids, empties, verdicts, matches, checked };
        let (files, written) = listing.write(staging)?;
        let mut outcome = found.outcome(written, &counted, files);
        outcome.candidates = candidates;
        outcome.hot_matches = hot.told(self.segment, &batch, |rows| rows)?;
        outcome.hot_copies = found.most_copied().told(self.segment, &batch, copies)?;
        Ok(outcome)
    }

    /// Refuses to write more rows than allowed, or than there is room for twice: sorting them takes
    /// as much again.
    fn check_room(&self, rows: u128, batch: &Batch, folder: &Path) -> Result<()> {
        if rows > u128::from(self.max_matches) {
            return Err(too_many(rows, self.max_matches));
        }
        let needed = u64::try_from(2 * rows * row_bytes(batch)).unwrap_or(u64::MAX);
        let help = format!("free some space and run the same command again, or {BEST}");
        output::check_free_space(folder, needed).map_err(|error| error.help(help))
    }

    /// The judgement on every leader, in keep order; where rows are wanted, the near groups of the
    /// batch are expanded to them on the way.
    fn judged<F: Fingerprint>(
        &self,
        batch: &Batch,
        leaders: &Leaders,
        Neighbours { edges, nearest, crowded }: Neighbours<'_>,
        mut rows: Option<&mut Sorter<Unnamed>>,
    ) -> Result<Judgements> {
        let group = |rank: u32| leaders.order[rank as usize];
        let edges = edges.sorted()?.map(|edge| {
            let edge = edge?;
            if let Some(rows) = &mut rows {
                expand_groups(batch, group(edge.earlier), group(edge.later), edge.distance, rows)?;
            }
            Ok(edge)
        });
        let blocks = Design::Blocks { blocks: self.distance + 1, choose: 1 };
        let masks = blocks.masks(F::WIDTH, self.distance)?;
        let fingerprints: Vec<F> = match crowded.is_empty() {
            true => Vec::new(),
            false => groups(self.segment)?,
        };
        let fingerprint = |rank: u32| fingerprints[batch.fingerprint_of(group(rank)) as usize];
        let blocks = |rank: u32| {
            let bits = fingerprint(rank).to_u128();
            masks.iter().map(|mask| bits & mask).enumerate().collect()
        };
        let distance = |a: u32, b: u32| {
            let distance = fingerprint(a).distance(fingerprint(b));
            let near = distance <= self.distance && batch.matches(group(a), group(b));
            near.then_some(distance as u8)
        };
        let crowd = Crowd::new(crowded, blocks, distance);
        let held = |rank| nearest[group(rank) as usize] != FAR;
        let name = |rank: u32| batch.rank(leaders.rows[group(rank) as usize]);
        judge(batch.groups(), held, edges, crowd, name)
    }
}

/// About how many bytes a row takes, going by the ids of the batch.
fn row_bytes(batch: &Batch) -> u128 {
    u128::from(24 + 2 * batch.id_bytes())
}

/// What is near what, for the keep rule.
struct Neighbours<'a> {
    /// Near groups of the batch.
    edges: Sorter<Edge>,
    /// The distance of each group to the nearest page of the store.
    nearest: &'a [u8],
    /// The ranks of groups whose pairs with each other are not all among the edges.
    crowded: Vec<u32>,
}

/// Everything that is known of every group once all is judged.
struct Found<'a> {
    batch: &'a Batch,
    leaders: Leaders,
    judged: Judgements,
    nearest: Vec<u8>,
}

/// What a page is dropped in favour of, and how near it is.
#[derive(Clone, Copy)]
enum Nearest<H> {
    /// The nearest page of the store.
    Held(H, u8),
    /// A kept row of the batch.
    Row(u32, u8),
}

impl<H> Nearest<H> {
    fn distance(&self) -> u8 {
        match self {
            Nearest::Held(_, distance) | Nearest::Row(_, distance) => *distance,
        }
    }
}

impl Found<'_> {
    /// Calls `each` with every row that is dropped and its nearest kept page; `held` are the nearest
    /// pages of the store for each group.
    fn each_dropped(
        &self,
        held: Sorter<Held>,
        mut each: impl FnMut(u32, Nearest<&Held>) -> Result<()>,
    ) -> Result<()> {
        let mut held = held.sorted()?.peekable();
        for group in 0..self.batch.groups() {
            let mut least: Option<Held> = None;
            while let Some(next) =
                held.next_if(|next| next.as_ref().map_or(true, |next| next.group == group))
            {
                let next = next?;
                least.get_or_insert(next);
            }
            let (kept, nearest) = self.nearest(group);
            let nearest = match nearest {
                Nearest::Row(row, distance) => Nearest::Row(row, distance),
                Nearest::Held((), distance) => {
                    Nearest::Held(least.as_ref().expect("a page is held"), distance)
                }
            };
            let mut dropped = self.batch.rows_of(group).filter(|&row| Some(row) != kept);
            dropped.try_for_each(|row| each(row, nearest))?;
        }
        Ok(())
    }

    /// The row of a group that is kept, if one is, and the nearest kept page of all its other rows: of
    /// two at one distance, the store's.
    fn nearest(&self, group: u32) -> (Option<u32>, Nearest<()>) {
        let Leaders { rows, order, rank } = &self.leaders;
        let leader = |rank: u32| rows[order[rank as usize] as usize];
        let rank = rank[group as usize];
        let distance = self.nearest[group as usize];
        match self.judged.get(rank) {
            Judgement::Kept => (Some(leader(rank)), Nearest::Row(leader(rank), 0)),
            Judgement::Dropped { near: Some((kept, nearer)) } if nearer < distance => {
                (None, Nearest::Row(leader(kept), nearer))
            }
            Judgement::Dropped { .. } => (None, Nearest::Held((), distance)),
        }
    }

    fn sizes(&self) -> impl Iterator<Item = u64> {
        (0..self.batch.groups()).map(|group| self.batch.rows_of(group).len() as u64)
    }

    /// The groups with most pages.
    fn most_copied(&self) -> Hottest {
        let mut hottest = Hottest::default();
        (0..).zip(self.sizes()).for_each(|(group, size)| hottest.offer(size.into(), group));
        hottest
    }

    fn outcome(&self, matches: u64, counted: &[u128], files: [Named; 4]) -> Outcome {
        let kept = self.judged.kept();
        Outcome {
            kept,
            dropped: u64::from(self.batch.rows()) - kept,
            matches,
            distances: (0..).zip(counted.iter().copied()).filter(|(_, rows)| *rows > 0).collect(),
            copies: self.sizes().filter(|&size| size > 1).sum(),
            largest_group: self.sizes().max().unwrap_or(0),
            files: files.into_iter().map(|(name, sum)| (name.to_owned(), sum)).collect(),
            ..Outcome::default()
        }
    }
}

impl fmt::Display for Detail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Detail::All => "all",
            Detail::Best => "best",
        })
    }
}

impl FromStr for Detail {
    type Err = Error;

    fn from_str(text: &str) -> Result<Detail> {
        match text {
            "all" => Ok(Detail::All),
            "best" => Ok(Detail::Best),
            _ => Err(Error::new(Kind::Usage, "there is no such detail of matches")
                .expected("all or best")
                .found(text)),
        }
    }
}
