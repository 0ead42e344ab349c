//! From reduced pairs to a whole output: count, judge, expand, write.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Kind, Result};
use crate::fingerprint::Fingerprint;
use crate::matches::expand::{Held, expand_copies, expand_groups, expand_store};
use crate::matches::listing::{Named, Verdict, named_rows, write_matches, write_verdicts};
use crate::matches::sift::{FAR, Sifted, sift};
use crate::matches::verdicts::{Edge, Judgement, judge};
use crate::matches::{Batch, KeepOrder, Leaders, Pair, Row};
use crate::output::{Staging, Sum};
use crate::runs::{Sorted, Sorter};
use crate::store::{Dated, Segment};

/// Which rows matches.tsv holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// Every near pair of documents.
    #[default]
    All,
    /// For each dropped page the pair its verdict names.
    Best,
}

/// What is to be settled, and how.
#[derive(Debug)]
pub struct Settlement<'a, F> {
    /// The batch's segment.
    pub segment: &'a Segment,
    /// The batch.
    pub batch: &'a Batch<F>,
    /// The segments of the store it was joined with, and the days of their rows.
    pub store: &'a [Dated],
    /// Which page of several near ones is kept.
    pub keep: KeepOrder,
    /// Which rows are written.
    pub detail: Detail,
    /// How many rows may be written when all are asked for.
    pub max_matches: u64,
    /// Memory that each sort may use, in bytes.
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
    /// Near pairs of documents at each distance, whether they are written or not.
    pub distances: BTreeMap<u32, u128>,
    /// With a check, the pairs of documents within k before it: those confirmed are the near ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidates: Option<u128>,
    /// Pages that share their fingerprint with others of the batch.
    pub copies: u64,
    /// The most pages of the batch with one fingerprint.
    pub largest_group: u64,
    /// The files written.
    pub files: BTreeMap<String, Sum>,
}

impl<F: Fingerprint> Settlement<'_, F> {
    /// Draws the verdicts from `pairs` and writes every file of the output but the report.
    ///
    /// # Errors
    /// [`Kind::BadData`] with the count where all rows are asked for and are more than may be written
    /// or than the disk has room for.
    pub fn write(&self, pairs: Sorted<Pair>, staging: &Staging) -> Result<Outcome> {
        let folder = staging.folder();
        let leaders = self.batch.leaders(self.segment, self.keep)?;
        let Sifted { edges, standings, nearest, rows: counted, candidates } =
            sift(self.batch, &leaders, self.store, pairs, (folder, self.memory_bytes))?;
        let all = self.detail == Detail::All;
        if all {
            self.check_room(counted.iter().sum(), folder)?;
        }
        let mut rows = Sorter::new(folder, self.memory_bytes);
        let judged = self.judge(&leaders, edges, &nearest, all.then_some(&mut rows))?;
        let wanted = all.then_some(&mut rows);
        let held = expand_store(self.batch, self.store, standings.sorted()?, &nearest, wanted)?;
        let found = Found { batch: self.batch, leaders, judged, nearest, held };
        match self.detail {
            Detail::All => expand_copies(self.batch, &mut rows)?,
            Detail::Best => named_rows(self.batch, |row| found.verdict(row), &mut rows)?,
        }
        let empties = self.segment.empty_ids();
        let verdicts = write_verdicts(self.batch, empties, |row| found.verdict(row), staging)?;
        let (matches, written) = write_matches(self.batch, rows.sorted()?, staging)?;
        let files = verdicts.into_iter().chain([matches]);
        Ok(Outcome { candidates, ..found.outcome(written, &counted, files) })
    }

    /// The judgement on every leader, in keep order; where `rows` are wanted, the near groups of the
    /// batch are expanded on the way.
    fn judge(
        &self,
        leaders: &Leaders,
        edges: Sorter<Edge>,
        nearest: &[u8],
        mut rows: Option<&mut Sorter<Row>>,
    ) -> Result<Vec<Judgement>> {
        let group = |rank: u32| self.batch.group_of(leaders.order[rank as usize]);
        let edges = edges.sorted()?.map(|edge| {
            let edge = edge?;
            if let Some(rows) = &mut rows {
                let (a, b) = (group(edge.earlier), group(edge.later));
                expand_groups(self.batch, a, b, edge.distance, rows)?;
            }
            Ok(edge)
        });
        let held = |rank| nearest[group(rank) as usize] != FAR;
        let name = |rank: u32| self.batch.rank(leaders.order[rank as usize]);
        judge(leaders.order.len() as u32, held, edges, name)
    }

    /// Refuses to write more rows than allowed, or than there is room for twice: sorting them takes
    /// as much again.
    fn check_room(&self, rows: u128, folder: &Path) -> Result<()> {
        let refusal = |what: &str| Error::new(Kind::BadData, what);
        let best = "ask for one match for each dropped page with --matches best";
        if rows > u128::from(self.max_matches) {
            return Err(refusal("there are more matches than may be written")
                .expected(format!("at most {}", self.max_matches))
                .found(rows)
                .help(format!("allow more with --max-matches, or {best}")));
        }
        let stat = rustix::fs::statvfs(folder).map_err(|cause| Error::io(folder, &cause.into()))?;
        let (free, needed) = (stat.f_bavail * stat.f_frsize, 2 * rows * self.row_bytes());
        if needed > u128::from(free) {
            return Err(refusal("there is no room for so many matches")
                .at(folder)
                .expected(format!("{needed} bytes for {rows} rows"))
                .found(format!("{free} bytes"))
                .help(best));
        }
        Ok(())
    }

    /// About how many bytes a row takes, going by the ids of the batch.
    fn row_bytes(&self) -> u128 {
        let ids: u64 = (0..self.batch.rows()).map(|row| self.batch.id(row).len() as u64).sum();
        u128::from(24 + 2 * ids / u64::from(self.batch.rows()).max(1))
    }
}

