//! Clusters from a state and what is new: the work is that of what is touched.
//!
//! What has changed is a layer: a row for each page that comes, leaves or moves, and for each page of a new link.

use super::change_log::{ChangeLog, Changed};
use super::contents::Contents;
use super::engine::Engine;
use super::intern::Interned;
use super::labels::Labels;
use super::link::Link;
use super::page::Page;
use super::regrouped::Regrouped;
use super::state::{GroupWriter, LinkCounts, LinkWriter, Named, PageRow, PageWriter, Pile};
use super::touched::{Before, Touched, members};
use crate::error::{Error, Kind, Result};
use crate::output::Staging;
use crate::results::ResultFormat;
use crate::runs::Space;

/// What an update has made.
pub(super) struct Updated {
    /// The files of the layer.
    pub(super) files: [Named; 3],
    /// The file of the changes, and its rows.
    pub(super) changes: (Named, u64),
    /// The links that come and those that go.
    pub(super) come: LinkCounts,
    pub(super) gone: LinkCounts,
    /// The clusters that have another size now.
    pub(super) resized: Vec<Resized>,
    /// What comes and goes, to be added to the contents.
    pub(super) contents: Contents,
}

/// A cluster that has another size now; 0 is none.
pub(super) struct Resized {
    pub(super) cluster: String,
    pub(super) before: u64,
    pub(super) now: u64,
}

/// A page that is in another cluster than before, or that has a new link.
struct Move {
    page: Page,
    before: Option<u32>,
    now: Option<u32>,
    is_linked: bool,
}

/// Writes the layer `number` and the changes.
pub(super) fn update(
    before: &Before<'_>,
    new: Interned,
    engine: &mut dyn Engine,
    staging: &Staging,
    format: ResultFormat,
    number: u32,
    space: Space<'_>,
) -> Result<Updated> {
    let mut touched = before.touched_by(new)?;
    let clusters = Regrouped::of(&mut touched, before.method, engine)?;
    let moves = moves(before.pile, &mut touched, &clusters)?;
    let mut contents = Contents::default();
    let mut changes = ChangeLog::new(&touched.labels, space);
    let rows = PageWriter::create(staging, number)?;
    let (pages, linked) = write_pages(&moves, &touched.labels, rows, &mut changes, &mut contents)?;
    let changes = changes.write(staging, format)?;
    let groups = GroupWriter::create(staging, number)?;
    let (groups, resized) = write_groups(before.pile, &moves, &touched.labels, &changes, groups)?;
    let mut links = LinkWriter::create(staging, number)?;
    for link in &touched.links {
        let [new, existing] = [link.new, link.existing].map(|at| linked[at as usize]);
        links.push(Link { new, existing, ..*link })?;
    }
    let (links, come) = links.finish()?;
    Ok(Updated {
        files: [pages, groups, links],
        changes: (changes.file, changes.rows),
        come,
        gone: touched.lost,
        resized,
        contents,
    })
}

/// What happens to pages, in their order.
fn moves(pile: &Pile, touched: &mut Touched, clusters: &Regrouped) -> Result<Vec<Move>> {
    let (_, renamed) = members(pile, &touched.labels, clusters.renamed.keys().copied())?;
    let now = |label: u32| clusters.renamed.get(&label).copied().unwrap_or(label);
    let held = touched.held.iter().map(|&(at, label)| (touched.linked[at as usize].clone(), label));
    let standing = renamed.into_iter().chain(held).map(|(page, label)| Move {
        page,
        before: Some(label),
        now: Some(now(label)),
        is_linked: false,
    });
    let mut moves: Vec<Move> = standing.collect();
    let own = std::mem::take(&mut touched.pages).into_iter().zip(&clusters.pages);
    let left = std::mem::take(&mut touched.left).into_iter().map(|it| (it, &None));
    moves.extend(own.chain(left).map(|(it, &now)| Move {
        page: it.page,
        before: it.before,
        now,
        is_linked: false,
    }));
    moves.sort_unstable_by(|one, other| one.page.cmp(&other.page));
    moves.dedup_by(|one, other| one.page == other.page);
    let mut linked = touched.linked.iter().peekable();
    for it in &mut moves {
        it.is_linked = linked.next_if(|page| **page == it.page).is_some();
    }
    moves.retain(|it| it.is_linked || it.before != it.now);
    Ok(moves)
}

/// Writes the rows of the pages, and notes what changes. Also gives the rows of those with new links.
fn write_pages(
    moves: &[Move],
    labels: &Labels,
    mut rows: PageWriter,
    changes: &mut ChangeLog<'_>,
    contents: &mut Contents,
) -> Result<(Named, Vec<u32>)> {
    let mut linked = Vec::new();
    for Move { page, before, now, is_linked } in moves {
        let [old, cluster] = [before, now].map(|label| label.map(|label| labels.id(label)));
        let is_fresh = before.is_none() || now.is_none();
        let row = rows.push(&PageRow { id: &page.id, day: page.day, cluster, is_fresh })?;
        if *is_linked {
            linked.push(row);
        }
        if before == now {
            continue;
        }
        if let (Some(label), Some(old)) = (before, old) {
            changes.note(*label, page, -1)?;
            contents.remove(&page.id, page.day, old);
        }
        if let (Some(label), Some(cluster)) = (now, cluster) {
            changes.note(*label, page, 1)?;
            contents.add(&page.id, page.day, cluster);
        }
    }
    Ok((rows.finish()?, linked))
}

/// Writes the clusters of the rows and those that have another size now.
fn write_groups(
    pile: &Pile,
    moves: &[Move],
    labels: &Labels,
    changes: &Changed,
    mut groups: GroupWriter,
) -> Result<(Named, Vec<Resized>)> {
    let Changed { in_order, ranks, growth, .. } = changes;
    let rows = (0_u32..).zip(moves).filter_map(|(row, it)| Some((ranks[it.now? as usize], row)));
    let mut rows: Vec<(u32, u32)> = rows.collect();
    rows.sort_unstable();
    let mut has_rows = vec![false; in_order.len()];
    rows.iter().for_each(|&(rank, _)| has_rows[rank as usize] = true);
    let is_written =
        |&(rank, label): &(u32, u32)| has_rows[rank as usize] || growth[label as usize] != 0;
    let written: Vec<(u32, u32)> = (0..).zip(in_order.iter().copied()).filter(is_written).collect();
    let sizes = pile.sizes(written.iter().map(|&(_, label)| labels.id(label)))?;
    let mut resized = Vec::new();
    let mut rows = rows.into_iter().peekable();
    for ((rank, label), before) in written.into_iter().zip(sizes) {
        let cluster = labels.id(label);
        while let Some((_, row)) = rows.next_if(|&(of, _)| of == rank) {
            groups.member(cluster, row)?;
        }
        let growth = growth[label as usize];
        let now = before.checked_add_signed(growth).ok_or_else(contradiction)?;
        groups.size(cluster, now)?;
        if growth != 0 {
            resized.push(Resized { cluster: cluster.to_owned(), before, now });
        }
    }
    Ok((groups.finish()?, resized))
}

/// The error for a state that is not one.
fn contradiction() -> Error {
    Error::new(Kind::BadData, "more pages leave a cluster than it has")
        .help("the state is damaged: make the clusters again, from nothing")
}
