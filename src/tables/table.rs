//! One table: the batch in buckets by the hash of its bits under a mask, behind a Bloom filter.
//!
//! The hash only leads to the bucket. Fingerprints that meet there are compared in full, so a collision
//! costs one comparison and nothing else, and skewed keys spread as evenly as others.

use std::collections::BTreeMap;

use super::masks::refine;
use crate::error::{Error, Kind, Result};
use crate::fingerprint::Fingerprint;
use crate::hamming::memory::prefetch;
use crate::hamming::within;

/// A bucket of more entries than this is arranged again by the bits outside its key.
pub(super) const CROWD: usize = 4096;

/// How many survivors' buckets are fetched before the first is compared.
pub(super) const GROUP: usize = 64;

/// How many additional entries the crowded buckets of one table may hold, for each fingerprint of the
/// batch.
pub(super) const SPARE: usize = 16;

/// How many bits of filter there are for each bucket, as a power of two.
const FILTER_SPARSITY: u32 = 4;

/// The batch, or some of it, arranged under one mask.
#[derive(Debug)]
pub(super) struct Table<F> {
    mask: F,
    /// A Bloom filter of two bits for each entry, both in one word, so that it costs one access.
    filter: Vec<u64>,
    filter_shift: u32,
    /// Bucket b holds the entries `starts[b]..starts[b + 1]`.
    starts: Vec<u32>,
    bucket_shift: u32,
    /// The fingerprints, bucket after bucket, and their places in the batch.
    entries: Vec<F>,
    places: Vec<u32>,
    /// The tables of the buckets that are too large to go through.
    crowds: BTreeMap<usize, Vec<Table<F>>>,
}

/// A fingerprint of a block that passed a filter, and the bucket it is to be compared with.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Survivor {
    pub(super) at: u32,
    pub(super) bucket: u32,
}

/// A batch fingerprint within k of the one probed: its place in the batch, itself, the distance.
pub(super) type TakeNear<'a, F> = &'a mut dyn FnMut(u32, F, u32);

/// How many bits of hash choose the bucket, and how many the bit of the filter, in a table of `count`
/// entries under a key of `key_bits`. A key too short to leave the filter mostly empty gets a filter
/// of one word, which lets nearly all pass.
pub(super) fn hash_bits(count: usize, key_bits: u32) -> (u32, u32) {
    let buckets = count.max(2).ilog2().min(key_bits).max(1);
    let filter = buckets + FILTER_SPARSITY;
    (buckets, if filter <= key_bits { filter.max(6) } else { 6 })
}

/// Multiply-shift: the high bits are the hash of a key.
#[inline]
pub(super) fn hash<F: Fingerprint>(key: F) -> u64 {
    let key = key.to_u128();
    let low = key as u64;
    let high = (key >> 64) as u64;
    low.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(high.wrapping_mul(0xd6e8_feb8_6659_fd93))
}

impl<F: Fingerprint> Table<F> {
    /// Arranges `entries`, which have these `places` in the batch, under `mask`. The tables of crowds hold at
    /// most `spare` additional entries.
    pub(super) fn build(
        entries: &[F],
        places: &[u32],
        mask: u128,
        k: u32,
        spare: &mut usize,
    ) -> Table<F> {
        let (bucket_bits, filter_bits) = hash_bits(entries.len(), mask.count_ones());
        let mut table = Table {
            mask: F::from_u128(mask),
            filter: vec![0; 1 << (filter_bits - 6)],
            filter_shift: 64 - filter_bits,
            starts: vec![0; (1 << bucket_bits) + 1],
            bucket_shift: 64 - bucket_bits,
            entries: vec![F::default(); entries.len()],
            places: vec![0; entries.len()],
            crowds: BTreeMap::new(),
        };
        table.mark(entries);
        table.sort(entries, places);
        table.divide_crowds(k, spare);
        table
    }

    fn mark(&mut self, entries: &[F]) {
        for &entry in entries {
            let (word, bits) = self.marks(self.hash(entry));
            self.filter[word] |= bits;
        }
    }

    /// Puts the entries into their buckets: a counting sort.
    fn sort(&mut self, entries: &[F], places: &[u32]) {
        for &entry in entries {
            let bucket = self.bucket(entry);
            self.starts[bucket] += 1;
        }
        let mut end = 0;
        for start in &mut self.starts {
            end += *start;
            *start = end;
        }
        for (&entry, &place) in entries.iter().zip(places).rev() {
            let bucket = self.bucket(entry);
            self.starts[bucket] -= 1;
            let at = self.starts[bucket] as usize;
            (self.entries[at], self.places[at]) = (entry, place);
        }
    }

    /// Arranges each crowded bucket again, by the bits outside the key in which its entries differ.
    /// Of a pair that agrees in the key at most k of those differ, so the same pigeonhole holds among
    /// them: k + 1 blocks, choose 1.
    fn divide_crowds(&mut self, k: u32, spare: &mut usize) {
        for bucket in 0..self.starts.len() - 1 {
            let crowd = self.starts[bucket] as usize..self.starts[bucket + 1] as usize;
            let cost = crowd.len() * (k as usize + 1);
            let entries = &self.entries[crowd.clone()];
            if crowd.len() <= CROWD || cost > *spare || self.varying(entries).count_ones() <= k {
                continue;
            }
            *spare -= cost;
            let mask = self.mask.to_u128();
            let masks = refine(mask, mask | self.varying(entries), k + 1, 1);
            let build = |mask| Table::build(entries, &self.places[crowd.clone()], mask, k, spare);
            self.crowds.insert(bucket, masks.into_iter().map(build).collect());
        }
    }

