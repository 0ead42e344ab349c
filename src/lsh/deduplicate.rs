//! From sketches to a complete output: groups, buckets, candidates, edges, verdicts, files.
//!
//! ```text
//! group     pages with one sketch are one group         g1 {a, c}  g2 {b}  g3 {d}
//! buckets   groups that agree in a band share a bucket  k5 {g1, g2}  k9 {g1, g2, g3}
//! compare   each pair of a bucket, once                 g1 g2 0.91  g1 g3 0.40  g2 g3 0.38
//! edges     pairs that match                            g1 g2 0.91
//! finish    verdicts, page by page                      b drop of a 0.9100  c drop of a 1.0000  d keep
//! ```
//!
//! With a store the steps are taken one by one: every process groups the documents, process 0 compares those of one bucket,
//! the store streams past on all workers, and process 0 draws the verdicts.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use super::banding::CROWD;
use super::batch::{Batch, Ids};
use super::buckets::{Bucket, Buckets};
use super::compare::{Bucketed, Candidate, Compared, Near, compare};
use super::confirmation::Comparison;
use super::document::SketchedDocument;
use super::finding::StoreMatch;
use super::found::{BucketCounts, Hot, HotBucket};
use super::held::{Held, Least};
use super::probe::{StoreProbe, most_groups};
use super::rows::{Named, Rows};
use super::scheme::Scheme;
use crate::budget::Budget;
use crate::document::Occurrence;
use crate::error::Result;
use crate::matches::{
    Detail, Edge, Judgements, KeepOrder, KeepRank, Listed, Listing, MAX_MATCHES, Number, Outcome,
    Unlikeness, below, copies, in_order, judge, too_many,
};
use crate::output::Staging;
use crate::parallel::in_parallel;
use crate::progress::{self, Activity};
use crate::results::ResultFormat;
use crate::runs::{SortedRecords, Sorter, Space};
use crate::store::Dated;

/// How many candidates are compared between two looks at what was found.
const COMPARED_AT_ONCE: usize = 1 << 16;
/// How many candidates a thread compares at once.
const COMPARED_BY_ONE: usize = 1 << 10;

/// What becomes an output, and how.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Deduplicate {
    /// What decides the buckets.
    pub scheme: Scheme,
    /// What decides which pages that share a bucket match.
    pub comparison: Comparison,
    /// The pages that are held already: segments that keep the same bands.
    pub store: Vec<Dated>,
    /// Which page of several near ones is kept.
    pub keep: KeepOrder,
    /// Which rows are written.
    pub detail: Detail,
    /// How many rows may be written with [`Detail::All`].
    pub max_matches: u64,
    /// How the tables are written.
    pub format: ResultFormat,
    /// How many threads compare.
    pub workers: usize,
    /// Memory for the keys of the groups while a store is read, in bytes.
    pub index_bytes: usize,
    /// Memory for the evidence of the groups, in bytes.
    pub evidence_bytes: usize,
    /// Memory that each sort may use, in bytes. Up to eight sorts run at once.
    pub memory_bytes: usize,
}

/// What was found and written.
#[derive(Clone, Debug)]
pub struct Deduplicated {
    /// Documents kept and dropped, and the files.
    pub outcome: Outcome,
    /// What the buckets held.
    pub buckets: BucketCounts,
    /// Documents without anything to compare.
    pub empty: u64,
}

/// The documents of a batch in groups.
pub struct Grouped {
    pub(super) batch: Arc<Batch>,
    ids: Ids,
}

/// What the buckets of a batch hold, compared.
pub struct InBatch {
    /// Groups that match.
    edges: Sorter<Edge<Unlikeness>>,
    crowded: Crowded,
    /// With [`Detail::All`], how many rows they are.
    rows: u128,
    found: BucketCounts,
    hottest: Vec<Hot>,
}

/// Buckets whose pairs are not compared.
struct Crowded {
    /// The groups in them, ascending.
    groups: Vec<KeepRank>,
    keys: HashSet<u64>,
}

impl InBatch {
    /// The largest buckets.
    pub(crate) fn hottest(&self) -> &[Hot] {
        &self.hottest
    }
}

impl Deduplicate {
    /// A deduplication by `scheme` within `budget`, with the usual settings: no store, the first id stays, a row for each
    /// dropped page, one thread.
    #[must_use]
    pub fn new(scheme: Scheme, budget: Budget) -> Deduplicate {
        Deduplicate {
            comparison: scheme.comparison(),
            scheme,
            store: Vec::new(),
            keep: KeepOrder::FirstId,
            detail: Detail::default(),
            max_matches: MAX_MATCHES,
            format: ResultFormat::default(),
            workers: 1,
            index_bytes: budget.evidence(),
            evidence_bytes: budget.evidence(),
            memory_bytes: budget.finalize(),
        }
    }

