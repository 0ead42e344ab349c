//! Gives pages numbers: those of a state and those of new matches, in their order. The number of a page is its row in the next
//! state.
//!
//! ```text
//! state       row 0: a   row 1: b
//! matches     0: c-a   1: d-c
//! mentions    a (row 0)   a (existing of 0)   b (row 1)   c (new of 0)   c (existing of 1)   d (new of 1)
//! pages       a = 0   b = 1   c = 2   d = 3
//! links       0: 2-0   1: 3-2
//! ```
//!
//! What is new is sorted on disk, by page and then by link, and merged with the state, which is read in its order: its pages twice, its
//! links once, and both once more where ids are removed. In memory are four bytes of each page of the state.

use std::collections::BTreeSet;
use std::iter;
use std::path::Path;

use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};

use super::page::Page;
use super::source::{Met, Method, Source};
use super::state::{ClusterState, Link};
use crate::document::each_id;
use crate::error::{Error, Kind, Result};
use crate::runs::{Record, SortSpace, Sorter, merged, record};
use crate::store::Digest;

/// In place of the number of a page that leaves.
const GONE: u32 = u32::MAX;

pub(super) struct Numbered {
    /// Those of the state that stay, and the new ones.
    pub(super) pages: Box<dyn Iterator<Item = Result<Page>>>,
    pub(super) count: u32,
    /// The pages whose id is that of the page before.
    pub(super) versions: RoaringBitmap,
    /// Those of the state that count still, and the new ones. There may be several between two pages.
    pub(super) links: Box<dyn Iterator<Item = Result<Link>>>,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Mention {
    page: Page,
    by: Mentioned,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Mentioned {
    /// By this row of the state.
    Row(u32),
    End(End),
}

/// An end of a new link. The new page comes first.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct End {
    link: u64,
    is_existing: bool,
    apart: u32,
    is_verdict: bool,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct NumberedEnd {
    end: End,
    row: u32,
}

record!(Mention, page.id);

impl Record for NumberedEnd {}

/// A set of ids whose pages leave a clustering.
#[derive(Debug, Default)]
pub struct RemovedIds(BTreeSet<String>);

impl RemovedIds {
    /// Reads a list, one id a line in any order. Blank lines are ignored. The set takes at most about `memory_bytes`.
    ///
    /// # Errors
    /// [`Kind::BadData`] if a line is no id; [`Kind::Usage`] if the list needs more memory.
    pub fn read(path: &Path, memory_bytes: u64) -> Result<RemovedIds> {
        let (mut ids, mut bytes) = (BTreeSet::new(), 0);
        each_id(path, |_, id| {
            bytes += (size_of::<String>() + id.len()) as u64;
            if bytes > memory_bytes {
                return Err(Error::new(Kind::Usage, "the list of ids needs too much memory")
                    .at(path)
                    .expected(format_args!("at most {memory_bytes} bytes"))
                    .help("allow more memory")
                    .setting("memory"));
            }
            ids.insert(String::from_utf8_lossy(id).into_owned());
            Ok(())
        })?;
        Ok(RemovedIds(ids))
    }

    /// The digest of the set.
    pub fn digest(&self) -> Digest {
        let ids: Vec<&str> = self.0.iter().map(String::as_str).collect();
        Digest::of(ids.join("\n").as_bytes())
    }
}

impl<'a> FromIterator<&'a str> for RemovedIds {
    fn from_iter<I: IntoIterator<Item = &'a str>>(ids: I) -> RemovedIds {
        RemovedIds(ids.into_iter().map(str::to_owned).collect())
    }
}

/// Numbers the pages of `before` and of the matches of `sources` that count for `method`. What is linked with a `removed`
/// id counts for nothing, and a page without a link leaves.
pub(super) fn number(
    before: Option<&ClusterState>,
    sources: &[Source],
    method: Method,
    removed: &RemovedIds,
    space: SortSpace<'_>,
) -> Result<Numbered> {
    let mut mentions = space.sorter();
    mention_matches(sources, method, removed, space, &mut mentions)?;
    let stay = before.map(|state| rows_that_stay(state, removed)).transpose()?;
    let standing = || pages_that_stay(before, stay.clone().unwrap_or_default());
    let rows =
        standing()?.map(|page| page.map(|(row, page)| Mention { page, by: Mentioned::Row(row) }));
    let mut renumbered = Vec::new();
    let (mut fresh, mut ends) = (space.sorter(), space.sorter());
    let mut versions = RoaringBitmap::new();
    let (mut count, mut last) = (0_u32, None::<Page>);
    for mention in merged(rows, mentions.sorted()?) {
        let Mention { page, by } = mention?;
        let is_new = last.as_ref() != Some(&page);
        if is_new {
            if last.is_some_and(|last| last.id == page.id) {
                versions.insert(count);
            }
            count = count.checked_add(1).ok_or_else(too_many)?;
        }
        let row = count - 1;
        match by {
            Mentioned::Row(old) => {
                renumbered.resize(old as usize, GONE);
                renumbered.push(row);
            }
            Mentioned::End(end) => {
                if is_new {
                    fresh.push(page.clone())?;
                }
                ends.push(NumberedEnd { end, row })?;
            }
        }
        last = Some(page);
    }
    // All pages of the state were read, and they are as many as its report says.
    renumbered.resize(before.map_or(0, |state| state.members as usize), GONE);
    let standing = standing()?.map(|page| page.map(|(_, page)| page));
    let pages = Box::new(merged(standing, fresh.sorted()?));
    let mut links = space.sorter();
    link_ends(ends, &mut links)?;
    let standing = before.map(ClusterState::links).transpose()?.into_iter().flatten();
    let standing = standing.filter_map(move |link| {
        let ends = |link: &Link| [link.new, link.existing].map(|row| renumbered[row as usize]);
        match link {
            Ok(link) if ends(&link).contains(&GONE) => None,
            Ok(link) => {
                let [new, existing] = ends(&link);
                Some(Ok(Link { new, existing, ..link }))
            }
            error => Some(error),
        }
    });
    let links = Box::new(merged(standing, links.sorted()?));
    Ok(Numbered { pages, count, versions, links })
}

fn mention_matches(
    sources: &[Source],
    method: Method,
    RemovedIds(removed): &RemovedIds,
    space: SortSpace<'_>,
    mentions: &mut Sorter<Mention>,
) -> Result<()> {
    let mut link = 0;
    for source in sources {
        source.each_match(method, space, &mut |met: Met<'_>| {
            let Met { new, existing, day, apart, is_verdict } = met;
            if removed.contains(new) || removed.contains(existing) {
                return Ok(());
            }
            for (id, day, is_existing) in [(new, source.day, false), (existing, day, true)] {
                let page = Page { id: id.to_owned(), day };
                let end = End { link, is_existing, apart, is_verdict };
                mentions.push(Mention { page, by: Mentioned::End(end) })?;
            }
            link += 1;
            Ok(())
        })?;
    }
    Ok(())
}

