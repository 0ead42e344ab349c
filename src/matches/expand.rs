//! Pairs of groups expanded to rows of documents, and the nearest page of the store for each group.

use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::matches::{Against, Batch, Row, Standing};
use crate::runs::{Sorted, Sorter};
use crate::store::{Day, Ids, Segment};

/// The page of the store that a dropped group is a copy of: smallest id, then earliest day.
pub(super) type Held = (String, Day);

/// Looks up every standing pair once, in the order of the disk. Gives each group with a page of the
/// store within reach the nearest one, and, where `rows` are wanted, every row of documents.
pub(super) fn expand_store<F: Fingerprint>(
    batch: &Batch<F>,
    store: &[(Day, Segment)],
    standings: Sorted<Standing>,
    nearest: &[u8],
    mut rows: Option<&mut Sorter<Row>>,
) -> Result<Vec<Option<Box<Held>>>> {
    let mut held: Vec<Option<Box<Held>>> = vec![None; nearest.len()];
    let mut standings = standings.peekable();
    let mut near = Vec::new();
    let mut reader: Option<(u32, Ids)> = None;
    while let Some(first) = standings.next().transpose()? {
        near.clear();
        near.push((first.new, first.distance));
        while let Some(Ok(next)) = standings.next_if(|next| same_place(next, &first)) {
            near.push((next.new, next.distance));
        }
        let (day, segment) = &store[first.segment as usize];
        let ids = match &mut reader {
            Some((number, ids)) if *number == first.segment => ids,
            other => &mut other.insert((first.segment, segment.ids())).1,
        };
        let id = ids.get(first.row)?;
        for &(new, distance) in &near {
            if distance == nearest[new as usize] {
                keep_smaller(&mut held[new as usize], id, *day);
            }
        }
        if let Some(rows) = &mut rows {
            for row in first.row..first.row + first.rows {
                expand_row(batch, &near, ids.get(row)?, Against::Day(*day), rows)?;
            }
        }
    }
    Ok(held)
}

fn same_place(next: &Result<Standing>, first: &Standing) -> bool {
    next.as_ref().is_ok_and(|next| (next.segment, next.row) == (first.segment, first.row))
}

fn keep_smaller(held: &mut Option<Box<Held>>, id: &str, day: Day) {
    if held.as_deref().is_none_or(|(least, least_day)| (id, day) < (least.as_str(), *least_day)) {
        *held = Some(Box::new((id.to_owned(), day)));
    }
}

fn expand_row<F: Fingerprint>(
    batch: &Batch<F>,
    near: &[(u32, u8)],
    existing: &str,
    against: Against,
    rows: &mut Sorter<Row>,
) -> Result<()> {
    near.iter().try_for_each(|&(group, distance)| {
        rows.extend(batch.rows_of(group).map(|row| {
            let existing = existing.to_owned();
            Row { new: batch.rank(row), distance, existing, against }
        }))
    })
}

/// Expands two near groups of the batch.
pub(super) fn expand_groups<F: Fingerprint>(
    batch: &Batch<F>,
    a: u32,
    b: u32,
    distance: u8,
    rows: &mut Sorter<Row>,
) -> Result<()> {
    for row in batch.rows_of(a) {
        rows.extend(batch.rows_of(b).map(|other| batch.pair(row, other, distance)))?;
    }
    Ok(())
}

/// Expands the copies within each group.
pub(super) fn expand_copies<F: Fingerprint>(
    batch: &Batch<F>,
    rows: &mut Sorter<Row>,
) -> Result<()> {
    for group in 0..batch.groups().len() as u32 {
        for row in batch.rows_of(group) {
            let rest = row + 1..batch.rows_of(group).end;
            rows.extend(rest.map(|other| batch.pair(row, other, 0)))?;
        }
    }
    Ok(())
}