    /// Draws the verdicts on `documents`, without the store, and writes every file of the output except the report.
    /// Calls `repeated` for each document whose id came before.
    ///
    /// # Errors
    /// [`Kind::BadData`](crate::Kind::BadData) if vectors have different lengths or, with [`Detail::All`], if
    /// there are more matches than may be written; [`Kind::Io`](crate::Kind::Io) if the disk has no room.
    pub fn write(
        &self,
        documents: SortedRecords<SketchedDocument>,
        staging: &Staging,
        repeated: &mut dyn FnMut(&str, Occurrence, Occurrence) -> Result<()>,
    ) -> Result<Deduplicated> {
        let grouped = self.group(documents, staging.folder(), repeated)?;
        let in_batch = self.buckets(&grouped, staging.folder())?;
        let held = self.held(&grouped, &in_batch, staging.folder());
        self.finish(grouped, in_batch, held, staging)
    }

    /// Puts `documents` that no comparison can tell apart into one group.
    ///
    /// # Errors
    /// As [`Deduplicate::write`].
    pub fn group(
        &self,
        documents: SortedRecords<SketchedDocument>,
        folder: &Path,
        repeated: &mut dyn FnMut(&str, Occurrence, Occurrence) -> Result<()>,
    ) -> Result<Grouped> {
        let (batch, ids) =
            Batch::load(documents, self.keep, folder, self.evidence_bytes, repeated)?;
        Ok(Grouped { batch: Arc::new(batch), ids })
    }

    /// Compares the groups that share a bucket.
    ///
    /// # Errors
    /// As [`Deduplicate::write`].
    pub fn buckets(&self, Grouped { batch, .. }: &Grouped, folder: &Path) -> Result<InBatch> {
        self.scheme.check_rows(batch.len());
        let space = Space { folder, memory_bytes: self.memory_bytes };
        self.confirm(batch, &mut Buckets::of(batch, space)?, space)
    }

    /// How many groups have their keys in memory while the store is read.
    pub(crate) fn most_groups(&self, grouped: &Grouped) -> usize {
        most_groups(grouped.batch.bands(), self.index_bytes)
    }

    /// The batch, prepared to be compared with the store. `hottest` are the largest buckets of the batch, and `most` is
    /// how many groups are compared at once: the same in all processes.
    pub(crate) fn store_probe(
        &self,
        grouped: &Grouped,
        hottest: Vec<Hot>,
        most: usize,
    ) -> StoreProbe {
        let Deduplicate { comparison, store, detail, workers, .. } = self;
        let batch = Arc::clone(&grouped.batch);
        let all = *detail == Detail::All;
        StoreProbe::new(batch, comparison.clone(), store.clone(), hottest, all, most, *workers)
    }

    /// Takes what is found in the store.
    pub(crate) fn held(&self, grouped: &Grouped, in_batch: &InBatch, folder: &Path) -> Held {
        let batch = Arc::clone(&grouped.batch);
        let (hottest, rows) = (in_batch.hottest.len(), in_batch.rows);
        let space = Space { folder, memory_bytes: self.memory_bytes };
        Held::new(batch, self.detail, self.max_matches, hottest, rows, space)
    }

    /// Draws the verdicts, and writes every file of the output except the report.
    ///
    /// # Errors
    /// As [`Deduplicate::write`].
    pub fn finish(
        &self,
        Grouped { batch, ids }: Grouped,
        in_batch: InBatch,
        held: Held,
        staging: &Staging,
    ) -> Result<Deduplicated> {
        let batch = &*batch;
        let InBatch { edges, crowded, mut found, hottest, .. } = in_batch;
        let space = Space { folder: staging.folder(), memory_bytes: self.memory_bytes };
        let mut rows = Rows::new(batch, self.detail, !self.store.is_empty(), space);
        found.stored = self.store.iter().map(|dated| dated.segment().rows()).sum();
        found.stored_candidates = held.candidates;
        let hottest = hottest.into_iter().zip(held.hottest);
        let hottest: Vec<Hot> = hottest.map(|(hot, stored)| Hot { stored, ..hot }).collect();
        let mut least = held.least;
        least.resize(batch.len() as usize, None);
        let is_wanted = |it: &StoreMatch| {
            self.detail == Detail::All || least[it.group.index()] == Some(it.distance)
        };
        let stored = held.matches.sorted()?.filter(|it| it.as_ref().map_or(true, is_wanted));
        let nearest = rows.stored(stored, &self.store, &least)?;
        let judgements = self.judge(batch, edges, crowded, &least, &mut rows, &mut found)?;
        rows.copies()?;
        rows.judged(&judgements, &least, nearest)?;
        let firsts: Vec<_> = hottest.iter().map(|hot| batch.leaders[hot.first.index()]).collect();
        let Ids { sketched, empty } = ids;
        let Named { ids, matches, verdicts, wanted } = rows.name(sketched, &firsts)?;
        found.hottest = hottest.iter().zip(wanted).map(HotBucket::from).collect();
        let mut empty_count = 0;
        let empties = empty.inspect(|_| empty_count += 1);
        let ids = in_order(ids);
        let workers = self.workers;
        let (checked, format) = (false, self.format);
        let listing =
            Listing { ids, empties, verdicts, matches, in_favour: None, checked, format, workers };
        let Listed { files, matches, .. } = listing.write(staging)?;
        let outcome = batch.outcome(judgements.kept(), matches, files.into());
        Ok(Deduplicated { outcome, buckets: found, empty: empty_count })
    }

