//! The tables of clusters, sizes and changes: their rows, written; and clusters.tsv of older states, read.

use std::path::{Path, PathBuf};

use super::page::PageDay;
use super::state::Named;
use crate::error::{Error, Kind, Result};
use crate::output::Staging;
use crate::progress::{self, Activity};
use crate::results::{Lines, ResultColumn, ResultFile, ResultFormat, Values};

/// The tables of a clustering that people read.
pub(super) const CLUSTERS: &str = "clusters";
pub(super) const SIZES: &str = "sizes";
pub(super) const CHANGES: &str = "changes";

/// How many rows are read between two signs of progress.
const ROWS_A_TICK: u64 = 1 << 16;

/// A row of the clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row<'a> {
    pub(super) id: &'a str,
    pub(super) day: PageDay,
    pub(super) cluster: &'a str,
}

/// The first line of clusters.tsv.
const ROW_HEADER: &str = "member\tcluster\tday";

/// clusters.tsv of a state without layers, being read.
pub(super) struct RowReader {
    path: PathBuf,
    lines: Lines,
}

impl RowReader {
    pub(super) fn open(folder: &Path) -> Result<RowReader> {
        let path = folder.join("clusters.tsv");
        let mut lines = Lines::open(path.clone())?;
        lines.expect_header(ROW_HEADER)?;
        Ok(RowReader { path, lines })
    }

    pub(super) fn next(&mut self) -> Result<Option<Row<'_>>> {
        let number = self.lines.number() + 1;
        if number.is_multiple_of(ROWS_A_TICK) {
            progress::tick(Activity::Reading);
        }
        let Some(line) = self.lines.next()? else { return Ok(None) };
        let row = || {
            let (id, rest) = line.split_once('\t')?;
            let (cluster, day) = rest.split_once('\t')?;
            Some(Row { id, day: PageDay::read(day)?, cluster })
        };
        row().map(Some).ok_or_else(|| wrong(&self.path, number))
    }
}

/// The error for a line that cannot be read.
fn wrong(path: &Path, line: u64) -> Error {
    Error::new(Kind::BadData, "dupsieve does not write such a line; the file was changed")
        .at(path)
        .line(line)
        .help("make the clusters again, without --previous")
}

/// The columns of the clusters.
fn row_columns() -> [ResultColumn; 3] {
    [
        ResultColumn::new("member", Values::Text).ascending(),
        ResultColumn::new("cluster", Values::Names),
        ResultColumn::new("day", Values::Day).or_null(),
    ]
}

/// The columns of the sizes.
fn size_columns() -> [ResultColumn; 2] {
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
