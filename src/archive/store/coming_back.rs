//! Pages that come back when the days that had replaced them leave the store, although the version before these days was pruned.
//!
//! The newest version hides them, and a merge may have left them out. So the lists of those days say which pages they are, and what no
//! file has any more is read from the segments that were given. For example, 20 has replaced `b` and `d`:
//!
//! ```text
//! newest       18: a c     19: d e     20: f      b was merged away, and d is hidden
//! 20 leaves    18: a b c   19: d e                b is read from the segment of 18, and d is shown again
//! ```

use std::collections::{BTreeMap, BTreeSet};

use xxhash_rust::xxh3::xxh3_128;

use super::dated::Dated;
use super::day::Day;
use super::id_search::find_on_all_cores;
use super::manifest::{Entry, SEGMENTS};
use super::replacements::Replacements;
use super::row_sets::{RowSet, RowSets};
use super::segment::Segment;
use super::shown::Hidden;
use super::version::Version;
use crate::error::Result;

/// Pages that come back when a store goes back; by default none.
#[derive(Debug, Default)]
pub struct ComingBack {
    /// The rows of each file that are shown again.
    shown: BTreeMap<String, Vec<(u64, Day)>>,
    pub(super) given: BTreeMap<Day, (Dated, u64)>,
    lost: BTreeSet<(Day, u128)>,
}

impl ComingBack {
    /// Whether a page should come back, and is in no segment that is there.
    pub fn lacks(&self, id: &str, day: Day) -> bool {
        self.lost.contains(&(day, xxh3_128(id.as_bytes())))
    }

    pub(super) fn still(&self, replaced: &RowSets) -> RowSets {
        let mut still = replaced.clone();
        for (file, rows) in &self.shown {
            let Some(hidden) = replaced.get(file) else { continue };
            match hidden.without(rows) {
                rest if rest.is_empty() => drop(still.remove(file)),
                rest => drop(still.insert(file.clone(), rest.into())),
            }
        }
        still
    }
}

impl Version {
    /// Of these `pages`, which days have replaced that were added after the version `base`, those that come back when these days leave:
    /// of days that stay and have not expired, and not those that were removed. `given` gives the segment that a day was added from, if it
    /// is there still.
    pub fn coming_back(
        &self,
        base: u64,
        pages: &Replacements,
        given: impl Fn(&Entry) -> Option<Segment>,
    ) -> Result<ComingBack> {
        let stays = |day| {
            self.entry(day).is_some_and(|entry| entry.added_in <= base && !entry.has_expired())
        };
        let all = pages.pages().iter().map(|page| (page.day, page.id));
        let mut lost: BTreeSet<(Day, u128)> =
            all.filter(|&(day, id)| stays(day) && !self.is_removed(id, day)).collect();
        let mut shown = BTreeMap::new();
        for record in self.files() {
            let Some(hidden) = self.replaced().get(&record.file) else { continue };
            let segment = record.open(&self.store().join(SEGMENTS))?;
            let found =
                find_on_all_cores(&Dated::new(segment, record.day()), |id| pages.listed(id))?;
            let rows: Vec<(u64, Day)> = found
                .rows
                .into_iter()
                .filter(|(row, day, id)| hidden.rows.contains(*row) && lost.remove(&(*day, *id)))
                .map(|(row, day, _)| (row, day))
                .collect();
            if !rows.is_empty() {
                shown.insert(record.file.clone(), rows);
            }
        }
        let mut back = BTreeMap::new();
        let days: BTreeSet<Day> = lost.iter().map(|(day, _)| *day).collect();
        for entry in days.into_iter().filter_map(|day| self.entry(day)) {
            let day = entry.day;
            let Some(segment) = given(entry).filter(|it| it.digest() == entry.source) else {
                continue;
            };
            let dated = Dated::new(segment.clone(), Some(day));
            let found = find_on_all_cores(&dated, |id| pages.listed(id))?.rows.into_iter();
            let found: BTreeSet<u64> =
                found.filter(|(_, _, id)| lost.remove(&(day, *id))).map(|(row, ..)| row).collect();
            let mut others = RowSet::default();
            let rows = (0..segment.rows()).filter(|row| !found.contains(row));
            others.add(rows.map(|row| (row, day)), 0..segment.empties());
            let hidden = Hidden { gone: Some(others.into()), expired: None };
            back.insert(day, (dated.hiding(hidden), found.len() as u64));
        }
        Ok(ComingBack { shown, given: back, lost })
    }
}
