//! Keys of a batch in memory: which numbers have a key?
//!
//! The keys of a store stream past those of a batch, and most of them are no key of the batch. So a key is first looked up in
//! a bitmap, which stays in the cache: low bits choose a word, of which it has three bits (Putze, Sanders and Singler,
//! "Cache-, Hash- and Space-Efficient Bloom Filters", WEA 2007). One in three hundred passes by chance. Then it is looked up among the
//! sorted keys, in a range that its highest bits give.

pub const KEY_BYTES: usize = 5;
const KEY_BITS: u32 = 8 * KEY_BYTES as u32;
const NUMBER_BITS: u32 = u64::BITS - KEY_BITS;
/// The lowest bits of a key, which may be the same in all of them: anchors of one place have these in common.
const SAME_BITS: u32 = 3;
/// Bits of the bitmap for each key, as a power of two: between 16 and 32.
const FILTER_BITS: u32 = 4;
/// About the bytes for each key: the entry, up to eight for its range, up to four for its bits.
const BYTES: usize = 20;

pub(crate) fn number_of(entry: u64) -> u32 {
    (entry & ((1 << NUMBER_BITS) - 1)) as u32
}

pub(crate) fn key_of_entry(entry: u64) -> u64 {
    entry >> NUMBER_BITS
}

#[derive(Debug)]
pub struct Keys {
    /// The bits of the keys with each value of the low bits.
    bitmap: Vec<u64>,
    /// Where the keys with each value of the highest bits begin.
    starts: Vec<u32>,
    shift: u32,
    /// Each key and a number that has it, ascending.
    entries: Vec<u64>,
}

/// How many numbers can have `keys` keys each in so many bytes.
pub(crate) fn most_numbers(keys: usize, memory_bytes: usize) -> usize {
    (memory_bytes / (BYTES * keys.max(1))).clamp(1, 1 << NUMBER_BITS)
}

/// About the bytes that so many numbers with `keys` keys each take.
pub(crate) fn memory_of(keys: usize, numbers: u64) -> u64 {
    numbers * (BYTES * keys) as u64
}

pub fn key_of(&[a, b, c, d, e]: &[u8; KEY_BYTES]) -> u64 {
    u64::from_le_bytes([a, b, c, d, e, 0, 0, 0])
}

pub fn entry(key: u64, number: u32) -> u64 {
    key << NUMBER_BITS | u64::from(number)
}

/// Where a bitmap of so many words, a power of two, has a key: the word, and three bits of it.
#[inline]
fn bits_of(key: u64, words: usize) -> (usize, u64) {
    let bit = |shift: u32| 1 << (key >> (KEY_BITS - shift) & 63);
    ((key >> SAME_BITS) as usize & (words - 1), bit(6) | bit(12) | bit(18))
}

impl Keys {
    pub fn of(mut entries: Vec<u64>) -> Keys {
        entries.sort_unstable();
        let size = entries.len().next_power_of_two().ilog2();
        let shift = KEY_BITS - size.min(KEY_BITS);
        let mut bitmap = vec![0; (1_usize << (size + FILTER_BITS)).div_ceil(u64::BITS as usize)];
        let mut starts = vec![0; (1 << size) + 1];
        for entry in &entries {
            let key = key_of_entry(*entry);
            let (word, bits) = bits_of(key, bitmap.len());
            bitmap[word] |= bits;
            starts[(key >> shift) as usize + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        Keys { bitmap, starts, shift, entries }
    }

    /// Whether a number may have this key. If not, none has.
    #[inline]
    pub(crate) fn may_have(&self, key: u64) -> bool {
        let (word, bits) = bits_of(key, self.bitmap.len());
        self.bitmap[word] & bits == bits
    }

    /// The entries of each key, which may get another order.
    pub(crate) fn each_mut(&mut self) -> impl Iterator<Item = &mut [u64]> {
        self.entries.chunk_by_mut(|&one, &other| key_of_entry(one) == key_of_entry(other))
    }

    /// The entries of each key, ascending.
    pub fn each(&self) -> impl Iterator<Item = &[u64]> {
        self.entries.chunk_by(|&one, &other| key_of_entry(one) == key_of_entry(other))
    }

    /// The entries of the numbers that have a key, ascending.
    pub fn with(&self, key: u64) -> &[u64] {
        let at = (key >> self.shift) as usize;
        let range = &self.entries[self.starts[at] as usize..self.starts[at + 1] as usize];
        let below = range.partition_point(|&entry| key_of_entry(entry) < key);
        let rest = &range[below..];
        let end = rest.partition_point(|&entry| key_of_entry(entry) == key);
        &rest[..end]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_number_with_a_key_is_found(
            keys in prop::collection::vec(prop_oneof![0..20_u64, (0..1_u64 << KEY_BITS)], 0..300),
            others in prop::collection::vec(0..40_u64, 0..40),
        ) {
            let entries = (0..).zip(&keys).map(|(number, &key)| entry(key, number)).collect();
            let band = Keys::of(entries);
            for &key in keys.iter().chain(&others) {
                let found: Vec<u32> = band.with(key).iter().copied().map(number_of).collect();
                let expected: Vec<u32> = (0..).zip(&keys).filter(|it| *it.1 == key).map(|it| it.0).collect();
                prop_assert!(expected.is_empty() || band.may_have(key));
                prop_assert_eq!(found, expected);
            }
        }
    }

    #[test]
    fn numbers_fit_their_memory() {
        assert_eq!(most_numbers(14, 280 << 20), 1 << 20);
        assert_eq!((most_numbers(14, 0), most_numbers(1, usize::MAX)), (1, 1 << 24));
    }
}
