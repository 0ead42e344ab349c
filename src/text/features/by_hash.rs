//! Maps whose keys are hashes of features already, so that a quick mix replaces hashing.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::LazyLock;

use xxhash_rust::xxh3::xxh3_64;

use crate::hash::Hash;

/// A map whose keys are hashes already. Its order differs from one process to the next.
pub type ByHash<K, V> = HashMap<K, V, Keyed>;

/// A map with more room than this is replaced when it is cleared, so that one long text does not slow down
/// all texts after it: clearing a map, or iterating over it, takes time for all the room it has.
const CAPACITY: usize = 1 << 14;

/// Makes the map empty, and small.
pub fn clear<K, V>(map: &mut ByHash<K, V>) {
    if map.capacity() > CAPACITY {
        *map = ByHash::default();
    } else {
        map.clear();
    }
}

/// Mixes hashes with a secret of the process. The hash functions of features are public, so the author of
/// a page could choose words that collide in a map, and the map would take quadratic time.
#[derive(Clone, Copy, Debug)]
pub struct Keyed(u64);

impl Default for Keyed {
    fn default() -> Keyed {
        static SECRET: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(0));
        Keyed(*SECRET)
    }
}

impl BuildHasher for Keyed {
    type Hasher = Mixed;

    #[inline]
    fn build_hasher(&self) -> Mixed {
        Mixed(self.0)
    }
}

/// Takes hashes; of one of 128 bits the low half is enough.
#[derive(Clone, Copy, Debug)]
pub struct Mixed(u64);

impl Hasher for Mixed {
    fn write(&mut self, bytes: &[u8]) {
        self.write_u64(xxh3_64(bytes));
    }

    #[inline]
    fn write_u32(&mut self, hash: u32) {
        self.write_u64(hash.into());
    }

    #[inline]
    fn write_u64(&mut self, hash: u64) {
        const ODD: u128 = 0x9e37_79b9_7f4a_7c15;
        let product = u128::from(self.0 ^ hash) * ODD;
        self.0 = product as u64 ^ (product >> 64) as u64;
    }

    #[inline]
    fn write_u128(&mut self, hash: u128) {
        self.write_u64(hash as u64);
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}

#[inline]
pub fn key(feature: &str) -> u64 {
    Hash::Xxh3.of(feature)
}

/// How many answers a [`Memo`] holds.
const REMEMBERED: usize = 1 << 20;

/// Answers about words, remembered so that a word is asked about once.
#[derive(Debug, Default)]
pub(super) struct Memo(ByHash<u64, i64>);

impl Memo {
    #[inline]
    pub(super) fn of(&mut self, word: &str, ask: impl FnOnce() -> i64) -> i64 {
        let key = key(word);
        if let Some(&answer) = self.0.get(&key) {
            return answer;
        }
        if self.0.len() == REMEMBERED {
            self.0.clear();
        }
        *self.0.entry(key).or_insert_with(ask)
    }
}
