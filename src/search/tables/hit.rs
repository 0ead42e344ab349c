//! A hit: a pair within k, as a probe reports it.

/// A fingerprint of the batch and a probed one that differ in at most k bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hit {
    pub batch: u32,
    /// The index of the run that was probed.
    pub run: u32,
    /// The index of the fingerprint in that run.
    pub at: u32,
    pub distance: u8,
}
