//! One copy of a state, on which what is new comes in and what is gone is left out.

use std::cmp::Reverse;

use super::change_log::ChangeLog;
use super::intern::too_many;
use super::labels::Labels;
use super::link::Link;
use super::link_file::{LinkCounts, LinkWriter};
use super::page::Page;
use super::regrouped::Regrouped;
use super::renumbering::Renumbering;
use super::row::{Row, RowReader, RowWriter, SizeReader, SizeWriter};
use super::touched::{Before, Touched};
use crate::error::Result;
use crate::output::{Staging, Sum};

/// The copy of clusters.tsv, on which what is new comes in and what is gone is left out.
pub(super) struct Copy<'a> {
    pub(super) before: &'a Before<'a>,
    pub(super) touched: &'a Touched,
    pub(super) clusters: &'a Regrouped,
    pub(super) rows: RowWriter,
    pub(super) changes: ChangeLog<'a>,
    pub(super) renumbering: Renumbering,
    /// The new row of each page of the new links, so far.
    pub(super) linked: Vec<u32>,
}

impl Copy<'_> {
    /// Copies all rows.
    pub(super) fn run(&mut self) -> Result<()> {
        let mut rows = RowReader::open(self.before.folder)?;
        let (mut number, mut own) = (0, 0);
        while let Some(row) = rows.next()? {
            while self.page_before(own, &row) {
                self.add(own)?;
                own += 1;
            }
            if self.touched.pages.get(own).is_some_and(|it| row.is_of(&it.page.id, it.page.day)) {
                self.replace(number, &row, self.clusters.pages[own])?;
                own += 1;
            } else if self.before.is_removed(row.id) {
                self.replace(number, &row, None)?;
            } else {
                self.keep(number, &row)?;
            }
            number += 1;
        }
        (own..self.touched.pages.len()).try_for_each(|own| self.add(own))
    }

    /// Whether a touched page comes before a row.
    fn page_before(&self, own: usize, row: &Row<'_>) -> bool {
        let page = self.touched.pages.get(own).map(|touched| &touched.page);
        page.is_some_and(|page| (page.id.as_str(), page.day) < (row.id, row.day))
    }

    /// Writes a page that is new.
    fn add(&mut self, own: usize) -> Result<()> {
        let touched = self.touched;
        let Page { id, day } = &touched.pages[own].page;
        let label = self.clusters.pages[own].expect("a new page has a link");
        let row = Row { id, day: *day, cluster: touched.labels.id(label) };
        self.changes.note(label, &row, 1)?;
        self.write(row)
    }

    /// Writes a row whose cluster is another one, or none.
    fn replace(&mut self, number: u32, row: &Row<'_>, label: Option<u32>) -> Result<()> {
        let Some(label) = label else {
            self.renumbering.remove(number);
            return self.leaves(row);
        };
        let cluster = self.touched.labels.id(label);
        let now = Row { cluster, ..*row };
        if cluster != row.cluster {
            self.leaves(row)?;
            self.changes.note(label, &now, 1)?;
        }
        self.renumbering.keep(number, self.next_row()?);
        self.write(now)
    }

    /// Writes a row of a standing cluster, which may have another id now.
    fn keep(&mut self, number: u32, row: &Row<'_>) -> Result<()> {
        let renamed = &self.clusters.renamed;
        let label = if renamed.is_empty() { None } else { self.touched.labels.find(row.cluster) };
        match label.and_then(|label| renamed.get(&label)) {
            Some(&name) => self.replace(number, row, Some(name)),
            None => {
                self.renumbering.keep(number, self.next_row()?);
                self.write(*row)
            }
        }
    }

    fn write(&mut self, row: Row<'_>) -> Result<()> {
        let number = self.next_row()?;
        let linked = self.touched.linked.get(self.linked.len());
        if linked.is_some_and(|page| row.is_of(&page.id, page.day)) {
            self.linked.push(number);
        }
        self.rows.push(row)
    }

    fn next_row(&self) -> Result<u32> {
        u32::try_from(self.rows.rows).ok().filter(|&row| row < u32::MAX).ok_or_else(too_many)
    }

    /// Notes that a row leaves its cluster, which is touched by that.
    fn leaves(&mut self, row: &Row<'_>) -> Result<()> {
        let label = self.touched.labels.find(row.cluster);
        let label = label.ok_or_else(|| {
            self.before.contradiction("a page leaves a cluster that has no such page")
        })?;
        self.changes.note(label, row, -1)
    }
}

/// Copies sizes.tsv, on which the clusters that changed leave their places for new ones.
pub(super) fn write_sizes(
    before: &Before<'_>,
    labels: &Labels,
    growth: Vec<i64>,
    staging: &Staging,
) -> Result<(Sum, u64)> {
    let changed = |cluster: &str| {
        let label = labels.find(cluster)? as usize;
        (growth[label] != 0).then_some(label)
    };
    let mut sizes = growth.clone();
    let mut old = SizeReader::open(before.folder)?;
    while let Some((size, cluster)) = old.next()? {
        if let Some(label) = changed(cluster) {
            sizes[label] += size as i64;
        }
    }
    let mut moved: Vec<(Reverse<u64>, &str)> = Vec::new();
    let grown = (0..).zip(&growth).filter(|(_, growth)| **growth != 0);
    for (label, _) in grown {
        match u64::try_from(sizes[label as usize]) {
            Ok(0) => {}
            Ok(size) => moved.push((Reverse(size), labels.id(label))),
            Err(_) => {
                let what = "clusters.tsv and sizes.tsv contradict each other";
                return Err(before.contradiction(what));
            }
        }
    }
    moved.sort_unstable();
    let mut moved = moved.into_iter().peekable();
    let mut writer = SizeWriter::create(staging)?;
    let mut old = SizeReader::open(before.folder)?;
    while let Some((size, cluster)) = old.next()? {
        while let Some((Reverse(size), cluster)) =
            moved.next_if(|&moved| moved < (Reverse(size), cluster))
        {
            writer.push(size, cluster)?;
        }
        if changed(cluster).is_none() {
            writer.push(size, cluster)?;
        }
    }
    moved.try_for_each(|(Reverse(size), cluster)| writer.push(size, cluster))?;
    let clusters = writer.clusters;
    Ok((writer.finish()?, clusters))
}

/// Copies links.bin with the rows as they are now, and the new links between them.
pub(super) fn write_links(
    before: &Before<'_>,
    new: &[Link],
    renumbering: &Renumbering,
    linked: &[u32],
    staging: &Staging,
) -> Result<(Sum, LinkCounts)> {
    let mut writer = LinkWriter::create(staging, before.links.measure())?;
    let numbered = |link: &Link| Link {
        new: linked[link.new as usize],
        existing: linked[link.existing as usize],
        ..*link
    };
    let mut new = new.iter().map(numbered).peekable();
    for link in before.links.links() {
        let old = link?;
        let rows = (renumbering.row(old.new), renumbering.row(old.existing));
        let (Some(row), Some(existing)) = rows else { continue };
        let link = Link { new: row, existing, ..old };
        while let Some(new) = new.next_if(|new| *new < link) {
            writer.push(new)?;
        }
        writer.push(link)?;
    }
    new.try_for_each(|link| writer.push(link))?;
    writer.finish()
}
