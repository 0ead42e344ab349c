//! clusters.tsv and sizes.tsv, read and written line by line.

use std::path::{Path, PathBuf};

use super::page::PageDay;
use crate::error::{Error, Kind, Result};
use crate::matches::Lines;
use crate::output::{OutputFile, Staging, Sum};
use crate::progress::{self, Activity};

/// The files of a clustering that people read.
pub(super) const CLUSTERS: &str = "clusters.tsv";
pub(super) const SIZES: &str = "sizes.tsv";
pub(super) const CHANGES: &str = "changes.tsv";

/// How many rows are read between two signs of progress.
const ROWS_A_TICK: u64 = 1 << 16;

/// A line of clusters.tsv.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row<'a> {
    pub(super) id: &'a str,
    pub(super) day: PageDay,
    pub(super) cluster: &'a str,
}

/// The first line of clusters.tsv.
const ROW_HEADER: &str = "member\tcluster\tday";
/// The first line of sizes.tsv.
const SIZE_HEADER: &str = "cluster\tsize";

/// clusters.tsv, being read.
pub(super) struct RowReader {
    path: PathBuf,
    lines: Lines,
}

impl RowReader {
    pub(super) fn open(folder: &Path) -> Result<RowReader> {
        let path = folder.join(CLUSTERS);
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

/// clusters.tsv, being written.
pub(super) struct RowWriter {
    file: OutputFile,
    pub(super) rows: u64,
}

impl RowWriter {
    pub(super) fn create(staging: &Staging) -> Result<RowWriter> {
        let mut file = staging.create(CLUSTERS)?;
        file.write(|out| writeln!(out, "{}", ROW_HEADER))?;
        Ok(RowWriter { file, rows: 0 })
    }

    pub(super) fn push(&mut self, row: Row<'_>) -> Result<()> {
        let Row { id, day, cluster } = row;
        self.rows += 1;
        self.file.write(|out| writeln!(out, "{id}\t{cluster}\t{day}"))
    }

    pub(super) fn finish(self) -> Result<Sum> {
        self.file.finish()
    }
}

/// sizes.tsv, being written.
pub(super) struct SizeWriter {
    file: OutputFile,
    pub(super) clusters: u64,
}

impl SizeWriter {
    pub(super) fn create(staging: &Staging) -> Result<SizeWriter> {
        let mut file = staging.create(SIZES)?;
        file.write(|out| writeln!(out, "{}", SIZE_HEADER))?;
        Ok(SizeWriter { file, clusters: 0 })
    }

    pub(super) fn push(&mut self, size: u64, cluster: &str) -> Result<()> {
        self.clusters += 1;
        self.file.write(|out| writeln!(out, "{cluster}\t{size}"))
    }

    pub(super) fn finish(self) -> Result<Sum> {
        self.file.finish()
    }
}
