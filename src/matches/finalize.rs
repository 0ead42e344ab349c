//! From sorted pairs to a complete output: partition, judge, expand, write.

use std::cell::RefCell;
use std::path::Path;

use super::batch::Batch;
use super::crowd::{Block, Comparing, Crowd};
use super::detail::{BEST, BEST_SETTING, Detail, too_many};
use super::distinct::distinct_fingerprints;
use super::drafts::{Drafted, Drafts};
use super::expand::{StoreExpansion, UnnamedRow, expand_copies, expand_groups};
use super::group_key::GroupKeys;
use super::ids::Workshop;
use super::keep_order::{KeepOrder, Leaders};
use super::keep_rule::{Edge, Judgements, judge};
use super::listing::{InFavour, Listed, Listing};
use super::nearest::{Judged, Nearest};
use super::nearness::Nearness;
use super::numbers::{KeepRank, Number};
use super::outcome::Outcome;
use super::pair::Pair;
use super::partition::{Partition, Partitioning, copies};
use super::replaced::Replaced;
use super::similarity::Confirm;
use super::standing::{Standing, Standings};
use crate::error::{Error, Result};
use crate::fingerprint::Fingerprint;
use crate::hamming::multiversion::{Multiversion, counting};
use crate::hamming::within;
use crate::output::{self, Staging};
use crate::results::ResultFormat;
use crate::runs::{SortedRecords, Sorter, Space};
use crate::store::{Dated, Segment};
use crate::tables::Masked;

/// What becomes an output, and how.
#[derive(Debug)]
pub struct Finalize<'a> {
    /// The batch's segment.
    pub segment: &'a Segment,
    /// The check that confirms matches, if there is one.
    pub confirm: Option<Confirm>,
    /// The segments of the store that the batch was joined with, and the days of their rows.
    pub store: &'a [Dated],
    /// The largest distance that counts as near.
    pub distance: u32,
    /// Which page of several near ones is kept.
    pub keep: KeepOrder,
    /// Which rows are written.
    pub detail: Detail,
    /// How many rows may be written with [`Detail::All`].
    pub max_matches: u64,
    /// Memory that each sort may use, in bytes. Up to seven sorts run at once.
    pub memory_bytes: usize,
    /// Memory for the ids of the batch, in bytes.
    pub ids_bytes: usize,
    /// Memory for the signatures of the batch, in bytes.
    pub signatures_bytes: usize,
    /// How the tables are written.
    pub format: ResultFormat,
    /// How many threads there are.
    pub workers: usize,
}

