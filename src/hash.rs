//! Bytes to integers: the hashes that turn a feature into bits.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

/// A hash function a recipe can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hash {
    /// XXH3 with seed 0, in its 64 or its 128 bit form: two functions, the narrow one not always
    /// the low half of the wide one.
    Xxh3,
}

/// An integer that a hash can fill: `u64` or `u128`.
pub trait Hashed: Sized {
    /// XXH3 with seed 0, as wide as the type.
    fn xxh3(bytes: &[u8]) -> Self;
}

impl Hashed for u64 {
    #[inline]
    fn xxh3(bytes: &[u8]) -> u64 {
        xxh3_64(bytes)
    }
}

impl Hashed for u128 {
    #[inline]
    fn xxh3(bytes: &[u8]) -> u128 {
        xxh3_128(bytes)
    }
}

impl Hash {
    /// The hash of `bytes`, as wide as `H`.
    #[inline]
    pub fn of<H: Hashed>(self, bytes: &[u8]) -> H {
        match self {
            Hash::Xxh3 => H::xxh3(bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published values of XXH3 for no bytes at all.
    #[test]
    fn xxh3_answers_as_published() {
        assert_eq!(Hash::Xxh3.of::<u64>(b""), 0x2d06800538d394c2);
        assert_eq!(Hash::Xxh3.of::<u128>(b""), 0x99aa06d3014798d86001c324468d497f);
    }
}
