//! Files of lines: the lists of an output, and its tables in TSV.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use crate::error::{At, Error, Kind, Result};

const LINE_BYTES: u64 = 256 << 10;

pub(crate) struct Lines {
    path: PathBuf,
    lines: BufReader<File>,
    line: Vec<u8>,
    pub(crate) number: u64,
}

impl Lines {
    pub(crate) fn open(path: PathBuf) -> Result<Lines> {
        let lines = BufReader::with_capacity(1 << 20, File::open(&path).at(&path)?);
        Ok(Lines { path, lines, line: Vec::new(), number: 0 })
    }

    pub(crate) fn next(&mut self) -> Result<Option<&str>> {
        self.line.clear();
        let read = self.lines.by_ref().take(LINE_BYTES).read_until(b'\n', &mut self.line);
        if read.at(&self.path)? == 0 {
            return Ok(None);
        }
        self.number += 1;
        match self.line.strip_suffix(b"\n").map(str::from_utf8) {
            Some(Ok(line)) => Ok(Some(line)),
            _ => Err(wrong(&self.path, self.number, "not a complete line of UTF-8")),
        }
    }

    pub(crate) fn wrong(&self, what: &str) -> Error {
        wrong(&self.path, self.number, what)
    }
}

pub(super) fn wrong(path: &Path, line: u64, what: &str) -> Error {
    Error::new(Kind::BadData, what)
        .at(path)
        .line(line)
        .help("the files of the output contradict each other: make it again")
        .setting("overwrite")
}
