//! A 128-bit digest of contents: equal digests mean equal contents.

use std::fmt;
use std::str::FromStr;

use xxhash_rust::xxh3::xxh3_128;

use crate::error::{Error, Kind, Result, as_text};

/// An XXH3-128 digest, written as 32 lower-case hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub u128);

impl Digest {
    pub fn of(bytes: &[u8]) -> Digest {
        Digest(xxh3_128(bytes))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

impl FromStr for Digest {
    type Err = Error;

    fn from_str(text: &str) -> Result<Digest> {
        u128::from_str_radix(text, 16)
            .map(Digest)
            .ok()
            .filter(|digest| digest.to_string() == text)
            .ok_or_else(|| {
                Error::new(Kind::BadData, "not a digest")
                    .expected("32 lower-case hex digits")
                    .found(format_args!("`{text}`"))
            })
    }
}

as_text!(Digest);
