//! The lists that people read, written from a state: the tables of clusters and sizes.
//!
//! A state names a cluster by a row. So rows are sorted by those of their clusters, to get the ids of these as the pages are passed, and
//! back again.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use super::state::{ClusterState, Named};
use crate::error::Result;
use crate::output::Staging;
use crate::results::{ResultColumn, ResultFile, ResultFormat, Values};
use crate::runs::{Record, SortSpace, Sorter, record};

pub(super) const CLUSTERS: &str = "clusters";
pub(super) const SIZES: &str = "sizes";

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct NamedRow {
    name: u32,
    row: u32,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Labelled {
    row: u32,
    cluster: String,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Size {
    size: Reverse<u32>,
    cluster: String,
}

impl Record for NamedRow {}

record!(Labelled, cluster);

record!(Size, cluster);

pub(super) fn write_lists(
    state: &ClusterState,
    sizes: &[u32],
    staging: &Staging,
    format: ResultFormat,
    space: SortSpace<'_>,
) -> Result<[Named; 2]> {
    let mut named: Sorter<NamedRow> = space.sorter();
    for (row, member) in (0..).zip(state.pages()?) {
        named.push(NamedRow { name: member?.cluster, row })?;
    }
    let mut labelled: Sorter<Labelled> = space.sorter();
    state.each_with_page(
        named,
        |it| it.name,
        |it, page| labelled.push(Labelled { row: it.row, cluster: page.id.clone() }),
    )?;
    let columns = [
        ResultColumn::new("member", Values::Text).ascending(),
        ResultColumn::new("cluster", Values::Names),
        ResultColumn::new("day", Values::Day).or_null(),
    ];
    let mut rows = ResultFile::create(staging, format, CLUSTERS, &columns)?;
    let mut by_size: Sorter<Size> = space.sorter();
    state.each_with_page(
        labelled,
        |it| it.row,
        |Labelled { row, cluster }, page| {
            rows.row(format_args!("{}\t{cluster}\t{}", page.id, page.day))?;
            match sizes[row as usize] {
                0 => Ok(()),
                size => by_size.push(Size { size: Reverse(size), cluster: page.id.clone() }),
            }
        },
    )?;
    let rows = rows.finish()?;
    let columns = [
        ResultColumn::new("cluster", Values::Text),
        ResultColumn::new("size", Values::Count).descending(),
    ];
    let mut table = ResultFile::create(staging, format, SIZES, &columns)?;
    for size in by_size.sorted()? {
        let Size { size: Reverse(size), cluster } = size?;
        table.row(format_args!("{cluster}\t{size}"))?;
    }
    Ok([rows, table.finish()?])
}
