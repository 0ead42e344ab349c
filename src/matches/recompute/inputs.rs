//! What is recomputed, and the errors for an output that is not what its inputs give.

use std::path::Path;

use serde::Serialize;

use crate::error::{Error, Kind, Result};
use crate::matches::detail::Detail;
use crate::matches::outcome::Outcome;
use crate::runs::Space;
use crate::store::Dated;

/// Adds what to do about an output that is not what its inputs give.
pub(super) fn advised(error: Error) -> Error {
    error
        .help("the output is not what its batch and store give: make it again")
        .setting("overwrite")
}

/// The file with the counts.
const REPORT: &str = "report.json";

/// An output to be recomputed, which the [audit](crate::matches::Audit) has passed.
#[derive(Debug)]
pub struct Recompute<'a> {
    /// Its folder.
    pub output: &'a Path,
    /// What was counted when it was written.
    pub outcome: &'a Outcome,
    /// How many pairs the report says that the probe found, if it says so.
    pub pairs: Option<u64>,
    /// Whether a page of the batch may replace pages of the store that it holds.
    pub replaces: bool,
    /// The segments of the store it was made from.
    pub store: &'a [Dated],
    /// Which matches were written.
    pub detail: Detail,
    /// The least number of pages to join again; [`u64::MAX`] for all of them.
    pub sample: u64,
    /// The random seed of the sample.
    pub seed: u64,
    /// A place for spilled runs.
    pub spill: &'a Path,
    /// Memory in bytes, for each of three sorts, for what is kept of the batch, for the tables of the sample, and for
    /// what is looked up at once.
    pub memory_bytes: usize,
    /// How many threads there are.
    pub workers: usize,
}

/// What was recomputed and found right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recomputed {
    /// Rows of matches.tsv: all of them.
    pub rows: u64,
    /// Pages of the batch that were joined again.
    pub pages: u64,
    /// Whether these are all pages, so that the figures of the report that count all pairs were computed too.
    pub all: bool,
}

impl Recompute<'_> {
    /// The space of its sorts.
    pub(super) fn space(&self) -> Space<'_> {
        Space { folder: self.spill, memory_bytes: self.memory_bytes }
    }

    /// Fails unless the report says of `name` what the batch and the store give.
    pub(super) fn expect<T: PartialEq + Serialize>(
        &self,
        name: &str,
        computed: &T,
        told: &T,
    ) -> Result<()> {
        if computed == told {
            return Ok(());
        }
        let what = format!("the batch gives another `{name}` than the report");
        let [computed, told] = [computed, told].map(|it| serde_json::json!(it).to_string());
        let error = advised(Error::new(Kind::BadData, what).at(self.output.join(REPORT)));
        Err(error.expected(format_args!("{computed:.300}")).found(format_args!("{told:.300}")))
    }
}

/// The error for a row of the matches at `path`.
pub(super) fn wrong_row(path: &Path, line: u64, what: &str) -> Error {
    advised(Error::new(Kind::BadData, what).at(path).line(line))
}