impl Finalize<'_> {
    /// Draws the verdicts from `pairs` and writes every file of the output except the report.
    ///
    /// # Errors
    /// With [`Detail::All`] the rows are counted first: [`Kind::BadData`](crate::Kind::BadData) if they are
    /// more than may be written, and [`Kind::Io`](crate::Kind::Io) if the disk has no room for them.
    pub fn write<F: Fingerprint>(
        &self,
        pairs: SortedRecords<Pair>,
        staging: &Staging,
    ) -> Result<Outcome> {
        let space = Space { folder: staging.folder(), memory_bytes: self.memory_bytes };
        let workers = self.workers;
        let workshop = Workshop { folder: space.folder, memory_bytes: self.ids_bytes, workers };
        let (batch, mut keys, ids) =
            Batch::load::<F>(self.segment, self.confirm, workshop, self.signatures_bytes)?;
        let leaders = batch.leaders(self.segment, self.keep, keys.as_ref(), space)?;
        let partitioning = self.partitioning(&batch, &leaders, space);
        let partition = partitioning.partition(pairs, keys.as_mut())?;
        let keys = keys.as_ref();
        let Partition { edges, with_store, nearest, crowded, rows, candidates, most_matches } =
            partition;
        let all = self.detail == Detail::All;
        if all {
            self.check_count_and_space(rows.iter().sum(), &batch, space.folder)?;
        }
        let checked = self.confirm.is_some();
        let mut drafts = Drafts::new(&batch, keys, self.detail, rows, space);
        let near = Neighbours { edges, nearest: &nearest, crowded };
        let wanted = all.then_some(&mut drafts.unnamed_matches);
        let judgements = self.judgements::<F>((&batch, keys), &leaders, near, wanted)?;
        let judged = Judged { batch: &batch, leaders, judgements, nearest };
        let mut stored = space.sorter();
        let mut replaced = Replaced::new(space);
        let holds = keys.is_some_and(GroupKeys::has_direction);
        let expansion = StoreExpansion { judged: &judged, store: self.store, checked, holds };
        let wanted = all.then_some(&mut drafts.matches);
        expansion.expand(with_store.sorted()?, wanted, &mut stored, &mut replaced)?;
        if all {
            expand_copies(&batch, keys, &mut drafts.unnamed_matches)?;
        }
        judged.each_dropped(stored, |row, of| {
            if let (true, Nearest::Stored(page, _)) = (holds, of) {
                replaced.named(&page.id, page.day)?;
            }
            drafts.dropped(row, of)
        })?;
        let replaced =
            holds.then(|| replaced.write(self.segment, staging, self.format)).transpose()?;
        let Drafted { counted, in_favour, hosts, lost, dropped_pages, matches, verdicts } =
            drafts.finish(self.segment)?;
        let (hosts, dropped_hosts) = hosts.unzip();
        let empties = self.segment.empty_ids();
        let rank = |row| judged.batch.rank_in_segment(row);
        let ids = ids.ranked(rank).map(Ok);
        let format = self.format;
        let listing = Listing {
            ids,
            empties,
            verdicts,
            matches,
            in_favour: hosts.map(|hosts| InFavour { copies: in_favour, hosts }),
            checked,
            format,
            workers,
        };
        let Listed { files, matches: written, examples } = listing.write(staging)?;
        let (replaced_file, replaced) = replaced.unzip();
        let files = files.into_iter().chain(replaced_file);
        Ok(Outcome {
            candidates: candidates.map(|it| it.pairs),
            left_out: candidates.map(|it| it.left_out),
            replaced,
            lost,
            dropped_hosts,
            dropped_pages: Some(dropped_pages),
            dropped_examples: Some(examples),
            hot_matches: most_matches.list(self.segment, &batch, |rows| rows)?,
            hot_copies: judged.most_copied().list(self.segment, &batch, copies)?,
            ..judged.outcome(written, &counted, files)
        })
    }

    fn partitioning<'a>(
        &'a self,
        batch: &'a Batch,
        leaders: &'a Leaders,
        space: Space<'a>,
    ) -> Partitioning<'a> {
        let Finalize { store, distance, detail, max_matches: most, .. } = *self;
        Partitioning { batch, leaders, store, distance, detail, most, space }
    }

    /// Refuses to write more rows than allowed, or more than half of what the disk has room for: sorting
    /// takes as much again.
    fn check_count_and_space(&self, rows: u128, batch: &Batch, folder: &Path) -> Result<()> {
        if rows > u128::from(self.max_matches) {
            return Err(too_many(rows, self.max_matches));
        }
        let needed = u64::try_from(2 * rows * row_bytes(batch)).unwrap_or(u64::MAX);
        let help = format_args!("free some space and try again, or {BEST}");
        output::check_free_space(folder, needed)
            .map_err(|error| error.help(help).setting(BEST_SETTING))
    }

    /// The judgement on every group. If `rows` are wanted, the near groups of the batch are expanded to
    /// rows on the way.
    fn judgements<F: Fingerprint>(
        &self,
        (batch, keys): (&Batch, Option<&GroupKeys>),
        leaders: &Leaders,
        Neighbours { edges, nearest, crowded }: Neighbours<'_>,
        mut rows: Option<&mut Sorter<UnnamedRow>>,
    ) -> Result<Judgements<Standing>> {
        let edges = edges.sorted()?.map(|edge| {
            let edge = edge?;
            if let Some(rows) = &mut rows {
                let groups = [edge.earlier, edge.later].map(|rank| leaders.group(rank));
                expand_groups(batch, keys, groups, edge.distance(), rows)?;
            }
            Ok(edge)
        });
        let blocks = Masked::Blocks { blocks: self.distance + 1, choose: 1 };
        let masks = blocks.masks(F::WIDTH)?;
        let fingerprints: Vec<F> =
            if crowded.is_empty() { Vec::new() } else { distinct_fingerprints(self.segment)? };
        let failure = RefCell::new(None);
        let nearby = Nearby {
            batch,
            keys,
            leaders,
            fingerprints,
            masks,
            k: self.distance,
            failure: &failure,
        };
        let crowd = Crowd::new(crowded, nearby);
        let held = |rank: KeepRank| nearest[leaders.group(rank).index()] != Standing::KEPT;
        let name = |rank: KeepRank| batch.rank(leaders.row(leaders.group(rank)));
        let judgements = judge(batch.groups(), held, edges, crowd, name)?;
        failure.take().map_or(Ok(judgements), Err)
    }
}

