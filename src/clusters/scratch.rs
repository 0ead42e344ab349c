//! Clusters from nothing but matches: union-find over the numbers of pages, then names for the trees.
//!
//! Ids are never all in memory. The name of a cluster is the number of a page; its id reaches the members by
//! two sorts:
//!
//! ```text
//! (name, row)    sorted by name, beside the pages   ->  (row, id of the cluster), and the clusters
//! (row, id)      sorted by row, beside the pages    ->  the pages
//! ```

use std::iter::Peekable;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::contents::Contents;
use super::engine::{Engine, Portions};
use super::forest::Forest;
use super::intern::Interned;
use super::link::Link;
use super::method::Method;
use super::page::Page;
use super::row_set::RowSet;
use super::state::{GroupWriter, LinkCounts, LinkWriter, Named, PageRow, PageWriter, SharedLinks};
use crate::error::{Error, Kind, Result};
use crate::matches::allocated;
use crate::output::Staging;
use crate::runs::{Record, SortedRecords, Sorter, Space};

/// A row, after the page that names its cluster.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct NamedRow {
    name: u32,
    row: u32,
}

/// The cluster of a row.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Labelled {
    row: u32,
    cluster: String,
}

impl Record for NamedRow {}

impl Record for Labelled {
    fn bytes(&self) -> usize {
        size_of::<Self>() + allocated(&self.cluster)
    }
}

/// What a clustering from nothing has made: a state of one layer.
pub(super) struct Made {
    /// The files of the layer.
    pub(super) files: [Named; 3],
    pub(super) links: LinkCounts,
    pub(super) members: u64,
    pub(super) contents: Contents,
}

/// The number of the layer.
pub(super) const LAYER: u32 = 1;

/// Opens the links of a clustering from nothing in `folder`, as another process has written them.
///
/// # Errors
/// [`Kind::BadData`] if the file is damaged.
pub fn open_links(folder: &Path) -> Result<Arc<dyn Portions>> {
    Ok(Arc::new(SharedLinks::open(folder, LAYER)?))
}

/// Writes the first layer of a state.
pub(super) fn cluster(
    interned: Interned,
    method: Method,
    engine: &mut dyn Engine,
    staging: &Staging,
    space: Space<'_>,
) -> Result<Made> {
    let Interned { pages, count, versions, links } = interned;
    let (links_file, links, dropped) = write_links(links, staging)?;
    let forest = Arc::new(Forest::of(count));
    engine.unite(&forest, open_links(staging.folder())?)?;
    let names = match method {
        Method::Components => components(&forest, &versions, space),
        Method::Star => stars(&forest, &versions, &dropped, space),
    }?;
    drop(forest);
    let mut naming = Naming {
        pages,
        names: names.sorted()?.peekable(),
        row: 0,
        labelled: space.sorter(),
        groups: GroupWriter::create(staging, LAYER)?,
    };
    let pages = SortedRecords::through_disk(space.folder, &mut naming)?;
    let Naming { labelled, groups, .. } = naming;
    let groups = groups.finish()?;
    let (pages, contents) = write_pages(pages, labelled, staging)?;
    let files = [pages, groups, links_file];
    Ok(Made { files, links, members: u64::from(count), contents })
}

/// Writes the links, and finds the pages that were dropped.
fn write_links(
    links: SortedRecords<Link>,
    staging: &Staging,
) -> Result<(Named, LinkCounts, RowSet)> {
    let mut writer = LinkWriter::create(staging, LAYER)?;
    let mut dropped = RowSet::default();
    for link in links {
        let link = link?;
        if link.is_verdict {
            dropped.insert(link.new);
        }
        writer.push(link)?;
    }
    let (file, counts) = writer.finish()?;
    Ok((file, counts, dropped))
}

/// Names each page by the smallest page of its component.
fn components(forest: &Forest, versions: &RowSet, space: Space<'_>) -> Result<Sorter<NamedRow>> {
    let rows = || 0..forest.pages();
    rows().filter(|&row| versions.contains(row)).for_each(|row| forest.join(row - 1, row));
    let mut names = space.sorter();
    names.extend(rows().map(|row| NamedRow { name: forest.root(row), row }))?;
    Ok(names)
}

/// Names each page by the one of its star that was not dropped, as its first version.
fn stars(
    forest: &Forest,
    versions: &RowSet,
    dropped: &RowSet,
    space: Space<'_>,
) -> Result<Sorter<NamedRow>> {
    /// No page has this number.
    const NONE: u32 = u32::MAX;
    let rows = || 0..forest.pages();
    let mut kept = vec![NONE; forest.pages() as usize];
    for row in rows().filter(|&row| !dropped.contains(row)) {
        kept[forest.root(row) as usize] = row;
    }
    let mut names = space.sorter();
    for row in rows() {
        let mut name = kept[forest.root(row) as usize];
        if name == NONE {
            return Err(circle());
        }
        while versions.contains(name) {
            name -= 1;
        }
        names.push(NamedRow { name, row })?;
    }
    Ok(names)
}

/// The error for verdicts that drop each of several pages in favour of the next.
pub(super) fn circle() -> Error {
    Error::new(Kind::BadData, "the verdicts lead in a circle, to no page that was kept")
        .help("these outputs were not made one after the other with one store; make them again, or put all that are linked into one cluster")
        .setting("method components")
}

/// Passes the pages on. On the way, the rows that each page names get its id, and the clusters are written.
struct Naming {
    pages: SortedRecords<Page>,
    names: Peekable<SortedRecords<NamedRow>>,
    row: u32,
    labelled: Sorter<Labelled>,
    groups: GroupWriter,
}

impl Naming {
    fn take(&mut self, page: Page) -> Result<Page> {
        let own = self.row;
        let mut size = 0;
        while let Some(named) =
            self.names.next_if(|named| named.as_ref().map_or(true, |named| named.name == own))
        {
            let row = named?.row;
            size += 1;
            self.groups.member(&page.id, row)?;
            self.labelled.push(Labelled { row, cluster: page.id.clone() })?;
        }
        if size > 0 {
            self.groups.size(&page.id, size)?;
        }
        self.row += 1;
        Ok(page)
    }
}

impl Iterator for Naming {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Result<Page>> {
        let page = self.pages.next()?;
        Some(page.and_then(|page| self.take(page)))
    }
}

fn write_pages(
    pages: SortedRecords<Page>,
    labelled: Sorter<Labelled>,
    staging: &Staging,
) -> Result<(Named, Contents)> {
    let mut writer = PageWriter::create(staging, LAYER)?;
    let mut contents = Contents::default();
    for (page, labelled) in pages.zip(labelled.sorted()?) {
        let (Page { id, day }, Labelled { cluster, .. }) = (page?, labelled?);
        writer.push(&PageRow { id: &id, day, cluster: Some(&cluster), is_fresh: false })?;
        contents.add(&id, day, &cluster);
    }
    Ok((writer.finish()?, contents))
}
