//! The row of matches.tsv: two documents, and how near they are.

use std::fmt::{self, Write};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::numbers::IdRank;
use super::similarity::Similarity;
use crate::error::{Error, Result};
use crate::runs::record;
use crate::store::Day;

/// One near pair of documents. Rows are ordered as they are written: by the new id (as its rank among
/// the batch's ids), by distance, by the existing id's bytes, by where that one comes from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct MatchRow {
    /// The rank of the new document's id among the ids of the batch.
    pub new: IdRank,
    pub distance: u8,
    pub existing: String,
    pub(crate) origin: Origin,
    pub similarity: Option<Similarity>,
}

impl MatchRow {
    /// Adds the row as a line; `new` is the id whose rank the row holds, and `is_dropped` the verdict on it.
    pub(super) fn add_to(&self, new: &str, is_dropped: bool, lines: &mut String) {
        let MatchRow { distance, existing, origin, similarity, .. } = self;
        let row = format_args!("{new}\t{existing}\t{distance}\t{origin}");
        let verdict = if is_dropped { "drop" } else { "keep" };
        let added = match similarity {
            Some(similarity) => writeln!(lines, "{row}\t{similarity}\t{verdict}"),
            None => writeln!(lines, "{row}\t{verdict}"),
        };
        added.expect("a string takes any text");
    }
}

record!(MatchRow, existing);

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
