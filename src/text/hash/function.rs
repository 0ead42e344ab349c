//! The hash functions that a recipe can name.

use md5::{Digest, Md5};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::jenkins::lookup3;
use super::xxh3_short::xxh3_short;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Hash {
    /// XXH3 with seed 0, in its 64 or its 128 bit form. These are two functions: the narrow hash is not
    /// always the low half of the wide one.
    Xxh3,
    /// Jenkins' lookup3, with the halves combined as in the C++ library simhash of yanyiwu.
    Lookup3,
    /// The multiplicative string hash of the classic Charikar simhash in Python, over code points.
    Charikar,
    /// MD5, its last bytes read as a big-endian number, as in the package simhash of PyPI.
    Md5,
}

/// An integer as wide as a hash: `u64` or `u128`.
pub trait Hashed: Sized {
    fn hashed(hash: Hash, feature: &str) -> Self;
}

impl Hashed for u64 {
    #[inline(always)]
    fn hashed(hash: Hash, feature: &str) -> u64 {
        match (hash, xxh3_short(feature.as_bytes())) {
            (Hash::Xxh3, Some(short)) => short,
            _ => hashed_64(hash, feature),
        }
    }
}

/// The same for a feature of any length. It is seldom called, so it is not inlined.
#[inline(never)]
fn hashed_64(hash: Hash, feature: &str) -> u64 {
    match hash {
        Hash::Xxh3 => xxh3_64(feature.as_bytes()),
        Hash::Lookup3 => lookup3(feature.as_bytes(), 0),
        Hash::Charikar => string_hash(feature) as u64,
        Hash::Md5 => md5(feature) as u64,
    }
}

impl Hashed for u128 {
    /// Lookup3 is run twice, and the high half has another seed.
    #[inline]
    fn hashed(hash: Hash, feature: &str) -> u128 {
        match hash {
            Hash::Xxh3 => xxh3_128(feature.as_bytes()),
            Hash::Lookup3 => {
                let half = |seed| u128::from(lookup3(feature.as_bytes(), seed));
                half(1) << 64 | half(0)
            }
            Hash::Charikar => string_hash(feature),
            Hash::Md5 => md5(feature),
        }
    }
}

fn md5(feature: &str) -> u128 {
    u128::from_be_bytes(Md5::digest(feature.as_bytes()).into())
}

/// The low w bits are the hash of w bits: multiplication and exclusive or never carry a bit downwards.
fn string_hash(text: &str) -> u128 {
    let first = text.chars().next().map_or(0, |c| u128::from(c) << 7);
    let (hash, length) = text.chars().fold((first, 0), |(hash, length), c| {
        (hash.wrapping_mul(1_000_003) ^ u128::from(c), length + 1)
    });
    hash ^ length
}

impl Hash {
    #[inline(always)]
    pub fn of<H: Hashed>(self, feature: &str) -> H {
        H::hashed(self, feature)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrow_hash_of_others_is_the_low_half_of_the_wide_one() {
        for hash in [Hash::Lookup3, Hash::Charikar, Hash::Md5] {
            for feature in ["", "a", "飞碟", "a longer feature, of several words"] {
                assert_eq!(hash.of::<u64>(feature), hash.of::<u128>(feature) as u64);
            }
        }
        let wide: u128 = Hash::Lookup3.of("飞碟");
        assert_ne!((wide >> 64) as u64, wide as u64);
    }
}
