//! Sets of rows of segments that are not shown, and their bytes. The list of removed pages has them (see `removals`), and that of
//! replaced pages (see `replaced_rows`).
//!
//! ```text
//! 2026-11-20-5e1f....seg    rows 17, 20045           2 of 2026-11-20
//! compacted-000007.seg      rows 90, 71002, 71004    1 of 2026-11-18, 2 of 2026-11-19
//! ```
//!
//! In a file, first come the names with the lengths of what follows, as JSON, and then two bitmaps for each segment.

use std::collections::BTreeMap;
use std::sync::Arc;

use roaring::RoaringTreemap;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::damage::damaged;
use super::digest::Digest;
use crate::day::Day;
use crate::error::Result;
use crate::frames::Magic;

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RowSet {
    pub(super) rows: RoaringTreemap,
    /// Rows of the column of pages without one.
    pub(super) empties: RoaringTreemap,
    pub(super) days: BTreeMap<Day, u64>,
}

/// By the names of the files.
pub(super) type RowSets = BTreeMap<String, Arc<RowSet>>;

#[derive(Serialize, Deserialize)]
pub(super) struct RowSetHead {
    file: String,
    rows: u64,
    empties: u64,
    days: BTreeMap<Day, u64>,
}

impl RowSet {
    fn bytes(&self) -> [Vec<u8>; 2] {
        [&self.rows, &self.empties].map(written)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.empties.is_empty()
    }

    pub(super) fn count(&self) -> u64 {
        self.rows.len() + self.empties.len()
    }

    /// Adds rows, with their days, and rows of pages without a fingerprint. Returns how many are new.
    pub(super) fn add(
        &mut self,
        rows: impl Iterator<Item = (u64, Day)>,
        empties: impl Iterator<Item = u64>,
    ) -> u64 {
        let mut new = 0;
        for (row, day) in rows {
            if self.rows.insert(row) {
                *self.days.entry(day).or_default() += 1;
                new += 1;
            }
        }
        for row in empties {
            new += u64::from(self.empties.insert(row));
        }
        new
    }

    pub(super) fn without(&self, rows: &[(u64, Day)]) -> RowSet {
        let mut rest = self.clone();
        for (row, day) in rows {
            rest.rows.remove(*row);
            *rest.days.entry(*day).or_default() -= 1;
        }
        rest.days.retain(|_, count| *count > 0);
        rest
    }

    /// The rows that are here or in `other`. `day` tells of which day a row is that both have.
    pub(super) fn or(
        &self,
        other: &RowSet,
        mut day: impl FnMut(u64) -> Result<Day>,
    ) -> Result<RowSet> {
        let mut days = self.days.clone();
        for (&day, count) in &other.days {
            *days.entry(day).or_default() += count;
        }
        for row in &self.rows & &other.rows {
            let count = days.get_mut(&day(row)?).and_then(|count| {
                *count = count.checked_sub(1)?;
                Some(())
            });
            count.ok_or_else(|| damaged("hidden rows are of other days than their list says"))?;
        }
        Ok(RowSet { rows: &self.rows | &other.rows, empties: &self.empties | &other.empties, days })
    }

    pub(super) fn digest(&self) -> Digest {
        Digest::of(&self.bytes().concat())
    }
}

pub(super) fn copy_of(sets: &RowSets, file: &str) -> RowSet {
    sets.get(file).map_or_else(RowSet::default, |rows| RowSet::clone(rows))
}

/// The bytes of a list: what it is, its head as JSON behind its length, and what the head describes.
pub(super) fn write_list(magic: &Magic, head: &impl Serialize, rest: &[u8]) -> Vec<u8> {
    let head = serde_json::to_vec(head).expect("a head is plain data");
    [&magic[..], &(head.len() as u32).to_le_bytes(), &head, rest].concat()
}

/// The head of a list of `what` pages. `rest` is what it describes from then on.
pub(super) fn read_list<H: DeserializeOwned>(
    magic: &Magic,
    what: &str,
    rest: &mut &[u8],
) -> Result<H> {
    if take(rest, magic.len() as u64)? != magic {
        return Err(damaged(&format!("this is not a list of {what} pages")));
    }
    let length = take(rest, 4)?.try_into().map_or(0, u32::from_le_bytes);
    serde_json::from_slice(take(rest, length.into())?)
        .map_err(|cause| damaged(&format!("the list of {what} pages is wrong: {cause}")))
}

pub(super) fn write_sets(sets: &RowSets) -> (Vec<RowSetHead>, Vec<u8>) {
    let mut bitmaps = Vec::new();
    let heads = sets.iter().map(|(file, set)| {
        let [rows, empties] = set.bytes();
        bitmaps.extend_from_slice(&rows);
        bitmaps.extend_from_slice(&empties);
        let (file, days) = (file.clone(), set.days.clone());
        RowSetHead { file, rows: rows.len() as u64, empties: empties.len() as u64, days }
    });
    (heads.collect(), bitmaps)
}

pub(super) fn read_sets(heads: Vec<RowSetHead>, rest: &mut &[u8]) -> Result<RowSets> {
    if !heads.is_sorted_by(|a, b| a.file < b.file) {
        return Err(damaged("the files of hidden rows are not in order"));
    }
    let mut sets = RowSets::new();
    for RowSetHead { file, rows, empties, days } in heads {
        let [rows, empties] = [bitmap(rest, rows)?, bitmap(rest, empties)?];
        let counted = days.values().try_fold(0_u64, |sum, &count| sum.checked_add(count));
        if counted != Some(rows.len()) {
            return Err(damaged("the days of hidden rows do not add up"));
        }
        sets.insert(file, Arc::new(RowSet { rows, empties, days }));
    }
    Ok(sets)
}

fn take<'a>(rest: &mut &'a [u8], length: u64) -> Result<&'a [u8]> {
    let length = usize::try_from(length).ok().filter(|&length| length <= rest.len());
    let Some(length) = length else {
        return Err(damaged("the list of hidden rows ends too early"));
    };
    let (taken, left) = rest.split_at(length);
    *rest = left;
    Ok(taken)
}

fn written(bitmap: &RoaringTreemap) -> Vec<u8> {
    let mut bitmap = bitmap.clone();
    bitmap.optimize();
    let mut bytes = Vec::new();
    bitmap.serialize_into(&mut bytes).expect("a vector takes what is written");
    bytes
}

fn bitmap(rest: &mut &[u8], length: u64) -> Result<RoaringTreemap> {
    let bytes = take(rest, length)?;
    let read = RoaringTreemap::deserialize_from(bytes).ok();
    read.filter(|bitmap| written(bitmap) == bytes)
        .ok_or_else(|| damaged("a bitmap of hidden rows is wrong"))
}
