//! Fingerprints as integers, and the distance between them.

use std::fmt::Debug;
use std::hash::Hash;
use std::ops::{BitAnd, BitOr, BitXor, Not, Shl, Shr};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::fingerprint::Width;

/// A fingerprint of 64 bits (`u64`) or of 128 bits (`u128`), compared by Hamming distance.
pub trait Fingerprint:
    Copy
    + Ord
    + Hash
    + Debug
    + Default
    + Send
    + Sync
    + Serialize
    + DeserializeOwned
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
    + 'static
{
    /// The width of this type.
    const WIDTH: Width;
    /// The width in bits.
    const BITS: u32;
    /// The largest fingerprint: every bit set.
    const MAX: Self;

    /// The number of bits in which the two differ.
    fn distance(self, other: Self) -> u32;
    /// The same number in 128 bits.
    fn to_u128(self) -> u128;
    /// The low bits of `bits` that the width holds.
    fn from_u128(bits: u128) -> Self;
}

impl Fingerprint for u64 {
    const WIDTH: Width = Width::W64;
    const BITS: u32 = 64;
    const MAX: u64 = u64::MAX;

    #[inline]
    fn distance(self, other: u64) -> u32 {
        (self ^ other).count_ones()
    }

    #[inline]
    fn to_u128(self) -> u128 {
        u128::from(self)
    }

    #[inline]
    fn from_u128(bits: u128) -> u64 {
        bits as u64
    }
}

impl Fingerprint for u128 {
    const WIDTH: Width = Width::W128;
    const BITS: u32 = 128;
    const MAX: u128 = u128::MAX;

    #[inline]
    fn distance(self, other: u128) -> u32 {
        (self ^ other).count_ones()
    }

    #[inline]
    fn to_u128(self) -> u128 {
        self
    }

    #[inline]
    fn from_u128(bits: u128) -> u128 {
        bits
    }
}

/// The fingerprint as `0x` and lower-case hex digits, zero-padded to `width`.
///
/// ```
/// use dupsieve::fingerprint::{Fingerprint, Width, hex};
///
/// assert_eq!(hex(0xab, Width::W64), "0x00000000000000ab");
/// assert_eq!(0b0011_u64.distance(0b0101), 2);
/// ```
#[must_use]
pub fn hex(fingerprint: u128, width: Width) -> String {
    format!("0x{fingerprint:0digits$x}", digits = width.bits() as usize / 4)
}
