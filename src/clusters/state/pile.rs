//! The layers of a state, and what they say together. Of the rows of a page, the row in the newest layer counts.
//!
//! Each day adds a layer with the pages whose cluster changed. A page that left has a row without a cluster:
//!
//! ```text
//!            a 18      b 18      c 18      d 19       what the pile says
//! layer 3                        -                    a 18 is in cluster a
//! layer 2              b                   b          b 18 and d 19 are in cluster b
//! layer 1    a         a         a                    c 18 is in no cluster
//! ```
//!
//! The callers ask in ascending order, so a question passes each layer once, from block to block, and does not read a block
//! that holds no answer.

use std::collections::BTreeMap;
use std::path::Path;

use super::cursor::Cursor;
use super::due::due;
use super::flatten::flatten;
use super::keys::{GroupRow, PageRow};
use super::layer::{Groups, Layer, Links, Pages};
use super::merge::Merge;
use super::table_writer::Named;
use crate::clusters::link::Link;
use crate::clusters::page::PageDay;
use crate::error::Result;
use crate::output::Staging;

/// The day of a page, and the id of the cluster of the page.
pub(in crate::rooms::clusters) type Version = (PageDay, String);

/// A page of a cluster, as the row of a layer that names the cluster.
#[derive(Clone, Copy, Debug)]
pub(in crate::rooms::clusters) struct Member {
    layer: u32,
    row: u32,
    /// The place of its cluster among those that were asked for.
    pub(in crate::rooms::clusters) cluster: u32,
}

/// The layers, the oldest first.
#[derive(Debug)]
pub(in crate::rooms::clusters) struct Pile {
    layers: Vec<Layer>,
}

impl Pile {
    /// Opens the layers with these numbers.
    pub(in crate::rooms::clusters) fn open(folder: &Path, numbers: &[u32]) -> Result<Pile> {
        let layers = numbers.iter().map(|&number| Layer::open(folder, number));
        Ok(Pile { layers: layers.collect::<Result<_>>()? })
    }

    /// The first layer to be merged; all newer layers are merged with this layer. `None` if no
    /// merge is due.
    pub(in crate::rooms::clusters) fn due(&self) -> Option<usize> {
        due(&self.layers.iter().map(Layer::weight).collect::<Vec<_>>())
    }

    /// Writes the layers from `first` on as one with this number.
    pub(in crate::rooms::clusters) fn flatten(
        &self,
        first: usize,
        staging: &Staging,
        number: u32,
    ) -> Result<[Named; 3]> {
        flatten(&self.layers[first..], first == 0, staging, number)
    }

