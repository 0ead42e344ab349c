//! The cluster of each page of a state.

use std::path::Path;

use super::found::Clusters;
use super::page::PageDay;
use super::state::Pile;
use crate::error::Result;

/// Calls `take` with the id, the day and the cluster of each page that is in one, in the order of ids and then of days.
///
/// # Errors
/// Those of `take`; [`Kind::BadData`](crate::Kind::BadData) if the state in `folder` is not the one that was `found`.
pub fn each_member(
    folder: &Path,
    found: &Clusters,
    take: &mut dyn FnMut(&str, PageDay, &str) -> Result<()>,
) -> Result<()> {
    found.check_layers(folder)?;
    let pile = Pile::open(folder, &found.layers)?;
    pile.each_page(|page, cluster| take(page.id, page.day, cluster))
}
