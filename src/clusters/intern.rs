//! Gives pages numbers: the ends of all links are sorted by page, numbered, and sorted back.
//!
//! ```text
//! links       0: c-a   1: d-c
//! ends        a (0, existing)   c (0, new)   c (1, existing)   d (1, new)
//! pages       a = 0   c = 1   d = 2
//! numbered    0: 1-0   1: 2-1
//! ```
//!
//! Each sort spills to disk, so the memory does not depend on how many pages there are.

use serde::{Deserialize, Serialize};

use super::link::Link;
use super::method::Method;
use super::page::Page;
use super::removed::RemovedIds;
use super::row_set::RowSet;
use super::source::{Met, Source};
use crate::error::{Error, Kind, Result};
use crate::matches::allocated;
use crate::runs::{Record, SortedRecords, Sorter, Space};

/// Links whose pages have numbers.
pub(super) struct Interned {
    /// All pages, in order: their places are their numbers.
    pub(super) pages: SortedRecords<Page>,
    /// How many there are.
    pub(super) count: u32,
    /// The numbers of the pages whose id is that of the page before.
    pub(super) versions: RowSet,
    /// All links, in order.
    pub(super) links: SortedRecords<Link>,
}

/// One end of a link.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct End {
    page: Page,
    link: u64,
    detail: Detail,
}

/// The same, once its page has a number.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct NumberedEnd {
    link: u64,
    detail: Detail,
    row: u32,
}

/// Which end it is. The new one comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Detail {
    New { apart: u32, is_verdict: bool },
    Existing,
}

impl Record for End {
    fn bytes(&self) -> usize {
        size_of::<Self>() + allocated(&self.page.id)
    }
}

impl Record for NumberedEnd {}

/// Reads the links of all `sources` that count for `method`. Those with a page whose id is `removed` count for
/// nothing.
pub(super) fn intern(
    sources: &[Source],
    method: Method,
    removed: &RemovedIds,
    space: Space<'_>,
) -> Result<Interned> {
    let mut ends = space.sorter();
    let mut count = 0;
    for source in sources {
        source.each_match(method, space, &mut |met: Met<'_>| {
            if removed.contains(met.new) || removed.contains(met.existing) {
                return Ok(());
            }
            let Met { new, existing, day, apart, is_verdict } = met;
            let page = |id: &str, day| Page { id: id.to_owned(), day };
            let link = count;
            count += 1;
            let detail = Detail::New { apart, is_verdict };
            ends.push(End { page: page(new, source.day), link, detail })?;
            ends.push(End { page: page(existing, day), link, detail: Detail::Existing })
        })?;
    }
    number(ends, space)
}

/// Numbers the pages and puts the links together again.
fn number(ends: Sorter<End>, space: Space<'_>) -> Result<Interned> {
    let mut numbered = space.sorter();
    let mut distinct = Distinct {
        ends: ends.sorted()?,
        numbered: &mut numbered,
        last: None,
        count: 0,
        versions: RowSet::default(),
    };
    let pages = SortedRecords::through_disk(space.folder, &mut distinct)?;
    let Distinct { count, versions, .. } = distinct;
    let mut links = space.sorter();
    let mut new: Option<(u32, u32, bool)> = None;
    for end in numbered.sorted()? {
        let NumberedEnd { detail, row, .. } = end?;
        match (detail, new.take()) {
            (Detail::New { apart, is_verdict }, None) => new = Some((row, apart, is_verdict)),
            (Detail::Existing, Some((new, apart, is_verdict))) if new != row => {
                links.push(Link { new, existing: row, apart, is_verdict })?;
            }
            (Detail::Existing, Some(_)) => {
                return Err(Error::new(Kind::BadData, "a page is matched with itself")
                    .help("make the outputs that were given again"));
            }
            _ => return Err(Error::new(Kind::Internal, "a link has lost one of its ends")),
        }
    }
    Ok(Interned { pages, count, versions, links: links.sorted()? })
}

/// The distinct pages of sorted ends. On the way, the ends get the numbers of their pages.
struct Distinct<'a> {
    ends: SortedRecords<End>,
    numbered: &'a mut Sorter<NumberedEnd>,
    last: Option<Page>,
    count: u32,
    versions: RowSet,
}

impl Distinct<'_> {
    /// Takes an end, and returns its page if it is another one than before.
    fn take(&mut self, end: End) -> Result<Option<Page>> {
        let End { page, link, detail } = end;
        let is_new = self.last.as_ref() != Some(&page);
        if is_new {
            if self.last.as_ref().is_some_and(|last| last.id == page.id) {
                self.versions.insert(self.count);
            }
            self.count = self.count.checked_add(1).ok_or_else(too_many)?;
            self.last = Some(page.clone());
        }
        self.numbered.push(NumberedEnd { link, detail, row: self.count - 1 })?;
        Ok(is_new.then_some(page))
    }
}

impl Iterator for Distinct<'_> {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Result<Page>> {
        loop {
            let taken = self.ends.next()?.and_then(|end| self.take(end));
            if let Some(page) = taken.transpose() {
                return Some(page);
            }
        }
    }
}

/// The error for more pages than have numbers.
pub(super) fn too_many() -> Error {
    Error::new(Kind::Usage, "a clustering cannot have so many members")
        .expected(format_args!("at most {}", u32::MAX))
        .help("cluster fewer days together")
}
