//! Fingerprints in buckets, by a counting sort; and the hash that chooses a bucket by a key.

use crate::error::{Error, Kind, Result};
use crate::fingerprint::Fingerprint;

/// A fingerprint and its place in the batch, or in what is probed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entry<F> {
    pub(super) fingerprint: F,
    pub(super) place: u32,
}

/// The number of fingerprints of a batch, if each of them has a place.
pub(super) fn check_count(count: usize) -> Result<u32> {
    u32::try_from(count).map_err(|_| {
        let what = "the batch has too many distinct fingerprints for one process";
        Error::new(Kind::Usage, what)
            .expected(format!("at most {}", u32::MAX))
            .found(count)
            .help("divide the day into several batches")
    })
}

/// Multiply-shift: the high bits are the hash of a key.
#[inline]
pub(super) fn hash<F: Fingerprint>(key: F) -> u64 {
    let key = key.to_u128();
    let low = key as u64;
    let high = (key >> 64) as u64;
    low.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(high.wrapping_mul(0xd6e8_feb8_6659_fd93))
}

#[derive(Debug, Default)]
pub(super) struct Buckets<F> {
    entries: Vec<Entry<F>>,
    /// Bucket b holds the entries `starts[b]..starts[b + 1]`.
    starts: Vec<u32>,
}

impl<F: Fingerprint> Buckets<F> {
    /// Sorts `entries`, of which there are at most `u32::MAX`, into this many buckets.
    #[inline]
    pub(super) fn sort(
        &mut self,
        entries: impl Iterator<Item = Entry<F>> + Clone,
        buckets: usize,
        bucket: impl Fn(F) -> usize,
    ) {
        let Buckets { entries: sorted, starts } = self;
        starts.clear();
        starts.resize(buckets + 1, 0);
        entries.clone().for_each(|entry| starts[bucket(entry.fingerprint)] += 1);
        let mut sum = 0;
        for start in starts.iter_mut() {
            sum += *start;
            *start = sum;
        }
        sorted.resize((sum as usize).max(sorted.len()), Entry::default());
        entries.for_each(|entry| {
            let start = &mut starts[bucket(entry.fingerprint)];
            *start -= 1;
            sorted[*start as usize] = entry;
        });
    }

    pub(super) fn buckets(&self) -> impl Iterator<Item = &[Entry<F>]> {
        self.starts.windows(2).map(|bounds| &self.entries[bounds[0] as usize..bounds[1] as usize])
    }
}
