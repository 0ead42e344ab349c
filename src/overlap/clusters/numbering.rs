//! Gives pages numbers: those of a state and those of new links, in one pass over both in the order of pages. The number
//! of a page is its row in the next state.
//!
//! ```text
//! new links   0: c-a   1: d-c          ends, sorted   a (0, existing)   c (0, new)   c (1, existing)   d (1, new)
//! state       a   b                    pages          a = 0   b = 1   c = 2   d = 3
//!                                      links          0: 2-0   1: 3-2
//! ```
//!
//! Numbers keep the order, so the links of the state need no sort. Those of new links are sorted to disk by page, and back
//! by link; of a page of the state four bytes are in memory, however many there are.

use std::iter::{self, Peekable};

use serde::{Deserialize, Serialize};

use super::found::differs;
use super::link::Link;
use super::method::Method;
use super::page::Page;
use super::removed::RemovedIds;
use super::row_set::RowSet;
use super::source::{Met, Source};
use super::state::{ClusterState, Member};
use crate::error::{Error, Kind, Result};
use crate::runs::{Record, SortSpace, SortedRecords, Sorter, allocated, next_if};

/// In place of the number of a page that leaves.
const GONE: u32 = u32::MAX;

pub(super) struct Numbered {
    pub(super) pages: SortedRecords<Page>,
    pub(super) count: u32,
    /// The pages whose id is that of the page before.
    pub(super) versions: RowSet,
    pub(super) links: SortedRecords<Link>,
    pub(super) renumbered: Vec<u32>,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct End {
    page: Page,
    link: u64,
    detail: Detail,
}

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

/// Numbers the pages of `before` and of the matches of `sources` that count for `method`. What is linked with a `removed`
/// id counts for nothing, and a page without a link leaves.
pub(super) fn number(
    before: Option<&ClusterState>,
    sources: &[Source],
    method: Method,
    removed: &RemovedIds,
    space: SortSpace<'_>,
) -> Result<Numbered> {
    let ends = ends(sources, method, removed, space)?;
    let mut numbering = Numbering {
        standing: Box::new(before.map(ClusterState::pages).transpose()?.into_iter().flatten()),
        ends: ends.sorted()?.peekable(),
        staying: before.map(|before| staying(before, removed)).transpose()?.flatten(),
        old: None,
        numbered: space.sorter(),
        renumbered: Vec::new(),
        last: String::new(),
        count: 0,
        versions: RowSet::default(),
    };
    numbering.advance()?;
    let pages = SortedRecords::through_disk(space.folder, &mut numbering)?;
    let Numbering { numbered, renumbered, count, versions, .. } = numbering;
    if let Some(before) = before.filter(|before| before.members as usize != renumbered.len()) {
        let error = differs("members", &before.folder);
        return Err(error.expected(renumbered.len()).found(before.members));
    }
    Ok(Numbered { pages, count, versions, links: links(numbered, space)?, renumbered })
}

fn ends(
    sources: &[Source],
    method: Method,
    removed: &RemovedIds,
    space: SortSpace<'_>,
) -> Result<Sorter<End>> {
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
    Ok(ends)
}

/// The pages of a state that have a link with none of the `removed` ids; none if all have.
fn staying(state: &ClusterState, removed: &RemovedIds) -> Result<Option<RowSet>> {
    if removed.is_empty() {
        return Ok(None);
    }
    let (mut gone, mut linked) = (RowSet::default(), RowSet::default());
    for (row, member) in (0..).zip(state.pages()?) {
        if removed.contains(&member?.page.id) {
            gone.insert(row);
        }
    }
    for link in state.links()? {
        let pages = link.map(|link| [link.new, link.existing])?;
        if !pages.iter().any(|&page| gone.contains(page)) {
            linked.extend(pages);
        }
    }
    Ok(Some(linked))
}

struct Numbering {
    standing: Box<dyn Iterator<Item = Result<Member>>>,
    old: Option<Page>,
    staying: Option<RowSet>,
    renumbered: Vec<u32>,
    ends: Peekable<SortedRecords<End>>,
    numbered: Sorter<NumberedEnd>,
    last: String,
    count: u32,
    versions: RowSet,
}

impl Numbering {
    fn advance(&mut self) -> Result<()> {
        self.old = self.standing.next().transpose()?.map(|member| member.page);
        Ok(())
    }

