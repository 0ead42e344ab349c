//! The lists that people read, written from a state: the tables of clusters and sizes.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use super::row::{CLUSTERS, SIZES, row_columns, size_columns};
use super::state::{Named, Pile};
use crate::error::Result;
use crate::matches::allocated;
use crate::output::Staging;
use crate::results::{ResultFile, ResultFormat};
use crate::runs::{Record, Sorter, Space};

/// The size of a cluster, in the order of its table.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Size {
    size: Reverse<u64>,
    cluster: String,
}

impl Record for Size {
    fn bytes(&self) -> usize {
        size_of::<Self>() + allocated(&self.cluster)
    }
}

/// Writes both lists.
pub(super) fn write_lists(
    pile: &Pile,
    staging: &Staging,
    format: ResultFormat,
    space: Space<'_>,
) -> Result<[Named; 2]> {
    let mut rows = ResultFile::create(staging, format, CLUSTERS, &row_columns())?;
    pile.each_page(|page, cluster| rows.row(format_args!("{}\t{cluster}\t{}", page.id, page.day)))?;
    let rows = rows.finish()?;
    let mut sizes = ResultFile::create(staging, format, SIZES, &size_columns())?;
    for size in sorted_sizes(pile, space)? {
        let (cluster, size) = size?;
        sizes.row(format_args!("{cluster}\t{size}"))?;
    }
    Ok([rows, sizes.finish()?])
}

/// The clusters with their sizes, in the order of their table.
pub(super) fn sorted_sizes(
    pile: &Pile,
    space: Space<'_>,
) -> Result<impl Iterator<Item = Result<(String, u64)>>> {
    let mut sorter: Sorter<Size> = space.sorter();
    pile.each_size(|cluster, size| {
        sorter.push(Size { size: Reverse(size), cluster: cluster.to_owned() })
    })?;
    Ok(sorter.sorted()?.map(|it| it.map(|Size { size: Reverse(size), cluster }| (cluster, size))))
}
