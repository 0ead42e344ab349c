//! The spaces in which documents are points.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result, by_name};

/// What documents are compared by. Each space has one family of hashes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Space {
    /// Sets, by the share of all elements that they have in common.
    #[default]
    Jaccard,
    /// Weighted features or vectors, by the cosine of their angle.
    Cosine,
    /// Fingerprints, by the share of bits in which they agree.
    Hamming,
    /// Vectors, by 1 / (1 + their distance).
    Euclidean,
}

/// The names of the spaces; `minhash` is another one of the first.
const NAMES: [(&str, Space); 5] = [
    ("jaccard", Space::Jaccard),
    ("minhash", Space::Jaccard),
    ("cosine", Space::Cosine),
    ("hamming", Space::Hamming),
    ("euclidean", Space::Euclidean),
];

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = NAMES.iter().find(|(_, space)| space == self);
        f.pad(named.expect("every space has a name").0)
    }
}

impl FromStr for Space {
    type Err = Error;

    fn from_str(text: &str) -> Result<Space> {
        by_name(&NAMES, text, "there is no such family")
    }
}
