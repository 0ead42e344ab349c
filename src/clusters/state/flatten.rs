//! Several layers become one that says the same.
//!
//! ```text
//! older     a -> a, b -> a        b-a
//! newer     b -> none, c -> a     c-a
//! one       a -> a, c -> a        c-a      at the bottom; above other layers, that b has left stays said
//! ```

use super::cursor::Cursor;
use super::keys::{GroupRow, PageRow};
use super::layer::{Layer, Links};
use super::layer_writer::{GroupWriter, LinkWriter, PageWriter};
use super::merge::Merge;
use super::table_writer::Named;
use crate::clusters::link::Link;
use crate::clusters::row_set::RowSet;
use crate::error::Result;
use crate::output::Staging;

/// No row has this number.
const NONE: u32 = u32::MAX;

/// What becomes of the rows of a layer.
struct Fate {
    /// For each row its number in the new layer; none if links with it no longer count.
    rows: Vec<u32>,
    /// The rows that say which cluster their pages are in now.
    current: RowSet,
}

/// Writes `layers`, the oldest first, as one layer. At the bottom of the pile, the new layer leaves
/// out the pages and clusters that have left.
pub(super) fn flatten(
    layers: &[Layer],
    is_bottom: bool,
    staging: &Staging,
    number: u32,
) -> Result<[Named; 3]> {
    let (pages, fates) = write_pages(layers, is_bottom, PageWriter::create(staging, number)?)?;
    let groups = write_groups(layers, &fates, is_bottom, GroupWriter::create(staging, number)?)?;
    let links = write_links(layers, &fates, LinkWriter::create(staging, number)?)?;
    Ok([pages, groups, links])
}

fn write_pages(
    layers: &[Layer],
    is_bottom: bool,
    mut writer: PageWriter,
) -> Result<(Named, Vec<Fate>)> {
    let fate = |layer: &Layer| Fate {
        rows: vec![NONE; layer.pages.rows() as usize],
        current: RowSet::default(),
    };
    let mut fates: Vec<Fate> = layers.iter().map(fate).collect();
    let mut merge = Merge::of(layers.iter().map(|it| Cursor::of(&it.pages)).collect());
    loop {
        let at = merge.next()?.to_vec();
        let Some(&newest) = at.last() else { break };
        let row_of = |layer: usize| layers[layer].page(&merge.cursors[layer]);
        let row = row_of(newest)?;
        let mut fresh = None;
        for &layer in &at {
            if row_of(layer)?.is_fresh {
                fresh = Some(layer);
            }
        }
        if is_bottom && row.cluster.is_none() {
            continue;
        }
        let is_fresh = fresh.is_some() && !is_bottom;
        let number = writer.push(&PageRow { is_fresh, ..row })?;
        for &layer in at.iter().filter(|&&layer| Some(layer) >= fresh) {
            fates[layer].rows[merge.cursors[layer].row() as usize] = number;
        }
        if row.cluster.is_some() {
            fates[newest].current.insert(merge.cursors[newest].row() as u32);
        }
    }
    Ok((writer.finish()?, fates))
}

fn write_groups(
    layers: &[Layer],
    fates: &[Fate],
    is_bottom: bool,
    mut writer: GroupWriter,
) -> Result<Named> {
    let mut merge = Merge::of(layers.iter().map(|it| Cursor::of(&it.groups)).collect());
    // The rows of one cluster, whose size comes after them.
    let mut members: Vec<u32> = Vec::new();
    loop {
        let at = merge.next()?.to_vec();
        let Some(&newest) = at.last() else { break };
        let (cluster, size) = layers[newest].group(&merge.cursors[newest])?;
        if let GroupRow::Size(size) = size {
            members.sort_unstable();
            members.iter().try_for_each(|&row| writer.member(cluster, row))?;
            members.clear();
            if size > 0 || !is_bottom {
                writer.size(cluster, size)?;
            }
            continue;
        }
        for &layer in &at {
            if let (_, GroupRow::Member(row)) = layers[layer].group(&merge.cursors[layer])?
                && fates[layer].current.contains(row)
                && let Some(&number) = fates[layer].rows.get(row as usize)
            {
                members.push(number);
            }
        }
    }
    writer.finish()
}

fn write_links(layers: &[Layer], fates: &[Fate], mut writer: LinkWriter) -> Result<Named> {
    let mut all: Vec<Links<'_>> = layers.iter().map(Links::of).collect();
    let next = |links: &mut Links<'_>, fate: &Fate| -> Result<Option<Link>> {
        while let Some(link) = links.next()? {
            let number = |row: u32| fate.rows.get(row as usize).copied().filter(|&row| row != NONE);
            if let (Some(new), Some(existing)) = (number(link.new), number(link.existing)) {
                return Ok(Some(Link { new, existing, ..link }));
            }
        }
        Ok(None)
    };
    let mut waiting: Vec<Option<Link>> =
        all.iter_mut().zip(fates).map(|(links, fate)| next(links, fate)).collect::<Result<_>>()?;
    loop {
        let least =
            (0..all.len()).filter(|&at| waiting[at].is_some()).min_by_key(|&at| waiting[at]);
        let Some(at) = least else { break };
        let link = std::mem::replace(&mut waiting[at], next(&mut all[at], &fates[at])?);
        link.map_or(Ok(()), |link| writer.push(link))?;
    }
    Ok(writer.finish()?.0)
}
