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
//! expired. Pages that the leaving days have replaced come back (see `coming_back`).

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::coming_back::ComingBack;
use super::compact::merged_name;
use super::damage::damaged;
use super::dated::Dated;
use super::day::Day;
use super::file_record::FileRecord;
use super::folder::Store;
use super::manifest::{COMPACTED, Entry, Manifest, SEGMENTS};
use super::merge::{Target, merge};
use super::segment::{Codec, Segment};
use super::shown::Hidden;
use super::version::Version;
use crate::error::Result;
use crate::output::{Lock, check_free_space};

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
        current.hide_replaced(back.still(current.replaced()))?;
        let stays = |entry: &&Entry| entry.added_in <= base;
        let mut manifest = current.manifest().clone();
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
        self.with_replaced(manifest, current.replaced().clone(), lock)
    }
}

impl Version {
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
        let segment = record.open(&self.store().join(SEGMENTS))?;
        check_free_space(self.store(), segment.bytes())?;
        let gone = Arc::new(self.gone_and(record, |day| leaving.contains(&day))?);
        let hidden = Hidden { gone: Some(gone), ..self.hidden(record) };
        parts.push(Dated::new(segment, record.day()).hiding(hidden));
        let target =
            Target { path, codec: Codec::default(), identity: "", fence: Some(lock.fence()) };
        merge(parts, &target, &AtomicU64::new(0))
    }
}