/// Everything that is known of every document once all is judged.
struct Found<'a, F> {
    batch: &'a Batch<F>,
    leaders: Leaders,
    judged: Vec<Judgement>,
    nearest: Vec<u8>,
    held: Vec<Option<Box<Held>>>,
}

impl<F: Fingerprint> Found<'_, F> {
    /// A page is kept if it leads a kept group. Any other is a copy of the nearest kept page: of two
    /// at one distance, of the store's.
    fn verdict(&self, row: u32) -> Verdict<'_> {
        let group = self.batch.group_of(row);
        let rank = self.leaders.rank[group as usize];
        let leader = self.leaders.order[rank as usize];
        match self.judged[rank as usize] {
            Judgement::Kept if row == leader => Verdict::Keep,
            Judgement::Kept => Verdict::Copy(leader, 0),
            Judgement::Dropped { near } => self.nearest_of(group, near),
        }
    }

    fn nearest_of(&self, group: u32, near: Option<(u32, u8)>) -> Verdict<'_> {
        let distance = self.nearest[group as usize];
        match (&self.held[group as usize], near) {
            (Some(held), Some((_, nearer))) if distance <= nearer => Verdict::Held(held, distance),
            (Some(held), None) => Verdict::Held(held, distance),
            (_, Some((kept, distance))) => {
                Verdict::Copy(self.leaders.order[kept as usize], distance)
            }
            (None, None) => unreachable!("a dropped group is near something"),
        }
    }

    fn outcome(
        &self,
        matches: u64,
        counted: &[u128],
        files: impl Iterator<Item = Named>,
    ) -> Outcome {
        let sizes =
            || (0..self.batch.groups().len() as u32).map(|group| self.batch.rows_of(group).len());
        let kept = self.judged.iter().filter(|judged| **judged == Judgement::Kept).count() as u64;
        Outcome {
            kept,
            dropped: u64::from(self.batch.rows()) - kept,
            matches,
            candidates: None,
            distances: (0..).zip(counted.iter().copied()).filter(|(_, rows)| *rows > 0).collect(),
            copies: sizes().filter(|&size| size > 1).map(|size| size as u64).sum(),
            largest_group: sizes().max().unwrap_or(0) as u64,
            files: files.map(|(name, sum)| (name.to_owned(), sum)).collect(),
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
