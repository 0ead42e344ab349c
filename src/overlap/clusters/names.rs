//! Ids in place of rows. A state names pages by their rows, so ids are looked up by passing its pages once, beside rows
//! that are sorted.

use serde::{Deserialize, Serialize};

use super::page::Page;
use super::state::ClusterState;
use crate::error::Result;
use crate::runs::{Record, SortSpace, Sorter, allocated, next_if};

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

impl Record for NamedRow {}

impl Record for Labelled {
    fn bytes(&self) -> usize {
        size_of::<Self>() + allocated(&self.cluster)
    }
}

pub(super) fn each_with_page<R: Record>(
    state: &ClusterState,
    records: Sorter<R>,
    row_of: impl Fn(&R) -> u32,
    mut take: impl FnMut(R, &Page) -> Result<()>,
) -> Result<()> {
    let mut records = records.sorted()?.peekable();
    for (row, member) in (0..).zip(state.pages()?) {
        let page = member?.page;
        while let Some(record) = next_if(&mut records, |it| row_of(it) == row)? {
            take(record, &page)?;
        }
    }
    Ok(())
}

pub(super) fn each_named(
    state: &ClusterState,
    space: SortSpace<'_>,
    mut take: impl FnMut(&Page, &str) -> Result<()>,
) -> Result<()> {
    let mut named: Sorter<NamedRow> = space.sorter();
    for (row, member) in (0..).zip(state.pages()?) {
        named.push(NamedRow { name: member?.cluster, row })?;
    }
    let mut labelled: Sorter<Labelled> = space.sorter();
    each_with_page(
        state,
        named,
        |it| it.name,
        |it, page| labelled.push(Labelled { row: it.row, cluster: page.id.clone() }),
    )?;
    each_with_page(state, labelled, |it| it.row, |it, page| take(page, &it.cluster))
}
