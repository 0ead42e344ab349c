//! Going back: the contents that the store had before a day was added.
//!
//! If the version that the day was joined with is still there, they are its contents. If it was pruned, the newest version has them
//! among what was added later, and files that later days share with earlier ones are written again without the later days.
//! For example, going back to before 21, which was added in version 4:
//!
//! ```text
//! version   7: m n d23      m has 18 and 19, n has 20 and 21
//!           8: m n'         n' has 20, and d23 leaves
//! ```
//!
//! What was hidden since then stays hidden, because its rows may be gone from the disk: removed pages, and days that have
//! expired. Pages that the leaving days have replaced come back: the lists of those days
//! say which pages they are. The newest version hides them, and a merge may have left them out; what no file has any more is read from the
//! segments that were given. For example, 20 has replaced `b` and `d`:
//!
//! ```text
//! newest       18: a c     19: d e     20: f      b was merged away, and d is hidden
//! 20 leaves    18: a b c   19: d e                b is read from the segment of 18, and d is shown again
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use xxhash_rust::xxh3::xxh3_128;

use super::compact::merged_name;
use super::damage::damaged;
use super::dated::{Dated, Hidden};
use super::file_record::FileRecord;
use super::folder::Store;
use super::id_search::find_on_all_cores;
use super::manifest::{COMPACTED, Entry, Manifest, SEGMENTS};
use super::merge::{Target, merge};
use super::replacements::Replacements;
use super::row_sets::{RowSet, RowSets};
use super::segment::{Codec, Segment};
use super::version::Version;
use crate::day::Day;
use crate::error::Result;
use crate::output::{Lock, check_free_space};

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

impl Store {
    /// The manifest of version `next` with the contents of version `base`, which a day of `current` was joined with. If that was
    /// pruned, the pages of `back` come back.
    pub(super) fn going_back(
        &self,
        mut current: Version,
        base: u64,
        next: u64,
        back: &ComingBack,
        lock: &Lock,
    ) -> Result<Manifest> {
        if !self.is_pruned(base)? {
            return Ok(Manifest { version: next, ..self.manifest(base)? });
        }
        current.hide_replaced(back.still(&current.replaced))?;
        let stays = |entry: &&Entry| entry.added_in <= base;
        let mut manifest = current.manifest.clone();
        manifest.entries.retain(|entry| stays(&entry));
        for record in current.files() {
            let entries = || current.all_entries().iter().filter(|it| it.file == record.file);
            let leaving: Vec<Day> =
                entries().filter(|it| !stays(it)).map(|entry| entry.day).collect();
            let given: Vec<_> =
                entries().filter_map(|it| back.given.get_key_value(&it.day)).collect();
            if leaving.is_empty() && given.is_empty() {
                continue;
            }
            if !entries().any(|entry| stays(&entry) && !entry.has_expired()) {
                manifest.leave(&record.file);
                continue;
            }
            let first = entries().next().map(|entry| format!("-{}.seg", entry.day));
            let file = merged_name(COMPACTED, next).replace(".seg", &first.unwrap_or_default());
            let path = self.path().join(SEGMENTS).join(&file);
            let parts = given.iter().map(|(_, (dated, _))| dated.clone()).collect();
            let rest = current.without_days(&record, &leaving, parts, &path, lock)?;
            let left_out = current.gone_of(&record.file);
            manifest = manifest.merging(&[record.file], &left_out, &rest, file);
            for (&day, (_, count)) in given {
                let entry = manifest.entries.iter_mut().find(|entry| entry.day == day);
                let dropped = entry.map(|entry| (entry.dropped.checked_sub(*count), entry));
                let Some((Some(dropped), entry)) = dropped else {
                    let what = "more pages were replaced than the store has left out";
                    return Err(damaged(what).at(self.path()).found(day));
                };
                entry.dropped = dropped;
            }
        }
        if manifest.entries.is_empty() {
            (manifest.stamp, manifest.width) = (None, None);
        }
        manifest.version = next;
        self.with_replaced(manifest, RowSets::clone(&current.replaced), lock)
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
        let all = pages.pages.iter().map(|page| (page.day, page.id));
        let mut lost: BTreeSet<(Day, u128)> =
            all.filter(|&(day, id)| stays(day) && !self.is_removed(id, day)).collect();
        let mut shown = BTreeMap::new();
        for record in self.files() {
            let Some(hidden) = self.replaced.get(&record.file) else { continue };
            let dated = record.dated(&self.store)?;
            let found = find_on_all_cores(&dated, |id| pages.listed(id))?;
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

    /// Writes a file of this version to `path` without the days that are `leaving`, and without what is hidden of it, but with these
    /// `parts`.
    fn without_days(
        &self,
        record: &FileRecord,
        leaving: &[Day],
        mut parts: Vec<Dated>,
        path: &Path,
        lock: &Lock,
    ) -> Result<Segment> {
        let dated = record.dated(&self.store)?;
        check_free_space(&self.store, dated.segment().bytes())?;
        let gone = Arc::new(self.gone_and(record, |day| leaving.contains(&day))?);
        let hidden = Hidden { gone: Some(gone), ..self.hidden(record) };
        parts.push(dated.hiding(hidden));
        let target =
            Target { path, codec: Codec::default(), identity: "", fence: Some(lock.fence()) };
        merge(parts, &target, &AtomicU64::new(0))
    }
}
