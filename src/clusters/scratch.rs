//! Clusters from nothing but matches: union-find over the numbers of pages, then names for the trees.
//!
//! Ids are never all in memory. The name of a cluster is the number of a page; its id reaches the members by
//! two sorts:
//!
//! ```text
//! (name, row)    sorted by name, beside the pages   ->  (row, id of the cluster), and the sizes
//! (row, id)      sorted by row, beside the pages    ->  clusters.tsv
//! ```

use std::cmp::Reverse;
use std::iter::Peekable;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::engine::Engine;
use super::forest::Forest;
use super::intern::Interned;
use super::link::Link;
use super::link_file::{LinkCounts, LinkFile, LinkWriter};
use super::measure::Measure;
use super::method::Method;
use super::page::Page;
use super::row::{Row, RowWriter, SizeWriter};
use super::row_set::RowSet;
use super::space::Space;
use super::written::Written;
use crate::error::{Error, Kind, Result};
use crate::matches::allocated;
use crate::output::{Staging, Sum};
use crate::runs::{Record, SortedRecords, Sorter};

/// A row, after the page that names its cluster.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Named {
    name: u32,
    row: u32,
}

/// The cluster of a row.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Labelled {
    row: u32,
    cluster: String,
}

/// The size of a cluster, in the order of sizes.tsv.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Size {
    size: Reverse<u64>,
    cluster: String,
}

impl Record for Named {}

impl Record for Labelled {
    fn bytes(&self) -> usize {
        size_of::<Self>() + allocated(&self.cluster)
    }
}

impl Record for Size {
    fn bytes(&self) -> usize {
        size_of::<Self>() + allocated(&self.cluster)
    }
}

/// Writes clusters.tsv, sizes.tsv and links.bin.
pub(super) fn cluster(
    interned: Interned,
    method: Method,
    measure: Measure,
    engine: &mut dyn Engine,
    staging: &Staging,
    space: &Space<'_>,
) -> Result<Written> {
    let Interned { pages, count, versions, links } = interned;
    let (links_sum, links, dropped) = write_links(links, measure, staging)?;
    let forest = Arc::new(Forest::of(count));
    engine.unite(&forest, Arc::new(LinkFile::open(staging.folder())?))?;
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
        sizes: space.sorter(),
    };
    let pages = SortedRecords::through_disk(space.folder, &mut naming)?;
    let Naming { labelled, sizes, .. } = naming;
    let (sizes, clusters) = write_sizes(sizes, staging)?;
    let (rows, members) = write_rows(pages, labelled, staging)?;
    Ok(Written { rows, sizes, links: links_sum, counts: links, members, clusters })
}

/// Writes links.bin, and finds the pages that were dropped.
fn write_links(
    links: SortedRecords<Link>,
    measure: Measure,
    staging: &Staging,
) -> Result<(Sum, LinkCounts, RowSet)> {
    let mut writer = LinkWriter::create(staging, measure)?;
    let mut dropped = RowSet::default();
    for link in links {
        let link = link?;
        if link.is_verdict {
            dropped.insert(link.new);
        }
        writer.push(link)?;
    }
    let (sum, counts) = writer.finish()?;
    Ok((sum, counts, dropped))
}

/// Names each page by the smallest page of its component.
fn components(forest: &Forest, versions: &RowSet, space: &Space<'_>) -> Result<Sorter<Named>> {
    let rows = || 0..forest.pages();
    rows().filter(|&row| versions.contains(row)).for_each(|row| forest.join(row - 1, row));
    let mut names = space.sorter();
    names.extend(rows().map(|row| Named { name: forest.root(row), row }))?;
    Ok(names)
}

/// Names each page by the one of its star that was not dropped, as its first version.
fn stars(
    forest: &Forest,
    versions: &RowSet,
    dropped: &RowSet,
    space: &Space<'_>,
) -> Result<Sorter<Named>> {
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
        names.push(Named { name, row })?;
    }
    Ok(names)
}

/// The error for verdicts that drop each of several pages in favour of the next.
pub(super) fn circle() -> Error {
    Error::new(Kind::BadData, "the verdicts lead in a circle, to no page that was kept")
        .help("these outputs were not made one after the other with one store; make them again, or use --method components")
}

/// Passes the pages on. On the way, the rows that each page names get its id.
struct Naming {
    pages: SortedRecords<Page>,
    names: Peekable<SortedRecords<Named>>,
    row: u32,
    labelled: Sorter<Labelled>,
    sizes: Sorter<Size>,
}

impl Naming {
    fn take(&mut self, page: Page) -> Result<Page> {
        let own = self.row;
        let mut size = 0;
        while let Some(named) =
            self.names.next_if(|named| named.as_ref().map_or(true, |named| named.name == own))
        {
            size += 1;
            let cluster = page.id.clone();
            self.labelled.push(Labelled { row: named?.row, cluster })?;
        }
        if size > 0 {
            self.sizes.push(Size { size: Reverse(size), cluster: page.id.clone() })?;
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

fn write_sizes(sizes: Sorter<Size>, staging: &Staging) -> Result<(Sum, u64)> {
    let mut writer = SizeWriter::create(staging)?;
    for size in sizes.sorted()? {
        let Size { size: Reverse(size), cluster } = size?;
        writer.push(size, &cluster)?;
    }
    let clusters = writer.clusters;
    Ok((writer.finish()?, clusters))
}

fn write_rows(
    pages: SortedRecords<Page>,
    labelled: Sorter<Labelled>,
    staging: &Staging,
) -> Result<(Sum, u64)> {
    let mut writer = RowWriter::create(staging)?;
    for (page, labelled) in pages.zip(labelled.sorted()?) {
        let (Page { id, day }, Labelled { cluster, .. }) = (page?, labelled?);
        writer.push(Row { id: &id, day, cluster: &cluster })?;
    }
    let rows = writer.rows;
    Ok((writer.finish()?, rows))
}