    /// The bits outside the key in which any of `entries` differ.
    fn varying(&self, entries: &[F]) -> u128 {
        let differ = |bits, &entry| bits | (entry ^ entries[0]);
        (entries.iter().fold(F::default(), differ) & !self.mask).to_u128()
    }

    /// How many bytes the table and those of its crowds hold.
    pub(super) fn memory_bytes(&self) -> u64 {
        let own = size_of_val(&self.filter[..])
            + size_of_val(&self.starts[..])
            + size_of_val(&self.entries[..])
            + size_of_val(&self.places[..]);
        own as u64 + self.crowds.values().flatten().map(Table::memory_bytes).sum::<u64>()
    }

    #[cfg(test)]
    pub(super) fn is_divided_twice(&self) -> bool {
        self.crowds.values().flatten().any(|table| !table.crowds.is_empty())
    }

    #[inline]
    fn hash(&self, fingerprint: F) -> u64 {
        hash(fingerprint & self.mask)
    }

    /// The word of the filter that a hash falls into, and its two bits there.
    #[inline]
    fn marks(&self, hash: u64) -> (usize, u64) {
        let first = hash >> self.filter_shift;
        let second = hash >> (self.filter_shift - 6);
        ((first >> 6) as usize, 1 << (first & 63) | 1 << (second & 63))
    }

    /// The bucket of those that have the key of `fingerprint`, and may hold others.
    #[inline]
    pub(super) fn bucket(&self, fingerprint: F) -> usize {
        (self.hash(fingerprint) >> self.bucket_shift) as usize
    }

    /// Writes the fingerprints of `block` that pass the filter to `survivors`, which has room for all
    /// of them, and returns how many they are.
    #[inline(always)]
    pub(super) fn filter(&self, block: &[F], survivors: &mut [Survivor]) -> usize {
        let mut count = 0;
        for (at, &fingerprint) in block.iter().enumerate() {
            let hash = self.hash(fingerprint);
            let (word, bits) = self.marks(hash);
            survivors[count] =
                Survivor { at: at as u32, bucket: (hash >> self.bucket_shift) as u32 };
            count += usize::from(self.filter[word] & bits == bits);
        }
        count
    }

    /// Begins to bring the first entry of each of these buckets into the cache, so that the misses of
    /// many overlap before the comparisons wait for any.
    #[inline(always)]
    pub(super) fn fetch(&self, buckets: impl Iterator<Item = u32> + Clone) {
        for bucket in buckets.clone() {
            prefetch(&self.starts, bucket as usize);
        }
        for bucket in buckets {
            prefetch(&self.entries, self.starts[bucket as usize] as usize);
        }
    }

    /// Calls `found` for each entry of the bucket within `k` of `fingerprint`.
    #[inline(always)]
    pub(super) fn compare(&self, bucket: usize, fingerprint: F, k: u32, found: TakeNear<'_, F>) {
        let start = self.starts[bucket] as usize;
        let end = self.starts[bucket + 1] as usize;
        if end - start > CROWD
            && let Some(tables) = self.crowds.get(&bucket)
        {
            return look_up(tables, fingerprint, k, found);
        }
        let entries = &self.entries[start..end];
        within(fingerprint, entries, k, |at, distance| {
            found(self.places[start + at], entries[at], distance)
        });
    }
}

/// The number of fingerprints of a batch, if it fits the tables.
///
/// # Errors
/// [`Kind::Usage`] if the batch has more than `u32::MAX` fingerprints.
pub(super) fn check_count(count: usize) -> Result<u32> {
    u32::try_from(count).map_err(|_| {
        let what = "the batch has too many distinct fingerprints for one process";
        Error::new(Kind::Usage, what)
            .expected(format!("at most {}", u32::MAX))
            .found(count)
            .help("divide the day into several batches")
    })
}

/// Calls `found` once for each entry of `tables` within `k` of `fingerprint`.
fn look_up<F: Fingerprint>(tables: &[Table<F>], fingerprint: F, k: u32, found: TakeNear<'_, F>) {
    for (turn, table) in tables.iter().enumerate() {
        table.compare(table.bucket(fingerprint), fingerprint, k, &mut |place, entry, distance| {
            if first_meeting(tables, fingerprint ^ entry) == Some(turn) {
                found(place, entry, distance);
            }
        });
    }
}

/// The first of `tables` in which a pair with these differing bits meets. It may come together in
/// others, and by a collision of the hash in any, but it counts in this one only.
pub(super) fn first_meeting<F: Fingerprint>(tables: &[Table<F>], differing: F) -> Option<usize> {
    tables.iter().position(|table| differing & table.mask == F::default())
}
