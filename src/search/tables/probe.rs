//! The trait of everything that finds near pairs.

use std::fmt::Debug;

use super::hit::Hit;

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
