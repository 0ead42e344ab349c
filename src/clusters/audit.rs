//! Reads a whole state and holds it against its report.

use std::path::Path;

use super::contents::Contents;
use super::found::Clusters;
use super::state::Pile;
use crate::error::{Error, Kind, Result};

/// What all rows of a state come to.
#[derive(Default)]
struct Sums {
    members: u64,
    contents: Contents,
    clusters: u64,
    in_clusters: u64,
}

/// Reads every row of every layer, and fails unless they are those that the report speaks of.
///
/// # Errors
/// [`Kind::BadData`] if a table is damaged, or if the tables contradict each other or the report.
pub fn audit(folder: &Path, found: &Clusters) -> Result<()> {
    found.check_layers(folder)?;
    let pile = Pile::open(folder, &found.layers)?;
    let mut sums = Sums::default();
    pile.each_page(|page, cluster| {
        sums.members += 1;
        sums.contents.add(page.id, page.day, cluster);
        Ok(())
    })?;
    pile.each_size(|_, size| {
        sums.clusters += 1;
        sums.in_clusters = sums.in_clusters.saturating_add(size);
        Ok(())
    })?;
    pile.check_rows()?;
    let told = (found.members, found.members, found.clusters, found.contents);
    let read = (sums.members, sums.in_clusters, sums.clusters, sums.contents.digest());
    match told == read {
        true => Ok(()),
        false => Err(Error::new(Kind::BadData, "the layers are not those of the report")
            .at(folder)
            .expected(format_args!("{} members in {} clusters, {}", told.0, told.2, told.3))
            .found(format_args!("{} members in {} clusters, {}", read.0, read.2, read.3))
            .help("make the clusters again, without --previous")),
    }
}
