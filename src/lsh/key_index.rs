//! The band keys of a batch in memory: which groups have a key?
//!
//! The keys of a store stream past it, and most of them are no key of the batch. So a key is first looked up in
//! a bitmap by its lowest bits, which stays in the cache; one in sixteen passes by chance. Then it is looked up
//! among the sorted keys, in a range that its highest bits give.

use super::bands::KEY_BYTES;
use super::batch::Batch;
use crate::error::Result;
use crate::matches::KeepRank;
use crate::parallel::in_parallel;

/// The bits of a key in a segment.
const KEY_BITS: u32 = 8 * KEY_BYTES as u32;
/// The bits of a group's number in a portion of a batch. Key and number fill a word.
const GROUP_BITS: u32 = u64::BITS - KEY_BITS;
/// Bits of the bitmap for each key, as a power of two.
const FILTER_BITS: u32 = 4;
/// About the bytes for each key: the entry, up to eight for its range, up to four for its bits.
const BYTES: usize = 20;

/// The keys of consecutive groups.
pub(super) struct KeyIndex {
    first: u32,
    groups: usize,
    pub(super) bands: Vec<BandKeys>,
}

/// The keys of one band.
pub(super) struct BandKeys {
    /// A bit for each value of the lowest bits.
    bitmap: Vec<u64>,
    mask: u64,
    /// Where the keys with each value of the highest bits begin.
    starts: Vec<u32>,
    shift: u32,
    /// Each key and the number of a group that has it, ascending.
    entries: Vec<u64>,
}

impl KeyIndex {
    /// How many groups an index of `memory_bytes` holds.
    pub(super) fn groups(bands: usize, memory_bytes: usize) -> usize {
        (memory_bytes / (BYTES * bands.max(1))).clamp(1, 1 << GROUP_BITS)
    }

    /// The index of some `groups`.
    pub(super) fn of(
        batch: &Batch,
        groups: std::ops::Range<u32>,
        workers: usize,
    ) -> Result<KeyIndex> {
        let mut bands: Vec<Vec<u64>> = Vec::new();
        let mut buffer = Vec::new();
        for group in groups.clone() {
            let mut band = 0;
            batch.each_key(group.into(), &mut buffer, |key| {
                if band == bands.len() {
                    bands.push(Vec::with_capacity(groups.len()));
                }
                bands[band].push(key << GROUP_BITS | u64::from(group - groups.start));
                band += 1;
                Ok(())
            })?;
        }
        let bands = in_parallel(workers, &bands, |entries| BandKeys::of(entries.clone()));
        Ok(KeyIndex { first: groups.start, groups: groups.len(), bands })
    }

    /// How many groups it has.
    pub(super) fn len(&self) -> usize {
        self.groups
    }

    /// The group of this number.
    pub(super) fn group(&self, number: u32) -> KeepRank {
        KeepRank::from(self.first + number)
    }

    /// Whether it has a group.
    pub(super) fn has(&self, group: KeepRank) -> bool {
        let number = u32::from(group).checked_sub(self.first);
        number.is_some_and(|number| (number as usize) < self.groups)
    }

    /// The numbers of the groups with a key of a band.
    pub(super) fn numbers_with(&self, band: usize, key: u64) -> impl Iterator<Item = u32> {
        let number = |entry: &u64| (entry & ((1 << GROUP_BITS) - 1)) as u32;
        self.bands[band].with(key).iter().map(number)
    }
}

impl BandKeys {
    fn of(mut entries: Vec<u64>) -> BandKeys {
        entries.sort_unstable();
        let size = entries.len().next_power_of_two().ilog2();
        let mask = (1 << (size + FILTER_BITS).max(u64::BITS.ilog2())) - 1;
        let shift = KEY_BITS - size.min(KEY_BITS);
        let mut bitmap = vec![0; (mask as usize + 1) / u64::BITS as usize];
        let mut starts = vec![0; (1 << size) + 1];
        for entry in &entries {
            let key = entry >> GROUP_BITS;
            bitmap[(key & mask) as usize / 64] |= 1 << (key % 64);
            starts[(key >> shift) as usize + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        BandKeys { bitmap, mask, starts, shift, entries }
    }

    /// Whether a group may have this key. If not, none has.
    #[inline]
    pub(super) fn may_have(&self, key: u64) -> bool {
        self.bitmap[(key & self.mask) as usize / 64] >> (key % 64) & 1 == 1
    }

    fn with(&self, key: u64) -> &[u64] {
        let at = (key >> self.shift) as usize;
        let range = &self.entries[self.starts[at] as usize..self.starts[at + 1] as usize];
        let below = range.partition_point(|entry| entry >> GROUP_BITS < key);
        let rest = &range[below..];
        &rest[..rest.partition_point(|entry| entry >> GROUP_BITS == key)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_group_with_a_key_is_found(
            keys in prop::collection::vec(prop_oneof![0..20_u64, (0..1_u64 << KEY_BITS)], 0..300),
            others in prop::collection::vec(0..40_u64, 0..40),
        ) {
            let entries = (0..).zip(&keys).map(|(number, key)| key << GROUP_BITS | number).collect();
            let band = BandKeys::of(entries);
            for &key in keys.iter().chain(&others) {
                let found: Vec<u64> = band.with(key).iter().map(|it| it % (1 << GROUP_BITS)).collect();
                let expected: Vec<u64> = (0..).zip(&keys).filter(|it| *it.1 == key).map(|it| it.0).collect();
                prop_assert!(expected.is_empty() || band.may_have(key));
                prop_assert_eq!(found, expected);
            }
        }
    }

    #[test]
    fn an_index_fits_its_memory() {
        assert_eq!(KeyIndex::groups(14, 280 << 20), 1 << 20);
        assert_eq!((KeyIndex::groups(14, 0), KeyIndex::groups(1, usize::MAX)), (1, 1 << 24));
    }
}
