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
//! What was hidden since then stays hidden, because its rows may be gone from the disk: removed pages, days that have
//! expired, and pages that later days have replaced.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::compact::merged_name;
use super::dated::Dated;
use super::day::Day;
use super::file_record::FileRecord;
use super::folder::Store;
use super::manifest::{COMPACTED, Entry, Manifest, SEGMENTS};
use super::merge::{Target, merge};
use super::row_sets::RowSet;
use super::segment::{Codec, Segment};
use super::shown::Hidden;
use super::version::Version;
use crate::error::Result;
use crate::output::{Lock, check_free_space};

impl Store {
    /// The manifest of version `next` with the contents of version `base`, which a day of `current` was joined with.
    ///
    /// # Errors
    /// Damage is [`Kind::BadData`](crate::Kind::BadData).
    pub(super) fn going_back(
        &self,
        current: &Version,
        base: u64,
        next: u64,
        lock: &Lock,
    ) -> Result<Manifest> {
        if !self.is_pruned(base)? {
            return Ok(Manifest { version: next, ..self.manifest(base)? });
        }
        let stays = |entry: &&Entry| entry.added_in <= base;
        let mut manifest = current.manifest().clone();
        manifest.entries.retain(|entry| stays(&entry));
        for record in current.files() {
            let entries = || current.all_entries().iter().filter(|it| it.file == record.file);
            let leaving: Vec<Day> =
                entries().filter(|it| !stays(it)).map(|entry| entry.day).collect();
            let Some(first) = leaving.first() else { continue };
            if !entries().any(|entry| stays(&entry) && !entry.has_expired()) {
                manifest.leave(&record.file);
                continue;
            }
            let file = merged_name(COMPACTED, next).replace(".seg", &format!("-{first}.seg"));
            let path = self.path().join(SEGMENTS).join(&file);
            let rest = current.without_days(&record, &leaving, &path, lock)?;
            let left_out = current.gone_of(&record.file);
            manifest = manifest.merging(&[record.file], &left_out, &rest, file);
        }
        if manifest.entries.is_empty() {
            (manifest.stamp, manifest.width) = (None, None);
        }
        manifest.version = next;
        self.with_replaced(manifest, current.replaced().clone(), lock)
    }
}

impl Version {
    /// Writes a file of this version to `path` without the days that are `leaving`, and without what is hidden of it.
    fn without_days(
        &self,
        record: &FileRecord,
        leaving: &[Day],
        path: &Path,
        lock: &Lock,
    ) -> Result<Segment> {
        let segment = record.open(&self.store().join(SEGMENTS))?;
        check_free_space(self.store(), segment.bytes())?;
        let Hidden { gone, expired } = self.hidden(record);
        let mut gone = gone.map_or_else(RowSet::default, |gone| RowSet::clone(&gone));
        let rest = Dated::new(segment, record.day());
        let mut days = rest.days();
        for row in 0..rest.segment().rows() {
            let day = days.get(row)?;
            if leaving.contains(&day) {
                gone.add([(row, day)].into_iter(), [].into_iter());
            }
        }
        let rest = rest.hiding(Hidden { gone: Some(Arc::new(gone)), expired });
        let target =
            Target { path, codec: Codec::default(), identity: "", fence: Some(lock.fence()) };
        merge(vec![rest], &target, &AtomicU64::new(0))
    }
}
