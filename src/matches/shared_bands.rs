//! Candidates within the batch that the distance of fingerprints does not reach: pages whose signatures share a band.
//!
//! A fingerprint is made of the words of a page and their weights, a signature of the runs of its text. An edit that moves heavy words
//! moves the fingerprint far, and may touch few runs. So a check with a direction names candidates too: the signatures are
//! cut into [bands](crate::fingerprint::Check::bands), and pages that agree in all slots of one meet (Indyk and Motwani, "Approximate nearest
//! neighbors", STOC 1998). Pages of a Jaccard similarity of 0.8 agree in a slot of one bit in 0.9 of all cases, and in
//! one of 16 bands of 16 slots in 0.96.
//!
//! The pages of a band are taken in the order of their lengths, and each meets the 32 before it. So the time is linear in the
//! pages, whatever they are. What is within the distance is found without bands, all of it.

use std::collections::VecDeque;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::distinct::each_distinct;
use super::numbers::{FingerprintIndex, Number};
use super::pair::{Pair, Place};
use super::similarity::Confirm;
use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::parallel::in_parallel;
use crate::progress::{self, Activity};
use crate::runs::{Record, SortedRecords, Space};
use crate::store::Segment;

/// How many pages of its band a page meets, of those before it in the order of lengths.
const NEIGHBOURS: usize = 32;

/// A batch whose signatures name candidates.
pub(crate) struct SharedBands<'a> {
    pub(crate) batch: &'a Segment,
    pub(crate) confirm: Confirm,
    /// Pairs within this distance are known already, and left out.
    pub(crate) distance: u32,
    /// The space of a sort. The workers divide its memory.
    pub(crate) space: Space<'a>,
    pub(crate) workers: usize,
}

/// A page in a band. Ordered by what it has in that band, then by its length.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct InBand {
    band: [u8; 2],
    runs: u64,
    row: u32,
    index: FingerprintIndex,
    signature: Vec<u8>,
}

impl Record for InBand {
    fn bytes(&self) -> usize {
        size_of::<InBand>() + self.signature.capacity()
    }
}

impl SharedBands<'_> {
    /// The pairs of fingerprints beyond the distance of which two pages met, and the check confirms them. Each once.
    pub(crate) fn pairs<F: Fingerprint>(&self) -> Result<impl Iterator<Item = Result<Pair>>> {
        let mut fingerprints: Vec<F> = Vec::new();
        let mut starts = Vec::new();
        each_distinct::<F>(self.batch, |fingerprint, row| {
            fingerprints.push(fingerprint);
            starts.push(row);
        })?;
        starts.push(self.batch.rows() as u32);
        let bands = if fingerprints.is_empty() { 0 } else { self.confirm.check.bands() };
        let share = bands.div_ceil(self.workers).max(1);
        let shares: Vec<Range<usize>> =
            (0..bands).step_by(share).map(|first| first..bands.min(first + share)).collect();
        let memory_bytes = self.space.memory_bytes / shares.len().max(1);
        let space = Space { memory_bytes, ..self.space };
        let met = in_parallel(self.workers, &shares, |bands| {
            self.met(bands.clone(), &fingerprints, &starts, space)
        });
        let mut pairs = self.space.sorter();
        for met in met {
            met?.try_for_each(|pair| pairs.push(pair?))?;
        }
        let mut last = None;
        // Two fingerprints can have several pages that meet.
        Ok(pairs.sorted()?.filter(move |pair| match pair {
            Ok(pair) => last.replace(*pair) != Some(*pair),
            Err(_) => true,
        }))
    }

    /// The pairs of fingerprints that meet in these bands, sorted in `space`.
    fn met<F: Fingerprint>(
        &self,
        bands: Range<usize>,
        fingerprints: &[F],
        starts: &[u32],
        space: Space<'_>,
    ) -> Result<SortedRecords<Pair>> {
        let mut pairs = space.sorter();
        for band in bands {
            let mut before: VecDeque<InBand> = VecDeque::with_capacity(NEIGHBOURS);
            for page in self.in_order(band, starts, space)? {
                let page = page?;
                progress::tick(Activity::Working);
                if before.back().is_some_and(|last| last.band != page.band) {
                    before.clear();
                }
                let met =
                    before.iter().filter_map(|other| self.pair(band, fingerprints, [&page, other]));
                pairs.extend(met)?;
                if before.len() == NEIGHBOURS {
                    before.pop_front();
                }
                before.push_back(page);
            }
        }
        pairs.sorted()
    }

    /// The pages of the batch in the order of a band. Of neighbouring copies one is enough.
    fn in_order(
        &self,
        band: usize,
        starts: &[u32],
        space: Space<'_>,
    ) -> Result<SortedRecords<InBand>> {
        let check = self.confirm.check;
        let mut pages = space.sorter();
        let mut signatures = self.confirm.signatures(self.batch)?;
        let mut last = Vec::new();
        for (index, rows) in (0_u32..).zip(starts.windows(2)) {
            progress::tick(Activity::Sorting);
            last.clear();
            for row in rows[0]..rows[1] {
                let signature = signatures.get(row.into())?;
                let runs = check.runs(signature).unwrap_or(0);
                if runs == 0 || last == signature {
                    continue;
                }
                last.clear();
                last.extend_from_slice(signature);
                let (band, signature) = (check.band(signature, band), signature.to_vec());
                pages.push(InBand { band, runs, row, index: index.into(), signature })?;
            }
        }
        pages.sorted()
    }

    /// The pair of two pages that share this band, if they match, are not near, and share no band before it.
    fn pair<F: Fingerprint>(
        &self,
        band: usize,
        fingerprints: &[F],
        pages: [&InBand; 2],
    ) -> Option<Pair> {
        let [one, other] = pages.map(|page| &page.signature[..]);
        // Most pages of a band meet there by chance.
        if !self.confirm.confirms(one, other) {
            return None;
        }
        let is_first = self.confirm.check.shared_band(one, other) == Some(band);
        let [one, other] = pages.map(|page| page.index);
        let distance = fingerprints[one.index()].distance(fingerprints[other.index()]);
        if distance <= self.distance {
            return None;
        }
        let existing = Place::Batch { group: one.min(other) };
        is_first.then(|| Pair { new: one.max(other), existing, distance: distance as u8 })
    }
}
