//! From sketches to a complete output: groups, buckets, candidates, edges, verdicts, files.

use std::path::Path;

use super::banding::CROWD;
use super::batch::{Batch, Ids};
use super::buckets::{Bucket, Buckets};
use super::compare::{Bucketed, Candidate, Compared, Near, compare};
use super::confirmation::Comparison;
use super::document::{Id, SketchedDocument};
use super::found::{Found, Hot, HotBucket};
use super::probe::{Least, Probe, StoreMatch};
use super::rows::{Named, Rows};
use super::scheme::Scheme;
use super::stored::NearestPage;
use crate::document::Occurrence;
use crate::error::Result;
use crate::matches::{
    Detail, Edge, Judgements, KeepOrder, KeepRank, Listing, Number, Outcome, Unlikeness, copies,
    in_order, judge, too_many,
};
use crate::output::Staging;
use crate::parallel::in_parallel;
use crate::progress::{self, Activity};
use crate::runs::{SortedRecords, Sorter};
use crate::store::Dated;

/// How many candidates are compared between two looks at what was found.
const COMPARED_AT_ONCE: usize = 1 << 16;
/// How many candidates a thread compares at once.
const COMPARED_BY_ONE: usize = 1 << 10;

/// What becomes an output, and how.
#[derive(Clone, Debug)]
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
    pub buckets: Found,
    /// Documents without anything to compare.
    pub empty: u64,
}

/// What the buckets hold, compared.
struct Confirmed {
    /// Groups that match.
    edges: Sorter<Edge<Unlikeness>>,
    /// Each group in a bucket whose pairs are not compared, and the key of that; ascending.
    crowds: Vec<(KeepRank, u64)>,
    /// With [`Detail::All`], how many rows they are.
    rows: u128,
}