    /// The judgement on every group by the keep rule. The rows of its edges are noted on the way.
    fn judge(
        &self,
        batch: &Batch,
        edges: Sorter<Edge<Unlikeness>>,
        crowded: Crowded,
        least: &Least,
        rows: &mut Rows<'_>,
        found: &mut BucketCounts,
    ) -> Result<Judgements<Unlikeness>> {
        let edges = edges.sorted()?.map(|edge| {
            let edge = edge?;
            rows.matching(&edge)?;
            Ok(edge)
        });
        let near = Near::new(batch, self.comparison.clone());
        let held = |group: KeepRank| least[group.index()].is_some();
        let name = |group: KeepRank| batch.leaders[group.index()];
        let crowd = Bucketed { keys: &crowded.keys, near: &near }.crowd(crowded.groups);
        let judgements = judge(batch.len(), held, edges, crowd, name)?;
        found.looked_up = near.looked_up();
        Ok(judgements)
    }

    /// The candidates that match, each pair once. With [`Detail::All`] every bucket is listed, and the rows are
    /// counted on the way.
    fn confirm(&self, batch: &Batch, buckets: &mut Buckets, space: Space<'_>) -> Result<InBatch> {
        let mut found = BucketCounts { groups: batch.len().into(), ..BucketCounts::default() };
        let size = |group: KeepRank| u128::from(batch.sizes[group.index()]);
        let mut rows: u128 = batch.sizes.iter().map(|&size| copies(size.into())).sum();
        let mut edges = space.sorter();
        let mut is_crowded = vec![false; batch.len() as usize];
        let mut keys = HashSet::new();
        let mut bucket = Bucket::default();
        let mut portion = Vec::new();
        let mut compare = |portion: &mut Vec<Candidate>, found: &mut BucketCounts| {
            progress::tick(Activity::Working);
            let compared = self.compare(batch, portion)?;
            portion.clear();
            found.candidates += compared.compared;
            found.confirmed += compared.edges.len() as u64;
            rows += compared.edges.iter().map(|it| size(it.later) * size(it.earlier)).sum::<u128>();
            self.check_count(rows)?;
            edges.extend(compared.edges)
        };
        while buckets.next(&mut bucket, &mut found)? {
            if self.detail == Detail::Best && bucket.groups.len() > CROWD {
                bucket.groups.iter().for_each(|group| is_crowded[group.index()] = true);
                keys.insert(bucket.key);
                continue;
            }
            for (later, earlier) in bucket.pairs() {
                portion.push(Candidate { key: bucket.key, later, earlier });
                if portion.len() == COMPARED_AT_ONCE {
                    compare(&mut portion, &mut found)?;
                }
            }
        }
        compare(&mut portion, &mut found)?;
        let groups = below(batch.len()).filter(|group: &KeepRank| is_crowded[group.index()]);
        let crowded = Crowded { groups: groups.collect(), keys };
        let hottest = std::mem::take(&mut buckets.hottest);
        Ok(InBatch { edges, crowded, rows, found, hottest })
    }

    /// Compares candidates on all threads. Returns the candidates that match, in their order.
    fn compare(&self, batch: &Batch, candidates: &[Candidate]) -> Result<Compared> {
        let shares: Vec<&[Candidate]> = candidates.chunks(COMPARED_BY_ONE).collect();
        let done =
            in_parallel(self.workers, &shares, |share| compare(batch, &self.comparison, share));
        let mut all = Compared::default();
        for share in done {
            let Compared { compared, edges } = share?;
            all.compared += compared;
            all.edges.extend(edges);
        }
        Ok(all)
    }

    fn check_count(&self, rows: u128) -> Result<()> {
        match self.detail {
            Detail::All if rows > u128::from(self.max_matches) => {
                Err(too_many(rows, self.max_matches))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
