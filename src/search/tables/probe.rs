//! The trait of everything that finds near pairs, and a pair as it reports it.

use std::fmt::Debug;

/// A fingerprint of the batch and a probed one that differ in at most k bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hit {
    pub batch: u32,
    pub run: u32,
    /// The index of the fingerprint in that run.
    pub at: u32,
    pub distance: u8,
}

/// A way to find the near pairs of the batch and any other fingerprints. All ways find the same pairs.
pub trait Probe<F>: Send + Sync {
    /// Memory that a probe works in, to be kept from call to call. Each thread needs its own.
    type Scratch: Debug + Default;

    /// Calls `found` exactly once for each pair of the batch and any of `runs` within k, in no
    /// particular order. Each run ascends and has at most `u32::MAX` fingerprints. Many runs in one call
    /// cost less than one call each, most of all if they cover the same keys.
    fn probe(&self, runs: &[&[F]], scratch: &mut Self::Scratch, found: &mut dyn FnMut(Hit));

    /// About how many fingerprints of the store are best probed in one call.
    fn window(&self) -> usize {
        1 << 20
    }
}

/// Where runs are that are probed as one: a place is counted over all of them.
#[derive(Debug)]
pub(super) struct Places {
    ends: Vec<usize>,
}

impl Places {
    pub(super) fn of<F>(runs: &[&[F]]) -> Places {
        let ends = runs.iter().scan(0, |end, run| {
            *end += run.len();
            Some(*end)
        });
        Places { ends: ends.collect() }
    }

    /// The run that has a place, and where in the run.
    pub(super) fn find(&self, place: u32) -> (usize, usize) {
        let place = place as usize;
        let run = self.ends.partition_point(|&end| end <= place);
        (run, place - run.checked_sub(1).map_or(0, |before| self.ends[before]))
    }
}
