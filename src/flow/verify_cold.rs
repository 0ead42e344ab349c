//! Candidates confirmed: what a probe of hot bits found near is near only if the cold bits agree.
//!
//! Segments whose cold bits are apart are probed by their hot bits alone, with the hot bits of the
//! batch. Clearing bits on both sides takes nothing from the distance but what these bits add to it,
//! so every near pair is among the candidates. At eight billion against a million and k = 3 there
//! are half a million of them, 64 bytes or so of each thousand of the store.
//!
//! Each candidate costs a read, somewhere. The system is told of it when it is found, and brings the
//! bytes while the probe goes on; they are read when some thousand candidates have come together.

use std::ops::Range;
use std::sync::Arc;

use super::findings::Findings;
use crate::error::{Error, Result};
use crate::fingerprint::Fingerprint;
use crate::matches::{Pair, Place};
use crate::store::{ColdBits, Segment, hot};

/// Candidates that wait at once.
const WAITING: usize = 1 << 13;

/// Rows of one candidate whose cold bits are in memory at once.
const ROWS: u64 = 1 << 14;

/// The batch by its hot bits.
#[derive(Debug)]
pub struct Hot<P> {
    /// The hot bits, each once, arranged for probing.
    pub method: P,
    /// The first group of each, and past them the number of groups.
    starts: Vec<u32>,
    /// The largest distance that is near.
    distance: u32,
}

/// What a probe of hot bits found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Candidate<F> {
    /// The segment's number in its version of the store.
    pub(super) segment: u32,
    /// The first of the rows that have these hot bits.
    pub(super) row: u64,
    /// How many have.
    pub(super) rows: u64,
    /// Which hot bits of the batch are near.
    pub(super) near: u32,
    /// The hot bits.
    pub(super) hot: F,
}

/// Candidates on their way to pairs.
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

impl<P> Hot<P> {
    /// The hot bits of `groups`, which ascend, arranged by `build`.
    ///
    /// # Errors
    /// Those of `build`.
    pub fn new<F: Fingerprint>(
        groups: &[F],
        distance: u32,
        build: impl FnOnce(&Arc<[F]>) -> Result<P>,
    ) -> Result<Hot<P>> {
        let (mut bits, mut starts) = (Vec::new(), Vec::new());
        for (group, &fingerprint) in (0..).zip(groups) {
            if bits.last() != Some(&hot(fingerprint)) {
                bits.push(hot(fingerprint));
                starts.push(group);
            }
        }
        starts.push(groups.len() as u32);
        Ok(Hot { method: build(&bits.into())?, starts, distance })
    }

    /// The groups with these hot bits.
    fn groups(&self, hot: u32) -> Range<u32> {
        self.starts[hot as usize]..self.starts[hot as usize + 1]
    }
}

impl<F: Fingerprint> Candidates<F> {
    /// Takes one more; when many have come together they are confirmed.
    pub(super) fn push<P>(&mut self, candidate: Candidate<F>, to: &mut Confirming<'_, F, P>) {
        let Candidate { segment, row, rows, .. } = candidate;
        to.segments[segment as usize].expect_cold(&(row..row + rows.min(ROWS)));
        self.waiting.push(candidate);
        if self.waiting.len() == WAITING {
            self.confirm(to);
        }
    }

    /// Confirms all that wait.
    ///
    /// # Errors
    /// The first that there was since the last call.
    pub(super) fn finish<P>(&mut self, to: &mut Confirming<'_, F, P>) -> Result<()> {
        self.confirm(to);
        self.failed.take().map_or(Ok(()), Err)
    }

    fn confirm<P>(&mut self, to: &mut Confirming<'_, F, P>) {
        self.waiting.sort_unstable();
        let of_one = |a: &Candidate<F>, b: &Candidate<F>| a.segment == b.segment;
        let confirmed = self.waiting.chunk_by(of_one).try_for_each(|candidates| {
            let mut cold = to.segments[candidates[0].segment as usize].cold_bits();
            candidates.iter().try_for_each(|candidate| to.confirm(candidate, &mut cold))
        });
        self.waiting.clear();
        if let Err(error) = confirmed {
            self.failed.get_or_insert(error);
        }
    }
}

/// What candidates are confirmed with, and the pairs that come of them.
pub(super) struct Confirming<'a, F, P> {
    pub(super) segments: &'a [Segment],
    pub(super) groups: &'a [F],
    pub(super) hot: &'a Hot<P>,
    pub(super) pairs: &'a mut Findings,
}

impl<F: Fingerprint, P> Confirming<'_, F, P> {
    fn confirm(&mut self, candidate: &Candidate<F>, cold: &mut ColdBits) -> Result<()> {
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

    /// Pairs a fingerprint with the groups of these hot bits that are near to it in full.
    fn compare(&mut self, near: u32, fingerprint: F, existing: Place) {
        for new in self.hot.groups(near) {
            let distance = self.groups[new as usize].distance(fingerprint);
            if distance <= self.hot.distance {
                self.pairs.push(Pair { new: new.into(), existing, distance: distance as u8 });
            }
        }
    }
}
