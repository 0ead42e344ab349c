//! The tables of clusters, sizes and changes: their rows, written.

use super::page::PageDay;
use super::state::Named;
use crate::error::Result;
use crate::output::Staging;
use crate::results::{ResultColumn, ResultFile, ResultFormat, Values};

/// The tables of a clustering that people read.
pub(super) const CLUSTERS: &str = "clusters";
pub(super) const SIZES: &str = "sizes";
pub(super) const CHANGES: &str = "changes";

/// A row of the clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row<'a> {
    pub(super) id: &'a str,
    pub(super) day: PageDay,
    pub(super) cluster: &'a str,
}

/// The columns of the clusters.
pub(super) fn row_columns() -> [ResultColumn; 3] {
    [
        ResultColumn::new("member", Values::Text).ascending(),
        ResultColumn::new("cluster", Values::Names),
        ResultColumn::new("day", Values::Day).or_null(),
    ]
}

/// The columns of the sizes.
pub(super) fn size_columns() -> [ResultColumn; 2] {
    [
        ResultColumn::new("cluster", Values::Text),
        ResultColumn::new("size", Values::Count).descending(),
    ]
}

/// The columns of the changes.
pub(super) fn change_columns() -> [ResultColumn; 4] {
    [
        ResultColumn::new("cluster", Values::Names).ascending(),
        ResultColumn::new("member", Values::Text),
        ResultColumn::new("diff", Values::Change),
        ResultColumn::new("day", Values::Day).or_null(),
    ]
}

/// The table of clusters, being written.
pub(super) struct RowWriter(ResultFile);

impl RowWriter {
    pub(super) fn create(staging: &Staging, format: ResultFormat) -> Result<RowWriter> {
        ResultFile::create(staging, format, CLUSTERS, &row_columns()).map(RowWriter)
    }

    pub(super) fn push(&mut self, row: Row<'_>) -> Result<()> {
        let Row { id, day, cluster } = row;
        self.0.row(format_args!("{id}\t{cluster}\t{day}"))
    }

    pub(super) fn finish(self) -> Result<Named> {
        self.0.finish()
    }
}

/// The table of sizes, being written.
pub(super) struct SizeWriter(ResultFile);

impl SizeWriter {
    pub(super) fn create(staging: &Staging, format: ResultFormat) -> Result<SizeWriter> {
        ResultFile::create(staging, format, SIZES, &size_columns()).map(SizeWriter)
    }

    pub(super) fn push(&mut self, size: u64, cluster: &str) -> Result<()> {
        self.0.row(format_args!("{cluster}\t{size}"))
    }

    pub(super) fn finish(self) -> Result<Named> {
        self.0.finish()
    }
}
