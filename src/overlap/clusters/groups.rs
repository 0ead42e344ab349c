//! Which pages the links of a state connect, and what each cluster is called: union-find over the rows of pages.
//!
//! The name of a cluster is a row. With the verdicts 1-0, 2-1 and 4-3, and 3 a later version of the page 2:
//!
//! ```text
//! row       0  1  2  3  4
//! tree      0  0  0  3  3      by the links alone
//! star      0  0  0  2  2      0 and 3 were kept; the id of 3 is that of 2, which comes first
//! component 0  0  0  0  0      2 and 3 are one page
//! ```

use roaring::RoaringBitmap;

use super::forest::Forest;
use super::source::Method;
use super::state::ClusterState;
use crate::error::{Error, Kind, Result};

pub(super) struct Groups {
    /// For each page the row that its cluster has its id of.
    pub(super) names: Vec<u32>,
    pub(super) sizes: Vec<u32>,
    pub(super) links: u64,
    pub(super) verdicts: u64,
    /// The pages that were dropped, and those that they are duplicates of.
    pub(super) dropped: RoaringBitmap,
    pub(super) centres: RoaringBitmap,
    /// A page of each tree of links.
    pub(super) roots: RoaringBitmap,
}

impl Groups {
    /// Finds the clusters. `versions` are the pages whose id is that of the page before.
    pub(super) fn of(
        state: &ClusterState,
        versions: &RoaringBitmap,
        method: Method,
    ) -> Result<Groups> {
        let (mut links, mut verdicts) = (0, 0);
        let (mut dropped, mut centres) = (RoaringBitmap::new(), RoaringBitmap::new());
        let mut forest = Forest::of(state.members);
        for link in state.links()? {
            let link = link?;
            links += 1;
            forest.join(link.new, link.existing);
            if link.is_verdict {
                verdicts += 1;
                centres.insert(link.existing);
                if !dropped.insert(link.new) {
                    return Err(Error::new(Kind::BadData, "a page has two verdicts")
                        .help("the outputs contradict each other: make them again"));
                }
            }
        }
        let rows = || 0..state.members;
        let roots = rows().filter(|&row| forest.root(row) == row).collect();
        if method == Method::Components {
            versions.iter().for_each(|row| forest.join(row - 1, row));
        }
        let mut names: Vec<u32> = rows().map(|row| forest.root(row)).collect();
        drop(forest);
        if method == Method::Star {
            name_by_kept(&mut names, &dropped, versions)?;
        }
        let mut sizes = vec![0; names.len()];
        names.iter().for_each(|&name| sizes[name as usize] += 1);
        Ok(Groups { names, sizes, links, verdicts, dropped, centres, roots })
    }
}

fn name_by_kept(
    trees: &mut [u32],
    dropped: &RoaringBitmap,
    versions: &RoaringBitmap,
) -> Result<()> {
    const NONE: u32 = u32::MAX;
    let mut kept = vec![NONE; trees.len()];
    let mut first = 0;
    for (row, &tree) in (0..).zip(&*trees) {
        if !versions.contains(row) {
            first = row;
        }
        if !dropped.contains(row) {
            kept[tree as usize] = first;
        }
    }
    for name in trees {
        *name = kept[*name as usize];
        if *name == NONE {
            return Err(Error::new(Kind::BadData, "the verdicts lead in a circle, to no page that was kept")
                .help("these outputs were not made one after the other with one store; make them again, or put all that are linked into one cluster")
                .setting("method components"));
        }
    }
    Ok(())
}
