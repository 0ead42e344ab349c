//! Maps by hash: what is known of features, by hashes that need no hashing again.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use xxhash_rust::xxh3::xxh3_64;

/// A map whose keys are hashes already.
pub type ByHash<K, V> = HashMap<K, V, BuildHasherDefault<AsItIs>>;

/// Hands a hash on as it is: the low 64 bits of what it is given.
#[derive(Clone, Copy, Debug, Default)]
pub struct AsItIs(u64);

impl Hasher for AsItIs {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, &byte| hash.rotate_left(8) ^ u64::from(byte));
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn write_u128(&mut self, hash: u128) {
        self.0 = hash as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// The key by which a feature is known.
#[inline]
pub fn key(feature: &str) -> u64 {
    xxh3_64(feature.as_bytes())
}

/// How many answers a [`Memo`] holds.
const REMEMBERED: usize = 1 << 20;

/// Answers about words, remembered so that a word is asked about once.
#[derive(Debug, Default)]
pub(super) struct Memo(ByHash<u64, i64>);

impl Memo {
    /// What `ask` answers for `word`.
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