impl Deduplicate {
    /// Draws the verdicts on `documents` and writes every file of the output except the report. Calls
    /// `repeated` for each document whose id came before.
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
        let spill = (staging.folder(), self.memory_bytes);
        let (batch, ids) =
            Batch::load(documents, self.keep, spill.0, self.evidence_bytes, repeated)?;
        self.scheme.check_rows(batch.len());
        let mut buckets = Buckets::of(&batch, spill)?;
        let mut found = Found { groups: batch.len().into(), ..Found::default() };
        let confirmed = self.confirm(&batch, &mut buckets, spill, &mut found)?;
        let mut hottest = buckets.hottest;
        let mut rows = Rows::new(&batch, self.detail, !self.store.is_empty(), spill);
        let counted = confirmed.rows;
        let (least, nearest) =
            self.probe(&batch, counted, &mut rows, spill, &mut found, &mut hottest)?;
        let judgements = self.judge(&batch, confirmed, &least, &mut rows, &mut found)?;
        rows.copies()?;
        rows.judged(&judgements, &least, nearest)?;
        let firsts: Vec<_> = hottest.iter().map(|hot| batch.leaders[hot.first.index()]).collect();
        let Ids { sketched, empty } = ids;
        let Named { ids, matches, verdicts, wanted } = rows.name(sketched, &firsts)?;
        found.hottest = hottest.iter().zip(wanted).map(HotBucket::from).collect();
        let mut empties = 0;
        let empty = empty.inspect(|_| empties += 1).map(|empty| empty.map(|empty| empty.0));
        let ids = in_order(ids.map(|id| id.map(|Id(id)| id)));
        let workers = self.workers;
        let listing = Listing { ids, empties: empty, verdicts, matches, checked: false, workers };
        let (files, matches) = listing.write(staging)?;
        let files = files.into_iter().map(|(name, sum)| (name.to_owned(), sum)).collect();
        let outcome = batch.outcome(judgements.kept(), matches, files);
        Ok(Deduplicated { outcome, buckets: found, empty: empties })
    }

    /// The judgement on every group by the keep rule. The rows of its edges are noted on the way.
    fn judge(
        &self,
        batch: &Batch,
        Confirmed { edges, crowds, .. }: Confirmed,
        least: &Least,
        rows: &mut Rows<'_>,
        found: &mut Found,
    ) -> Result<Judgements<Unlikeness>> {
        let edges = edges.sorted()?.map(|edge| {
            let edge = edge?;
            rows.matching(&edge)?;
            Ok(edge)
        });
        let near = Near::new(batch, self.comparison.clone());
        let held = |group: KeepRank| least[group.index()].is_some();
        let name = |group: KeepRank| batch.leaders[group.index()];
        let crowd = Bucketed { crowds: &crowds, near: &near }.crowd();
        let judgements = judge(batch.len(), held, edges, crowd, name)?;
        found.looked_up = near.finish()?;
        Ok(judgements)
    }

    /// The candidates that match, each pair once. With [`Detail::All`] every bucket is listed, and the rows are
    /// counted on the way.
    fn confirm(
        &self,
        batch: &Batch,
        buckets: &mut Buckets,
        spill: (&Path, usize),
        found: &mut Found,
    ) -> Result<Confirmed> {
        let size = |group: KeepRank| u128::from(batch.sizes[group.index()]);
        let mut rows: u128 = batch.sizes.iter().map(|&size| copies(size.into())).sum();
        let mut edges = Sorter::new(spill.0, spill.1);
        let mut crowds = Vec::new();
        let mut bucket = Bucket::default();
        let mut portion = Vec::new();
        let mut compare = |portion: &mut Vec<Candidate>, found: &mut Found| {
            progress::tick(Activity::Working);
            let compared = self.compare(batch, portion)?;
            portion.clear();
            found.candidates += compared.compared;
            found.confirmed += compared.edges.len() as u64;
            rows += compared.edges.iter().map(|it| size(it.later) * size(it.earlier)).sum::<u128>();
            self.check_count(rows)?;
            edges.extend(compared.edges)
        };
        while buckets.next(&mut bucket, found)? {
            if self.detail == Detail::Best && bucket.groups.len() > CROWD {
                crowds.extend(bucket.groups.iter().map(|&group| (group, bucket.key)));
                continue;
            }
            for (later, earlier) in bucket.pairs() {
                portion.push(Candidate { key: bucket.key, later, earlier });
                if portion.len() == COMPARED_AT_ONCE {
                    compare(&mut portion, found)?;
                }
            }
        }
        compare(&mut portion, found)?;
        crowds.sort_unstable();
        Ok(Confirmed { edges, crowds, rows })
    }

    /// Reads the store, and takes the rows of its matches. Gives how near the nearest page of it is to each group, and
    /// these pages.
    fn probe(
        &self,
        batch: &Batch,
        mut counted: u128,
        rows: &mut Rows<'_>,
        spill: (&Path, usize),
        found: &mut Found,
        hottest: &mut [Hot],
    ) -> Result<(Least, Sorter<NearestPage>)> {
        let Deduplicate { comparison, store, workers, index_bytes, .. } = self;
        let probe = Probe {
            batch,
            comparison,
            store,
            hottest,
            workers: *workers,
            memory_bytes: *index_bytes,
        };
        let all = self.detail == Detail::All;
        let mut least = vec![None; batch.len() as usize];
        let mut matches = Sorter::new(spill.0, spill.1);
        found.stored = store.iter().map(|dated| dated.segment().rows()).sum();
        let probed = probe.run(all, &mut least, |it| {
            counted += u128::from(batch.sizes[it.group.index()]);
            self.check_count(counted)?;
            matches.push(it)
        })?;
        found.stored_candidates = probed.pairs;
        for (hot, pairs) in hottest.iter_mut().zip(probed.hottest) {
            hot.stored = pairs / hot.groups;
        }
        let is_wanted = |it: &StoreMatch| all || least[it.group.index()] == Some(it.distance);
        let matches = matches.sorted()?.filter(|it| it.as_ref().map_or(true, is_wanted));
        let nearest = rows.stored(matches, store, &least)?;
        Ok((least, nearest))
    }

    /// Compares candidates on all threads, and gives those that match in their order.
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
