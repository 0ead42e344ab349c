//! The lists that people read, written from a state: the tables of clusters and sizes.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use super::names::each_named;
use super::row::{CLUSTERS, SIZES, row_columns, size_columns};
use super::state::{ClusterState, Named};
use crate::error::Result;
use crate::output::Staging;
use crate::results::{ResultFile, ResultFormat};
use crate::runs::{Record, SortSpace, Sorter, allocated};

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Size {
    size: Reverse<u32>,
    cluster: String,
}

impl Record for Size {
    fn bytes(&self) -> usize {
        size_of::<Self>() + allocated(&self.cluster)
    }
}

pub(super) fn write_lists(
    state: &ClusterState,
    sizes: &[u32],
    staging: &Staging,
    format: ResultFormat,
    space: SortSpace<'_>,
) -> Result<[Named; 2]> {
    let mut rows = ResultFile::create(staging, format, CLUSTERS, &row_columns())?;
    each_named(state, space, |page, cluster| {
        rows.row(format_args!("{}\t{cluster}\t{}", page.id, page.day))
    })?;
    let rows = rows.finish()?;
    let mut sorter: Sorter<Size> = space.sorter();
    for (member, &size) in state.pages()?.zip(sizes) {
        let cluster = member?.page.id;
        if size > 0 {
            sorter.push(Size { size: Reverse(size), cluster })?;
        }
    }
    let mut table = ResultFile::create(staging, format, SIZES, &size_columns())?;
    for size in sorter.sorted()? {
        let Size { size: Reverse(size), cluster } = size?;
        table.row(format_args!("{cluster}\t{size}"))?;
    }
    Ok([rows, table.finish()?])
}
