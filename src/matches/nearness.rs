//! What a match carries: a distance, or a similarity.

use std::fmt::{self, Debug, Display};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::similarity::Similarity;
use crate::results::{ResultColumn, Values};

/// How near two pages are, the nearest first. The keep rule takes either sort.
pub(crate) trait Nearness:
    Copy + Ord + Send + Sync + Debug + Display + Serialize + DeserializeOwned
{
    /// Its column.
    const COLUMN: ResultColumn;
    /// That of a page and its copy.
    const SAME: Self;
    /// Stands for a kept group; no two pages are as far apart.
    const KEPT: Self;
    /// Stands for a dropped group that no kept group of the batch is near to, likewise.
    const ALONE: Self;

    /// Reads what its column shows.
    fn read(text: &str) -> Option<Self>;

    /// The distance, unless this is a similarity.
    fn distance(self) -> Option<u32>;
}

/// The Hamming distance of fingerprints.
impl Nearness for u8 {
    const COLUMN: ResultColumn = ResultColumn::new("distance", Values::Bits);
    const SAME: u8 = 0;
    const KEPT: u8 = u8::MAX;
    const ALONE: u8 = u8::MAX - 1;

    fn read(text: &str) -> Option<u8> {
        text.parse().ok()
    }

    fn distance(self) -> Option<u32> {
        Some(self.into())
    }
}

/// A similarity as a distance: what is missing to 1, in ten-thousandths. It is shown as the similarity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Unlikeness(u16);

impl Unlikeness {
    /// The ten-thousandths.
    pub(crate) fn missing(self) -> u16 {
        self.0
    }

    /// That of pages to whose similarity so many ten-thousandths are missing.
    pub(crate) fn of_missing(missing: u16) -> Unlikeness {
        Unlikeness(missing)
    }
}

impl From<Similarity> for Unlikeness {
    fn from(similarity: Similarity) -> Unlikeness {
        Unlikeness(similarity.missing())
    }
}

impl Nearness for Unlikeness {
    const COLUMN: ResultColumn = ResultColumn::new("similarity", Values::Share);
    const SAME: Unlikeness = Unlikeness(0);
    const KEPT: Unlikeness = Unlikeness(u16::MAX);
    const ALONE: Unlikeness = Unlikeness(u16::MAX - 1);

    fn read(text: &str) -> Option<Unlikeness> {
        let similarity: Similarity = text.parse().ok()?;
        (similarity.to_string() == text).then(|| similarity.into())
    }

    fn distance(self) -> Option<u32> {
        None
    }
}

impl Display for Unlikeness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(&Similarity::missing_of(self.0), f)
    }
}
