//! The row of matches.tsv: two documents, and how near they are.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use super::allocated::allocated;
use super::numbers::IdRank;
use super::origin::Origin;
use super::similarity::Similarity;
use crate::runs::Record;

/// One near pair of documents. Rows are ordered as they are written: by the new id (as its rank among
/// the batch's ids), by distance, by the existing id's bytes, by where that one comes from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct MatchRow {
    /// The rank of the new document's id among the ids of the batch.
    pub(super) new: IdRank,
    /// The Hamming distance.
    pub(super) distance: u8,
    /// The existing document's id.
    pub(super) existing: String,
    /// Where that document comes from.
    pub(super) origin: Origin,
    /// How alike the two are, where that was checked.
    pub(super) similarity: Option<Similarity>,
}

impl MatchRow {
    /// The first line of matches.tsv.
    pub(super) fn header(checked: bool) -> &'static str {
        if checked {
            "new\texisting\tdistance\tagainst\tcheck\n"
        } else {
            "new\texisting\tdistance\tagainst\n"
        }
    }

    /// Writes the row as a line; `new` is the id whose rank the row holds.
    pub(super) fn write(&self, new: &str, out: &mut dyn Write) -> io::Result<()> {
        let MatchRow { distance, existing, origin, similarity, .. } = self;
        match similarity {
            Some(similarity) => {
                writeln!(out, "{new}\t{existing}\t{distance}\t{origin}\t{similarity}")
            }
            None => writeln!(out, "{new}\t{existing}\t{distance}\t{origin}"),
        }
    }
}

impl Record for MatchRow {
    fn bytes(&self) -> usize {
        size_of::<Self>() + allocated(&self.existing)
    }
}
