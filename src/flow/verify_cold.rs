//! Verifies candidates by their cold bits: two fingerprints whose hot bits are near are near only if the cold
//! bits agree.
//!
//! A segment that keeps its cold bits apart is probed by its hot bits alone, with the hot bits of the batch.
//! Leaving out bits on both sides can only lessen the distance, so every near pair is among the candidates.
//! For example, `1010 0011` and `1010 1100` have the hot bits `1010` in common: distance 0, a candidate. In
//! full their distance is 4, so for k = 3 they are no pair.
//!
//! With eight billion fingerprints against a million and k = 3, half a million candidates are found. Each
//! costs a read at a random place. The system is told of the place when the candidate is found and fetches
//! the bytes while the probe continues. They are read once some thousand candidates wait.

use std::ops::Range;
use std::sync::Arc;

use super::findings::Findings;
use crate::error::{Error, Result};
use crate::fingerprint::Fingerprint;
use crate::matches::{Pair, Place};
use crate::store::{ColdBits, Segment, hot};
use crate::tables::Method;

/// How many candidates wait before they are verified.
const WAITING: usize = 1 << 13;

/// How many rows of a candidate are read at once.
const ROWS: u64 = 1 << 14;

/// The batch by its hot bits.
#[derive(Debug)]
pub(crate) struct HotBatch<F: Fingerprint> {
    /// The distinct hot bits, arranged for probing.
    pub(crate) method: Method<F>,
    /// The first group of each, and at the end the number of groups.
    starts: Vec<u32>,
    /// The largest distance that is near.
    distance: u32,
}

/// A pair of near hot bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Candidate<F> {
    /// The segment's number in its version of the store.
    pub(super) segment: u32,
    /// The first of the rows that have these hot bits.
    pub(super) row: u64,
    /// How many rows have them.
    pub(super) rows: u64,
    /// Which hot bits of the batch they are near to.
    pub(super) near: u32,
    /// The hot bits of the rows.
    pub(super) hot: F,
}

/// Candidates that wait for their cold bits.
#[derive(Debug)]
pub(super) struct Candidates<F> {
    waiting: Vec<Candidate<F>>,
    failed: Option<Error>,
}

impl<F> Default for Candidates<F> {
    fn default() -> Candidates<F> {
        Candidates { waiting: Vec::new(), failed: None }
    }
}

impl<F: Fingerprint> HotBatch<F> {
    /// The hot bits of `groups`, which ascend, arranged by `build`.
    ///
    /// # Errors
    /// Those of `build`.
    pub(crate) fn new(
        groups: &[F],
        distance: u32,
        build: impl FnOnce(&Arc<[F]>) -> Result<Method<F>>,
    ) -> Result<HotBatch<F>> {
        let mut bits = Vec::new();
        let mut starts = Vec::new();
        for (group, &fingerprint) in (0..).zip(groups) {
            if bits.last() != Some(&hot(fingerprint)) {
                bits.push(hot(fingerprint));
                starts.push(group);
            }
        }
        starts.push(groups.len() as u32);
        Ok(HotBatch { method: build(&bits.into())?, starts, distance })
    }

    /// The groups with these hot bits.
    fn groups(&self, hot: u32) -> Range<u32> {
        self.starts[hot as usize]..self.starts[hot as usize + 1]
    }
}

impl<F: Fingerprint> Candidates<F> {
    /// Takes a candidate. When enough of them wait, they are verified.
    pub(super) fn push(&mut self, candidate: Candidate<F>, to: &mut Verifying<'_, F>) {
        let Candidate { segment, row, rows, .. } = candidate;
        to.segments[segment as usize].expect_cold(&(row..row + rows.min(ROWS)));
        self.waiting.push(candidate);
        if self.waiting.len() == WAITING {
            self.verify(to);
        }
    }

    /// Verifies all candidates that wait.
    ///
    /// # Errors
    /// The first error since the last call.
    pub(super) fn finish(&mut self, to: &mut Verifying<'_, F>) -> Result<()> {
        self.verify(to);
        self.failed.take().map_or(Ok(()), Err)
    }

    fn verify(&mut self, to: &mut Verifying<'_, F>) {
        self.waiting.sort_unstable();
        let of_one = |a: &Candidate<F>, b: &Candidate<F>| a.segment == b.segment;
        let verified = self.waiting.chunk_by(of_one).try_for_each(|candidates| {
            let mut cold = to.segments[candidates[0].segment as usize].cold_bits();
            candidates.iter().try_for_each(|candidate| to.verify(candidate, &mut cold))
        });
        self.waiting.clear();
        if let Err(error) = verified {
            self.failed.get_or_insert(error);
        }
    }
}

/// What candidates are verified with, and the pairs that result.
pub(super) struct Verifying<'a, F: Fingerprint> {
    pub(super) segments: &'a [Segment],
    pub(super) groups: &'a [F],
    pub(super) hot: &'a HotBatch<F>,
    pub(super) pairs: &'a mut Findings,
}

impl<F: Fingerprint> Verifying<'_, F> {
    fn verify(&mut self, candidate: &Candidate<F>, cold: &mut ColdBits) -> Result<()> {
        let mut rows = candidate.row..candidate.row + candidate.rows;
        while !rows.is_empty() {
            let read = rows.start..rows.end.min(rows.start + ROWS);
            for copies in cold.get(read)?.chunk_by(|a, b| a == b) {
                let fingerprint = candidate.hot | F::from_u128(copies[0].into());
                let place = Place::Store {
                    segment: candidate.segment,
                    row: rows.start,
                    rows: copies.len() as u64,
                };
                rows.start += copies.len() as u64;
                self.compare(candidate.near, fingerprint, place);
            }
        }
        Ok(())
    }

    /// Finds the groups with these hot bits whose whole fingerprints are near to `fingerprint`.
    fn compare(&mut self, near: u32, fingerprint: F, existing: Place) {
        for new in self.hot.groups(near) {
            let distance = self.groups[new as usize].distance(fingerprint);
            if distance <= self.hot.distance {
                self.pairs.push(Pair { new: new.into(), existing, distance: distance as u8 });
            }
        }
    }
}
