//! States without layers, as they were once written: clusters.tsv and links.bin become the first layer of a new one.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::contents::Contents;
use super::link_file::LinkFile;
use super::row::RowReader;
use super::scratch::LAYER;
use super::space::Space;
use super::state::{GroupWriter, LinkWriter, Named, PageRow, PageWriter};
use crate::error::Result;
use crate::matches::allocated;
use crate::output::Staging;
use crate::runs::{Record, Sorter};

/// A row of clusters.tsv, after its cluster.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Labelled {
    cluster: String,
    row: u32,
}

impl Record for Labelled {
    fn bytes(&self) -> usize {
        size_of::<Self>() + allocated(&self.cluster)
    }
}

/// Writes the first layer of a state from the files in `folder`, which were checked.
pub(super) fn convert(
    folder: &Path,
    staging: &Staging,
    space: &Space<'_>,
) -> Result<([Named; 3], Contents)> {
    let mut rows = RowReader::open(folder)?;
    let mut pages = PageWriter::create(staging, LAYER)?;
    let mut labelled: Sorter<Labelled> = space.sorter();
    let mut contents = Contents::default();
    while let Some(row) = rows.next()? {
        let cluster = row.cluster;
        let page = PageRow { id: row.id, day: row.day, cluster: Some(cluster), is_fresh: false };
        let number = pages.push(&page)?;
        contents.add(row.id, row.day, cluster);
        labelled.push(Labelled { cluster: cluster.to_owned(), row: number })?;
    }
    let groups = write_groups(labelled, GroupWriter::create(staging, LAYER)?)?;
    let mut links = LinkWriter::create(staging, LAYER)?;
    LinkFile::open(folder)?.links().try_for_each(|link| links.push(link?))?;
    Ok(([pages.finish()?, groups, links.finish()?.0], contents))
}

fn write_groups(labelled: Sorter<Labelled>, mut groups: GroupWriter) -> Result<Named> {
    let mut last = (String::new(), 0);
    for labelled in labelled.sorted()? {
        let Labelled { cluster, row } = labelled?;
        if cluster != last.0 {
            if last.1 > 0 {
                groups.size(&last.0, last.1)?;
            }
            last = (cluster, 0);
        }
        groups.member(&last.0, row)?;
        last.1 += 1;
    }
    if last.1 > 0 {
        groups.size(&last.0, last.1)?;
    }
    groups.finish()
}
