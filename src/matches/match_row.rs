//! The row of matches.tsv: two documents, and how near they are.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use crate::matches::batch::allocated;
use crate::matches::{Against, Similarity};
use crate::runs::Record;

/// One near pair of documents. Rows are ordered as they are written: by the new id (as its rank among
/// the batch's ids), by distance, by the existing id's bytes, by what it stands in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Row {
    /// The rank of the new document's id among the ids of the batch.
    pub new: u32,
    /// The Hamming distance.
    pub distance: u8,
    /// The existing document's id.
    pub existing: String,
    /// Where that document stands.
    pub against: Against,
    /// How alike the two are, where that was checked.
    pub similarity: Option<Similarity>,
}

impl Row {
    /// The first line of matches.tsv.
    pub fn header(checked: bool) -> &'static str {
        match checked {
            true => "new\texisting\tdistance\tagainst\tcheck\n",
            false => "new\texisting\tdistance\tagainst\n",
        }
    }

    /// Writes the row as a line; `new` is the id whose rank the row holds.
    pub fn write(&self, new: &str, out: &mut dyn Write) -> io::Result<()> {
        let Row { distance, existing, against, similarity, .. } = self;
        match similarity {
            Some(similarity) => {
                writeln!(out, "{new}\t{existing}\t{distance}\t{against}\t{similarity}")
            }
            None => writeln!(out, "{new}\t{existing}\t{distance}\t{against}"),
        }
    }
}

impl Record for Row {
    fn bytes(&self) -> usize {
        size_of::<Self>() + allocated(&self.existing)
    }
}
