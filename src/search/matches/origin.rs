//! Where the existing document of a match comes from.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::store::Day;

/// The day of the store that holds the existing document, or the batch itself. Ordered as their texts
/// are. It is the column `against` of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) enum Origin {
    /// The store: added under this day.
    Day(Day),
    Batch,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Day(day) => day.fmt(f),
            Origin::Batch => f.write_str("batch"),
        }
    }
}

impl FromStr for Origin {
    type Err = Error;

    fn from_str(text: &str) -> Result<Origin> {
        match text {
            "batch" => Ok(Origin::Batch),
            day => day.parse().map(Origin::Day),
        }
    }
}
