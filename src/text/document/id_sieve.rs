//! Tells at once of most ids that they are not in a set.
//!
//! Whoever looks for some ids among hundreds of millions asks for each of these, and nearly all answers are no. A bit for
//! each possible beginning of a hash, with sixteen or more bits for each id of the set, says so for fifteen of
//! sixteen other ids, in memory that stays in the cache.

/// The least and the most bits of a sieve, as powers of two. More would not stay in the cache.
const LEAST_BITS: u32 = 10;
const MOST_BITS: u32 = 24;

#[derive(Clone, Debug)]
pub struct IdSieve {
    words: Vec<u64>,
    shift: u32,
}

impl IdSieve {
    pub fn of(hashes: impl ExactSizeIterator<Item = u128>) -> IdSieve {
        let mut sieve = IdSieve::with_room(hashes.len() as u64);
        hashes.for_each(|hash| sieve.insert(hash));
        sieve
    }

    pub fn with_room(count: u64) -> IdSieve {
        let bits = count.saturating_mul(16).max(1).ilog2() + 1;
        let bits = bits.clamp(LEAST_BITS, MOST_BITS);
        IdSieve { words: vec![0; 1 << (bits - 6)], shift: 128 - bits }
    }

    pub fn insert(&mut self, hash: u128) {
        let (word, bit) = self.place(hash);
        self.words[word] |= 1 << bit;
    }

    pub fn may_have(&self, hash: u128) -> bool {
        let (word, bit) = self.place(hash);
        self.words[word] >> bit & 1 == 1
    }

    fn place(&self, hash: u128) -> (usize, u32) {
        let beginning = (hash >> self.shift) as usize;
        (beginning / 64, (beginning % 64) as u32)
    }
}

#[cfg(test)]
mod tests {
    use xxhash_rust::xxh3::xxh3_128;

    use super::*;

    #[test]
    fn all_of_a_set_pass_and_few_others() {
        for count in [0_u64, 1, 100, 10_000, 2_000_000] {
            let hash = |number: u64| xxh3_128(&number.to_le_bytes());
            let hashes: Vec<u128> = (0..count).map(hash).collect();
            let sieve = IdSieve::of(hashes.iter().copied());
            assert!(hashes.iter().all(|&hash| sieve.may_have(hash)));
            let others = (count..count + 10_000).filter(|&it| sieve.may_have(hash(it))).count();
            let most = if count > 1_000_000 { 1500 } else { 750 };
            assert!(others < most, "{others} others with {count}");
        }
    }
}
