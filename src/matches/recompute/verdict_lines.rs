//! The verdicts of an output, read back.

use std::path::Path;

use crate::error::{Error, Result};
use crate::matches::numbers::IdRank;
use crate::matches::recompute::inputs::advised;
use crate::matches::result_columns::VERDICTS;
use crate::results::ResultReader;

/// A line of verdicts.tsv on a page that has a fingerprint.
pub(super) struct VerdictLine {
    /// The rank of its id.
    pub(super) rank: IdRank,
    pub(super) id: String,
    pub(super) kept: bool,
    /// The columns of the page in whose favour the page is dropped: id, distance, against what, and
    /// the share that this page holds.
    pub(super) named: [String; 4],
}

/// The verdicts in the order of the file, which is that of the ids.
pub(super) struct VerdictLines {
    rows: ResultReader,
    rank: u32,
}

impl VerdictLines {
    /// Opens the verdicts of the output in this folder.
    pub(super) fn open(output: &Path) -> Result<VerdictLines> {
        Ok(VerdictLines { rows: ResultReader::of(output, VERDICTS)?, rank: 0 })
    }

    pub(super) fn next(&mut self) -> Result<Option<VerdictLine>> {
        while let Some(line) = self.rows.next_row()? {
            let fields: Vec<&str> = line.split('\t').collect();
            let [id, verdict, of, distance, against, ref shares @ ..] = fields[..] else {
                return Err(self.rows.wrong("too few columns"));
            };
            let held = shares.first().copied().unwrap_or_default();
            if verdict == "empty" {
                continue;
            }
            let id = id.to_owned();
            let kept = verdict == "keep";
            let named = [of, distance, against, held].map(str::to_owned);
            let rank = IdRank::from(self.rank);
            self.rank += 1;
            return Ok(Some(VerdictLine { rank, id, kept, named }));
        }
        Ok(None)
    }

    /// The error for the line that was read last.
    pub(super) fn wrong(&self, what: &str) -> Error {
        advised(self.rows.wrong(what))
    }
}