    /// Calls `take` with each id, which ascend, and the pages that have it.
    pub(in crate::rooms::clusters) fn each_id<'a>(
        &self,
        ids: impl Iterator<Item = &'a str>,
        mut take: impl FnMut(&str, Vec<Version>) -> Result<()>,
    ) -> Result<()> {
        let mut layers: Vec<Pages<'_>> = self.layers.iter().rev().map(Pages::of).collect();
        for id in ids {
            let mut versions: BTreeMap<PageDay, Option<String>> = BTreeMap::new();
            for pages in &mut layers {
                let mut is_on_row = pages.seek(id, PageDay::NONE)?;
                while is_on_row {
                    let row = pages.row()?;
                    if row.id != id {
                        break;
                    }
                    versions.entry(row.day).or_insert_with(|| row.cluster.map(str::to_owned));
                    is_on_row = pages.cursor.next()?;
                }
            }
            let held = versions.into_iter().filter_map(|(day, cluster)| Some((day, cluster?)));
            take(id, held.collect())?;
        }
        Ok(())
    }

    /// Calls `take` with every page that is in a cluster, in order.
    pub(in crate::rooms::clusters) fn each_page(
        &self,
        mut take: impl FnMut(&PageRow<'_>, &str) -> Result<()>,
    ) -> Result<()> {
        let mut pages = Merge::of(self.layers.iter().map(|it| Cursor::of(&it.pages)).collect());
        while let Some(&newest) = pages.next()?.last() {
            let cursor = &pages.cursors[newest];
            let row = self.layers[newest].page(cursor)?;
            row.cluster.map_or(Ok(()), |cluster| take(&row, cluster))?;
        }
        Ok(())
    }

    /// Calls `take` with every cluster and its size, in the order of their ids.
    pub(in crate::rooms::clusters) fn each_size(
        &self,
        mut take: impl FnMut(&str, u64) -> Result<()>,
    ) -> Result<()> {
        let mut groups = Merge::of(self.layers.iter().map(|it| Cursor::of(&it.groups)).collect());
        while let Some(&newest) = groups.next()?.last() {
            let cursor = &groups.cursors[newest];
            if let (cluster, GroupRow::Size(size @ 1..)) = self.layers[newest].group(cursor)? {
                take(cluster, size)?;
            }
        }
        Ok(())
    }

    /// The sizes of clusters, whose ids ascend.
    pub(in crate::rooms::clusters) fn sizes<'a>(
        &self,
        clusters: impl Iterator<Item = &'a str>,
    ) -> Result<Vec<u64>> {
        let mut layers: Vec<Groups<'_>> = self.layers.iter().rev().map(Groups::of).collect();
        let mut size_of = |cluster: &str| {
            for groups in &mut layers {
                if groups.seek(cluster, GroupRow::Size(0))?
                    && let (found, GroupRow::Size(size)) = groups.row()?
                    && found == cluster
                {
                    return Ok(size);
                }
            }
            Ok(0)
        };
        clusters.map(&mut size_of).collect()
    }

    /// The members of clusters, whose ids ascend, in the order of layers and rows. Calls `take` with the page of each.
    pub(in crate::rooms::clusters) fn members(
        &self,
        clusters: &[&str],
        mut take: impl FnMut(&PageRow<'_>),
    ) -> Result<Vec<Member>> {
        let mut members = Vec::new();
        for (at, layer) in self.layers.iter().enumerate() {
            let named = named_by(layer, clusters)?;
            let mut newer: Vec<Pages<'_>> = self.layers[at + 1..].iter().map(Pages::of).collect();
            let mut pages = Pages::of(layer);
            for (row, cluster) in named {
                let page = pages.at_row(row)?;
                let mut is_newer = false;
                for pages in &mut newer {
                    is_newer = is_newer || pages.is_at(page.id, page.day)?;
                }
                if !is_newer {
                    take(&page);
                    members.push(Member { layer: at as u32, row, cluster });
                }
            }
        }
        Ok(members)
    }

    /// Calls `take` with every link between members, as their places among these.
    pub(in crate::rooms::clusters) fn each_link_between(
        &self,
        members: &[Member],
        mut take: impl FnMut(Link),
    ) -> Result<()> {
        let rows = self.rows_of(members)?;
        for (layer, rows) in self.layers.iter().zip(rows) {
            let mut links = Links::of(layer);
            for &(row, new) in &rows {
                let mut next = links.seek(row)?;
                while let Some(link) = next.filter(|link| link.new == row) {
                    if let Ok(at) = rows.binary_search_by_key(&link.existing, |&(row, _)| row) {
                        take(Link { new, existing: rows[at].1, ..link });
                    }
                    next = links.next()?;
                }
            }
        }
        Ok(())
    }

    /// Fails unless the clusters and the links of every layer name rows of its pages only.
    pub(in crate::rooms::clusters) fn check_rows(&self) -> Result<()> {
        self.layers.iter().try_for_each(Layer::check_rows)
    }

    /// For each layer the rows with members whose links there still count, in order, each with the place of its member.
    fn rows_of(&self, members: &[Member]) -> Result<Vec<Vec<(u32, u32)>>> {
        let mut rows = vec![Vec::new(); self.layers.len()];
        let mut all = (0..).zip(members).peekable();
        for (at, layer) in self.layers.iter().enumerate() {
            let mut older: Vec<Pages<'_>> = self.layers[..at].iter().map(Pages::of).collect();
            let mut pages = Pages::of(layer);
            while let Some((place, member)) = all.next_if(|(_, it)| it.layer as usize == at) {
                rows[at].push((member.row, place));
                if older.is_empty() {
                    continue;
                }
                let page = pages.at_row(member.row)?;
                let mut is_fresh = page.is_fresh;
                for (older, rows) in older.iter_mut().zip(&mut rows).rev() {
                    if !is_fresh && older.is_at(page.id, page.day)? {
                        rows.push((older.cursor.row() as u32, place));
                        is_fresh = older.row()?.is_fresh;
                    }
                }
            }
        }
        rows.iter_mut().for_each(|rows| rows.sort_unstable());
        Ok(rows)
    }
}

/// The rows of a layer that its clusters with these ids name, in order, each with the place of its cluster.
fn named_by(layer: &Layer, clusters: &[&str]) -> Result<Vec<(u32, u32)>> {
    let mut groups = Groups::of(layer);
    let mut named = Vec::new();
    for (at, cluster) in (0..).zip(clusters) {
        let mut is_on_row = groups.seek(cluster, GroupRow::Member(0))?;
        while is_on_row
            && let (found, GroupRow::Member(row)) = groups.row()?
            && found == *cluster
        {
            named.push((row, at));
            is_on_row = groups.cursor.next()?;
        }
    }
    named.sort_unstable();
    Ok(named)
}
