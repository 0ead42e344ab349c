//! Maps whose keys are hashes of features already, so that a quick mix replaces hashing.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use crate::hash::Hash;

/// A map whose keys are hashes already, mixed with a secret: the hash functions of features are public, so the author of a page could
/// choose words that collide. Its order differs from one map to the next.
pub type ByHash<K, V> = HashMap<K, V, RandomState>;

/// A map with more room than this is replaced when it is cleared, so that one long text does not slow down
/// all texts after it: clearing a map, or iterating over it, takes time for all the room it has.
const CAPACITY: usize = 1 << 14;

pub fn clear<K, V>(map: &mut ByHash<K, V>) {
    if map.capacity() > CAPACITY {
        *map = ByHash::default();
    } else {
        map.clear();
    }
}

#[inline(always)]
pub fn key(feature: &str) -> u64 {
    Hash::Xxh3.of(feature)
}