/// The rows of a state that have a link with none of the `removed` ids.
fn rows_that_stay(state: &ClusterState, RemovedIds(removed): &RemovedIds) -> Result<RoaringBitmap> {
    let mut stay = RoaringBitmap::new();
    if removed.is_empty() {
        stay.insert_range(..state.members);
        return Ok(stay);
    }
    let mut gone = RoaringBitmap::new();
    for (row, member) in (0..).zip(state.pages()?) {
        if removed.contains(&member?.page.id) {
            gone.insert(row);
        }
    }
    for link in state.links()? {
        let pages = link.map(|link| [link.new, link.existing])?;
        if !pages.iter().any(|&page| gone.contains(page)) {
            stay.extend(pages);
        }
    }
    Ok(stay)
}

/// The pages of a state in these rows, with their row.
fn pages_that_stay(
    state: Option<&ClusterState>,
    stay: RoaringBitmap,
) -> Result<impl Iterator<Item = Result<(u32, Page)>> + use<>> {
    let members = state.map(ClusterState::pages).transpose()?.into_iter().flatten();
    Ok((0..).zip(members).filter_map(move |(row, member)| match member {
        Ok(member) => stay.contains(row).then_some(Ok((row, member.page))),
        Err(error) => Some(Err(error)),
    }))
}

fn link_ends(ends: Sorter<NumberedEnd>, links: &mut Sorter<Link>) -> Result<()> {
    let mut ends = ends.sorted()?;
    while let (Some(new), Some(existing)) = (ends.next(), ends.next()) {
        let (NumberedEnd { end, row: new }, existing) = (new?, existing?.row);
        if new == existing {
            return Err(Error::new(Kind::BadData, "a page is matched with itself")
                .help("make the outputs that were given again"));
        }
        let End { apart, is_verdict, .. } = end;
        links.push(Link { new, existing, apart, is_verdict })?;
    }
    Ok(())
}

/// The links in order, of several between two pages one: the least distance, and whether one of them is the verdict.
pub(super) fn distinct(
    links: impl Iterator<Item = Result<Link>>,
) -> impl Iterator<Item = Result<Link>> {
    let mut links = links.peekable();
    iter::from_fn(move || {
        let mut link = match links.next()? {
            Ok(link) => link,
            error => return Some(error),
        };
        let Link { new, existing, .. } = link;
        let is_same = |next: &Result<Link>| {
            next.as_ref().is_ok_and(|next| (next.new, next.existing) == (new, existing))
        };
        while let Some(Ok(other)) = links.next_if(is_same) {
            link.apart = link.apart.min(other.apart);
            link.is_verdict |= other.is_verdict;
        }
        Some(Ok(link))
    })
}

fn too_many() -> Error {
    Error::new(Kind::Usage, "a clustering cannot have so many members")
        .expected(format_args!("at most {}", u32::MAX))
        .help("cluster fewer days together")
}
