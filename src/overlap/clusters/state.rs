//! The state of a clustering in two files, to which the next day is added: the pages that are in a cluster, and the
//! links between them. A page is named by its row, which is its place in the order of pages.
//!
//! ```text
//! pages.bin                                       links.bin
//! row 0   a 2026-11-18   in the cluster of 0      1 - 0   2 bits apart, a verdict
//! row 1   b 2026-11-18   in the cluster of 0      2 - 1   3 bits apart
//! row 2   d 2026-11-19   in the cluster of 0
//! ```
//!
//! Both are sorted, and both are functions of the links: a day added to a state gives the bytes that all days give from
//! nothing. FORMAT.md describes them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::page::Page;
use crate::error::{At, Error, Kind, Result};
use crate::frames::{FrameFile, Magic};
use crate::output::{self, Staging, Sum};
use crate::runs::{Record, RecordReader, Sorter, next_if, record, write_records};

pub(super) type Named = (String, Sum);

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Member {
    pub(super) page: Page,
    /// The row of the page whose id the cluster has. Of several with that id it is the first.
    pub(super) cluster: u32,
}

record!(Member, page.id);

/// A match between two pages, by their rows. Ordered by both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Link {
    pub(super) new: u32,
    pub(super) existing: u32,
    /// The distance of both, in bits.
    pub(super) apart: u32,
    /// Whether it is the verdict: `new` was dropped as a duplicate of `existing`.
    pub(super) is_verdict: bool,
}

impl Record for Link {}

pub(super) trait StateRow: Record {
    const FILE: &str;
    const HEAD: Magic;
    /// Whether there is one for each member.
    const IS_MEMBER: bool;

    /// Whether it names rows of so many members, and follows on the `last` row.
    fn may_stand(&self, members: u32, last: Option<&Self>) -> bool;
}

impl StateRow for Member {
    const FILE: &str = "pages.bin";
    const HEAD: Magic = *b"DUPSPAGE\x01\0\0\0";
    const IS_MEMBER: bool = true;

    fn may_stand(&self, members: u32, last: Option<&Member>) -> bool {
        self.cluster < members && last.is_none_or(|last| self.page > last.page)
    }
}

impl StateRow for Link {
    const FILE: &str = "links.bin";
    const HEAD: Magic = *b"DUPSLINK\x01\0\0\0";
    const IS_MEMBER: bool = false;

    fn may_stand(&self, members: u32, last: Option<&Link>) -> bool {
        let ends = |link: &Link| (link.new, link.existing);
        self.new.max(self.existing) < members && last.is_none_or(|last| ends(self) > ends(last))
    }
}

#[derive(Clone, Debug)]
pub(super) struct ClusterState {
    pub(super) folder: PathBuf,
    pub(super) members: u32,
}

impl ClusterState {
    /// The state in `folder`, of which its report names so many members and these files.
    pub(super) fn of(
        folder: &Path,
        members: u64,
        files: &BTreeMap<String, Sum>,
    ) -> Result<ClusterState> {
        for name in [Member::FILE, Link::FILE] {
            let path = folder.join(name);
            let bytes = fs::metadata(&path).at(&path)?.len();
            if files.get(name).is_none_or(|sum| sum.bytes != bytes) {
                return Err(damaged("this is not the file that the report names").at(&path));
            }
        }
        let members = members.try_into();
        let members = members.map_err(|_| damaged("there are too many pages").at(folder))?;
        Ok(ClusterState { folder: folder.to_path_buf(), members })
    }

    pub(super) fn pages(&self) -> Result<StateRows<Member>> {
        StateRows::open(self)
    }

    pub(super) fn links(&self) -> Result<StateRows<Link>> {
        StateRows::open(self)
    }

    /// Calls `take` with each of the records and the page that it names by a row: all pages are passed once, beside records
    /// in the order of these rows.
    pub(super) fn each_with_page<R: Record>(
        &self,
        records: Sorter<R>,
        row_of: impl Fn(&R) -> u32,
        mut take: impl FnMut(R, &Page) -> Result<()>,
    ) -> Result<()> {
        let mut records = records.sorted()?.peekable();
        for (row, member) in (0..).zip(self.pages()?) {
            let page = member?.page;
            while let Some(record) = next_if(&mut records, |it| row_of(it) == row)? {
                take(record, &page)?;
            }
        }
        Ok(())
    }
}

pub(super) fn write<R: StateRow>(
    staging: &Staging,
    rows: impl Iterator<Item = Result<R>>,
) -> Result<Named> {
    let mut file = staging.create(R::FILE)?;
    file.write(|out| out.write_all(&R::HEAD))?;
    write_records(&mut file, &staging.folder().join(R::FILE), R::HEAD.len() as u64, rows)?;
    Ok((R::FILE.to_owned(), file.finish()?))
}

pub(super) struct StateRows<R> {
    path: PathBuf,
    records: RecordReader<R>,
    members: u32,
    read: u32,
    ahead: Option<Result<R>>,
}

impl<R: StateRow> StateRows<R> {
    fn open(state: &ClusterState) -> Result<StateRows<R>> {
        let path = state.folder.join(R::FILE);
        let records = open::<R>(&path)?;
        let mut rows = StateRows { path, records, members: state.members, read: 0, ahead: None };
        rows.ahead = rows.read(None).transpose();
        Ok(rows)
    }

    fn read(&mut self, last: Option<&R>) -> Result<Option<R>> {
        let Some(row) = self.records.next().transpose()? else {
            return match !R::IS_MEMBER || self.read == self.members {
                true => Ok(None),
                false => Err(differs("members", output::parent_of(&self.path))
                    .expected(self.read)
                    .found(self.members)),
            };
        };
        self.read = self.read.saturating_add(1);
        if row.may_stand(self.members, last) {
            return Ok(Some(row));
        }
        Err(damaged("the rows of the state contradict each other").at(&self.path))
    }
}

impl<R: StateRow> Iterator for StateRows<R> {
    type Item = Result<R>;

    fn next(&mut self) -> Option<Result<R>> {
        let row = self.ahead.take()?;
        if let Ok(row) = &row {
            self.ahead = self.read(Some(row)).transpose();
        }
        Some(row)
    }
}

fn open<R: StateRow>(path: &Path) -> Result<RecordReader<R>> {
    let file = FrameFile::open(path)?;
    if !file.begins_with(&R::HEAD)? {
        return Err(damaged("this is no file of clusters, or one of another version").at(path));
    }
    let end = file.bytes()?;
    Ok(RecordReader::open(file, R::HEAD.len() as u64..end, damaged))
}

pub(super) fn damaged(what: &str) -> Error {
    Error::new(Kind::BadData, what).help("make the clusters again, from nothing")
}

pub(super) fn differs(name: &str, folder: &Path) -> Error {
    Error::new(Kind::BadData, format!("the state gives another `{name}` than the report"))
        .at(folder.join("report.json"))
        .help("make the clusters again, from nothing")
        .setting("previous")
}
