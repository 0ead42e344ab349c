//! How far one table of an index reaches: which of the fingerprints within the distance it finds.

use crate::fingerprint::Fingerprint;

/// A table finds what differs in at most `within` of the bits of its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reach {
    /// The bits of the key, where they are in a fingerprint.
    pub(super) mask: u128,
    pub(super) within: u32,
}

impl Reach {
    pub(super) fn covers<F: Fingerprint>(self, difference: F) -> bool {
        (difference.to_u128() & self.mask).count_ones() <= self.within
    }
}
