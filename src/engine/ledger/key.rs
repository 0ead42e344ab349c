//! The key of a join: two runs with equal keys find the same pairs in the same chunks.

use xxhash_rust::xxh3::Xxh3;

use super::chunk::Chunk;
use super::frame::MAGIC;
use crate::fingerprint::Fingerprint;
use crate::matches::{KeepRank, Sieve};
use crate::store::{Dated, Digest};
use crate::tables::SelfJoin;

/// Everything that decides which pairs each chunk has. The design for the store and the number of workers and
/// processes do not. The memory does where it decides how the batch is divided to be joined with itself.
#[derive(Debug)]
pub(crate) struct LedgerKey<'a, F: Fingerprint> {
    /// The build of the program. A corrected build must not take over the pairs of a faulty one.
    pub build: Digest,
    pub(crate) batch: Digest,
    pub(crate) distance: u32,
    pub(crate) sieve: Option<&'a Sieve>,
    /// The place of each group of the batch in keep order, where that decides who meets.
    pub(crate) order: Option<&'a [KeepRank]>,
    /// The segments of the store, in their order, and what is hidden of them.
    pub(crate) store: &'a [Dated],
    pub(crate) chunks: &'a [Chunk<F>],
    /// The join of the batch with itself, whose keys or blocks cut the batch into parts.
    pub(crate) itself: &'a SelfJoin<F>,
}

impl<F: Fingerprint> LedgerKey<'_, F> {
    pub(crate) fn digest(&self) -> Digest {
        let mut hash = Xxh3::new();
        hash.update(&MAGIC);
        hash.update(&self.build.0.to_le_bytes());
        hash.update(&self.batch.0.to_le_bytes());
        hash.update(&[Sieve::number(self.sieve)]);
        hash.update(&self.distance.to_le_bytes());
        for &place in self.order.into_iter().flatten() {
            hash.update(&u32::from(place).to_le_bytes());
        }
        hash.update(&(self.store.len() as u64).to_le_bytes());
        for dated in self.store {
            hash.update(&dated.digest().0.to_le_bytes());
        }
        for chunk in self.chunks {
            let (kind, low, high) = match chunk {
                Chunk::Store(range) => (0, range.low.to_u128(), range.high.to_u128()),
                Chunk::Batch(part) => (1, (*part).into(), self.itself.parts().into()),
                Chunk::Keys(part) => (2, (*part).into(), 0),
            };
            hash.update(&[kind]);
            hash.update(&low.to_le_bytes());
            hash.update(&high.to_le_bytes());
        }
        for key in self.itself.keys() {
            hash.update(&key.to_le_bytes());
        }
        Digest(hash.digest128())
    }
}