    fn take(&mut self) -> Result<Option<Page>> {
        loop {
            let new = match self.ends.peek() {
                Some(Ok(end)) => Some(&end.page),
                Some(Err(error)) => return Err(error.clone()),
                None => None,
            };
            let Some(page) = self.old.as_ref().into_iter().chain(new).min().cloned() else {
                return Ok(None);
            };
            let row = self.count;
            let mut stays = false;
            while let Some(end) = next_if(&mut self.ends, |end| end.page == page)? {
                let End { link, detail, .. } = end;
                self.numbered.push(NumberedEnd { link, detail, row })?;
                stays = true;
            }
            if self.old.as_ref() == Some(&page) {
                let old = self.renumbered.len() as u32;
                stays |= self.staying.as_ref().is_none_or(|staying| staying.contains(old));
                self.renumbered.push(if stays { row } else { GONE });
                self.advance()?;
            }
            if stays {
                self.count = self.count.checked_add(1).ok_or_else(too_many)?;
                if row > 0 && self.last == page.id {
                    self.versions.insert(row);
                }
                self.last.clone_from(&page.id);
                return Ok(Some(page));
            }
        }
    }
}

impl Iterator for Numbering {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Result<Page>> {
        self.take().transpose()
    }
}

fn links(ends: Sorter<NumberedEnd>, space: SortSpace<'_>) -> Result<SortedRecords<Link>> {
    let mut links = space.sorter();
    let mut ends = ends.sorted()?;
    while let (Some(new), Some(existing)) = (ends.next(), ends.next()) {
        let (NumberedEnd { row: new, detail, .. }, existing) = (new?, existing?.row);
        let Detail::New { apart, is_verdict } = detail else {
            return Err(Error::new(Kind::Internal, "a link has lost one of its ends"));
        };
        if new == existing {
            return Err(Error::new(Kind::BadData, "a page is matched with itself")
                .help("make the outputs that were given again"));
        }
        links.push(Link { new, existing, apart, is_verdict })?;
    }
    links.sorted()
}

/// All links in order, one between two pages: those of the state `before` that count still, and the new ones.
pub(super) fn all_links(
    before: Option<&ClusterState>,
    renumbered: Vec<u32>,
    new: SortedRecords<Link>,
) -> Result<impl Iterator<Item = Result<Link>>> {
    let standing = before.map(ClusterState::links).transpose()?.into_iter().flatten();
    let standing = standing.filter_map(move |link| match link {
        Ok(link) => {
            let [new, existing] = [link.new, link.existing].map(|row| renumbered[row as usize]);
            (new != GONE && existing != GONE).then_some(Ok(Link { new, existing, ..link }))
        }
        error => Some(error),
    });
    let mut links = merged(standing, new).peekable();
    Ok(iter::from_fn(move || {
        let mut link = match links.next()? {
            Ok(link) => link,
            error => return Some(error),
        };
        while let Some(Ok(other)) =
            links.next_if(|next| next.as_ref().is_ok_and(|next| next.is_between_those_of(&link)))
        {
            link.merge(other);
        }
        Some(Ok(link))
    }))
}

fn merged<T: Ord>(
    one: impl Iterator<Item = Result<T>>,
    other: impl Iterator<Item = Result<T>>,
) -> impl Iterator<Item = Result<T>> {
    let (mut one, mut other) = (one.peekable(), other.peekable());
    iter::from_fn(move || match (one.peek(), other.peek()) {
        (Some(Ok(first)), Some(Ok(second))) if second < first => other.next(),
        (Some(_), _) => one.next(),
        (None, _) => other.next(),
    })
}

fn too_many() -> Error {
    Error::new(Kind::Usage, "a clustering cannot have so many members")
        .expected(format_args!("at most {}", u32::MAX))
        .help("cluster fewer days together")
}