/// Compares groups by their fingerprints, then by their keys.
struct Nearby<'a, F> {
    batch: &'a Batch,
    keys: Option<&'a GroupKeys>,
    leaders: &'a Leaders,
    /// The distinct fingerprints of the batch.
    fingerprints: Vec<F>,
    /// The masks of the blocks.
    masks: Vec<u128>,
    k: u32,
    /// The first failure, which is kept for the end.
    failure: &'a RefCell<Option<Error>>,
}

impl<F: Fingerprint> Comparing for Nearby<'_, F> {
    type Sketch = F;
    type Distance = Standing;

    fn blocks(&self, rank: KeepRank) -> Vec<Block> {
        let bits = self.sketch(rank).to_u128();
        self.masks.iter().map(|mask| bits & mask).enumerate().collect()
    }

    fn sketch(&self, rank: KeepRank) -> F {
        self.fingerprints[self.batch.fingerprint_of(self.leaders.group(rank)).index()]
    }

    fn find(&self, sketch: F, kept: &[F], found: impl FnMut(usize, Standing)) {
        counting(Within { fingerprint: sketch, kept, k: self.k, found });
    }

    fn distance(&self, one: KeepRank, other: KeepRank) -> Option<Standing> {
        let distance = self.sketch(one).distance(self.sketch(other));
        if distance > self.k {
            return None;
        }
        let groups = [one, other].map(|rank| self.leaders.group(rank));
        let standings = self.batch.standings(self.keys, groups, distance);
        let failed = |error| {
            self.failure.borrow_mut().get_or_insert(error);
            Standings::default()
        };
        standings.unwrap_or_else(failed).of_first
    }
}

/// Finds the kept fingerprints within k bits.
struct Within<'a, F, T> {
    fingerprint: F,
    kept: &'a [F],
    k: u32,
    found: T,
}

impl<F: Fingerprint, T: FnMut(usize, Standing)> Multiversion for Within<'_, F, T> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        within(self.fingerprint, self.kept, self.k, |at, distance| {
            (self.found)(at, Standing::near(distance as u8))
        });
    }
}

/// About how many bytes a row of matches.tsv takes, going by the ids of the batch.
fn row_bytes(batch: &Batch) -> u128 {
    u128::from(29 + 2 * batch.id_bytes())
}

/// What is near what, for the keep rule.
struct Neighbours<'a> {
    /// Near groups of the batch.
    edges: Sorter<Edge<Standing>>,
    /// How well the best page of the store stands for each group.
    nearest: &'a [Standing],
    /// The ranks of groups whose pairs with each other are not all among the edges.
    crowded: Vec<KeepRank>,
}
