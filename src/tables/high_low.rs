//! The probe of two halves, each by what suits it: the high half by prefix, the low half by blocks.
//!
//! Of a pair within k, with h + l = k - 1, either the high halves are within h or the low halves within
//! l: else they would differ in h + 1 + l + 1 = k + 1 bits. The store is sorted by the high half, so that
//! is the conditioned probe's ([`Conditioned`]), at no more than 3 errors where there may be 7 in all. By
//! the low half it is in no order, so that is left to the blocks ([`Halves`]), half as many as for the
//! whole.
//!
//! | k | 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 |
//! |---|---|---|---|---|---|---|---|---|
//! | high within | 0 | 0 | 1 | 1 | 2 | 2 | 3 | 3 |
//! | or low within | - | 0 | 0 | 1 | 1 | 2 | 2 | 3 |

use super::conditioned::Conditioned;
use super::halves::{self, Halves};
use super::{Hit, Probe, Scratch};
use crate::fingerprint::{Fingerprint, Width};

/// The largest distance it is made for: that of the blocks, of which it takes those of the low half.
pub(super) fn covers(width: Width) -> u32 {
    halves::covers(width)
}

/// In how many bits of the high half pairs within `k` may differ, and in how many of the low half the
/// others; `None` where there are no others.
pub(super) fn limits(k: u32) -> (u32, Option<u32>) {
    (k / 2, k.checked_sub(1).map(|k| k / 2))
}

/// The batch by its high half and by its low half.
#[derive(Debug)]
pub struct HighLow<F> {
    high: Conditioned<F>,
    low: Option<Halves<F>>,
}

impl<F: Fingerprint> HighLow<F> {
    /// Arranges `batch`, which is sorted and distinct and has at most `u32::MAX` fingerprints, for
    /// distances up to `k`.
    pub(super) fn new(batch: &[F], k: u32) -> HighLow<F> {
        let (high, low) = limits(k);
        HighLow {
            high: Conditioned::of_high_half(batch, k, high),
            low: low.map(|low| Halves::of_low_half(batch, k, low, high)),
        }
    }

    /// How many bytes it holds.
    pub fn memory_bytes(&self) -> u64 {
        self.high.memory_bytes() + self.low.as_ref().map_or(0, Halves::memory_bytes)
    }
}

impl<F: Fingerprint> Probe<F> for HighLow<F> {
    fn probe(&self, runs: &[&[F]], scratch: &mut Scratch<F>, found: &mut dyn FnMut(Hit)) {
        self.high.probe(runs, scratch, found);
        if let Some(low) = &self.low {
            low.probe(runs, scratch, found);
        }
    }
}
