//! Fingerprints as integers, their width, and the distance between them.

use std::fmt::Debug;
use std::hash::Hash;
use std::ops::{BitAnd, BitOr, BitXor, Not, Shl, Shr};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{Error, Kind, Result};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Width {
    W64,
    W128,
}

impl Width {
    pub const fn bits(self) -> u32 {
        match self {
            Width::W64 => 64,
            Width::W128 => 128,
        }
    }

    pub fn of_bits(bits: u32) -> Option<Width> {
        [Width::W64, Width::W128].into_iter().find(|width| width.bits() == bits)
    }
}

impl Serialize for Width {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(self.bits())
    }
}

impl<'de> Deserialize<'de> for Width {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Width, D::Error> {
        let bits = u32::deserialize(deserializer)?;
        let wrong =
            || serde::de::Error::custom(format!("expected a width of 64 or 128, found {bits}"));
        Width::of_bits(bits).ok_or_else(wrong)
    }
}

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
    const WIDTH: Width;
    const BITS: u32 = Self::WIDTH.bits();
    const MAX: Self;

    fn distance(self, other: Self) -> u32;
    fn to_u128(self) -> u128;
    /// The low bits of `bits` that the width holds.
    fn from_u128(bits: u128) -> Self;
}

macro_rules! fingerprint {
    ($bits:ty, $width:expr) => {
        impl Fingerprint for $bits {
            const WIDTH: Width = $width;
            const MAX: $bits = <$bits>::MAX;

            #[inline]
            fn distance(self, other: $bits) -> u32 {
                (self ^ other).count_ones()
            }

            #[inline]
            fn to_u128(self) -> u128 {
                self.into()
            }

            #[inline]
            fn from_u128(bits: u128) -> $bits {
                bits as $bits
            }
        }
    };
}

fingerprint!(u64, Width::W64);
fingerprint!(u128, Width::W128);

/// The fingerprint as `0x` and lower-case hex digits, zero-padded to `width`.
pub fn hex(fingerprint: u128, width: Width) -> String {
    format!("0x{fingerprint:0digits$x}", digits = width.bits() as usize / 4)
}

/// Reads a fingerprint of `width` in hex, with or without `0x`.
pub fn of_hex(text: &str, width: Width) -> Result<u128> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    let is_hex = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let fingerprint = is_hex.then(|| u128::from_str_radix(digits, 16).ok()).flatten();
    let most = u128::MAX >> (u128::BITS - width.bits());
    fingerprint.filter(|&fingerprint| fingerprint <= most).ok_or_else(|| {
        Error::new(Kind::Usage, "not a fingerprint")
            .expected(format_args!("at most {} hex digits", width.bits() / 4))
            .found(format_args!("{text:.60}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_are_read_in_hex() {
        for (text, fingerprint) in [("0x0f", 15), ("F", 15), ("00000000000000000f", 15)] {
            assert_eq!(of_hex(text, Width::W64), Ok(fingerprint));
        }
        assert!(of_hex("10000000000000000", Width::W128).is_ok());
        for text in ["", "0x", "+f", "g", "10000000000000000", "0x0x1"] {
            assert_eq!(of_hex(text, Width::W64).unwrap_err().kind(), Kind::Usage, "{text}");
        }
    }
}
