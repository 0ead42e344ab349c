//! A digest of the rows of a clustering that does not depend on their order: rows can be added and taken away.

use xxhash_rust::xxh3::{xxh3_64_with_seed, xxh3_128_with_seed};

use super::page::PageDay;
use crate::store::Digest;

/// The sum of the hashes of all rows, modulo 2^128.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Contents(u128);

impl Contents {
    /// Those with a digest.
    pub(super) fn of(digest: Digest) -> Contents {
        Contents(digest.0)
    }

    pub(super) fn add(&mut self, id: &str, day: PageDay, cluster: &str) {
        self.0 = self.0.wrapping_add(hash(id, day, cluster));
    }

    pub(super) fn remove(&mut self, id: &str, day: PageDay, cluster: &str) {
        self.0 = self.0.wrapping_sub(hash(id, day, cluster));
    }

    /// Adds what others have gained and takes away what they have lost.
    pub(super) fn merge(&mut self, other: Contents) {
        self.0 = self.0.wrapping_add(other.0);
    }

    pub(super) fn digest(self) -> Digest {
        Digest(self.0)
    }
}

fn hash(id: &str, day: PageDay, cluster: &str) -> u128 {
    let page = xxh3_64_with_seed(id.as_bytes(), u64::from(day.number()));
    xxh3_128_with_seed(cluster.as_bytes(), page)
}
