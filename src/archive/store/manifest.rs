//! The manifest of one version: its contents as JSON that people can read, and a checksum.
//!
//! The checksum finds damage, but not a manifest that was edited on purpose: who edits it can compute
//! the checksum again. So a manifest is checked for impossible statements before it is used, and its
//! files are compared with it when they are opened (see `file_record`). A version with one day:
//!
//! ```text
//! {"format": 1, "version": 2, "stamp": "...", "width": 64, "entries": [
//!   {"day": "2026-11-21", "file": "2026-11-21-5e1f....seg", "digest": "5e1f...", "rows": 3, ...}]}
//! xxh3-64 9a7d3c...                           the checksum of everything above
//! ```

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Component, Path};

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::fingerprint::Width;

use super::damage::damaged;
use super::digest::Digest;
use super::digest_files::Listed;
use super::segment::Segment;
use crate::day::Day;

pub(super) const FORMAT: u32 = 1;

pub(super) const MANIFESTS: &str = "manifests";
pub(super) const SEGMENTS: &str = "segments";
/// How the names of merged segments begin, and of those that were rewritten without removed pages.
pub(super) const COMPACTED: &str = "compacted";
pub(super) const PURGED: &str = "purged";

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    pub(super) format: u32,
    pub version: u64,
    pub stamp: Option<String>,
    pub width: Option<u32>,
    pub entries: Vec<Entry>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub merged: Vec<Merged>,
    /// The file with the rows that pages of later days have replaced (see `replaced_rows`); none if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) replaced: Option<Digest>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) expired_before: Option<Day>,
    /// What the entries and files are changes of, in a file; none once it was read (see `manifest_file`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) base: Option<Base>,
}

/// What a manifest is based on, where it is not whole (see `manifest_file`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Base {
    pub(super) version: u64,
    /// The XXH3-64 of that manifest, of the whole file, in hex.
    pub(super) checksum: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) gone: Vec<Day>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) replaced: Vec<String>,
}

/// One day of a version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    pub day: Day,
    /// The name of its file in the folder `segments`: a segment of its own, or one of
    /// [`Version::merged`](super::Version::merged). Empty if the day has expired and no file has its rows any more.
    pub file: String,
    /// The digest of the segment it was added as.
    pub digest: Digest,
    pub rows: u64,
    pub empties: u64,
    /// The size of the segment it was added as.
    pub bytes: u64,
    pub added_in: u64,
    /// The digest of the segment that was given.
    pub source: Digest,
    /// The digest of the ids to which the segment was reduced, if it was.
    pub only: Option<Digest>,
    /// The digest of the pages of the store that its pages have replaced, if there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<Digest>,
    /// The digest of the slack of the pages for which its pages were dropped, or which replaced others (see `slack`); none if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slack: Option<Digest>,
    /// How many of its fingerprints were left out since, because their pages were removed or replaced.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dropped: u64,
    /// The first version in which it has expired; none if it is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expired_in: Option<u64>,
}

/// A segment that several days share, each row with its day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Merged {
    pub file: String,
    pub digest: Digest,
    pub rows: u64,
    pub bytes: u64,
}

impl Entry {
    /// The rows that its file has of the day.
    pub fn held(&self) -> u64 {
        if self.has_file() { self.rows.saturating_sub(self.dropped) } else { 0 }
    }

    pub(crate) fn has_file(&self) -> bool {
        !self.file.is_empty()
    }

    /// Whether its pages are not shown any more, because it is too old.
    pub fn has_expired(&self) -> bool {
        self.expired_in.is_some()
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Manifest {
    pub(crate) fn empty() -> Manifest {
        Manifest { format: FORMAT, version: 1, ..Manifest::default() }
    }

    /// The days that are shown. Those before them have expired.
    pub(crate) fn shown(&self) -> &[Entry] {
        &self.entries[self.entries.partition_point(Entry::has_expired)..]
    }

    /// The lists that it needs (see `digest_files`).
    pub(super) fn lists(&self) -> impl Iterator<Item = (Listed, Digest)> {
        let slack = self.shown().iter().filter_map(|entry| entry.slack);
        let replaced = self.replaced.into_iter().map(|it| (Listed::Rows, it));
        replaced.chain(slack.map(|it| (Listed::Slack, it)))
    }

    pub(crate) fn with(&self, segment: &Segment, entry: Entry) -> Manifest {
        let mut next = self.clone();
        next.version += 1;
        next.stamp = Some(segment.stamp().to_owned());
        next.width = Some(segment.width().bits());
        next.entries.push(entry);
        next.entries.sort_by_key(|entry| entry.day);
        next
    }

    /// The next version, with the days of `files` in the one segment `merged`, whose file is `file`. It was made
    /// without the `left_out` rows of each day, and without the days that have expired.
    pub(crate) fn merging(
        &self,
        files: &[String],
        left_out: &BTreeMap<Day, u64>,
        merged: &Segment,
        file: String,
    ) -> Manifest {
        let mut next = self.clone();
        next.version += 1;
        next.merged.retain(|merged| !files.contains(&merged.file));
        for entry in next.entries.iter_mut().filter(|entry| files.contains(&entry.file)) {
            if entry.has_expired() {
                entry.file.clear();
                continue;
            }
            entry.file.clone_from(&file);
            entry.dropped += left_out.get(&entry.day).copied().unwrap_or(0);
        }
        let (digest, rows, bytes) = (merged.digest(), merged.rows(), merged.bytes());
        next.merged.push(Merged { file, digest, rows, bytes });
        next
    }

    /// Takes out a file that no day needs any more: its days have left or expired.
    pub(super) fn leave(&mut self, file: &str) {
        self.merged.retain(|merged| merged.file != file);
        self.entries.iter_mut().filter(|it| it.file == file).for_each(|it| it.file.clear());
    }

    /// The next version, in which the days before `first` have expired. Files that have no other days leave it.
    pub(crate) fn expiring(&self, first: Day) -> Manifest {
        let mut next = self.clone();
        next.version += 1;
        next.expired_before = Some(first);
        let shown: HashSet<&str> =
            self.entries.iter().filter(|it| it.day >= first).map(|it| &*it.file).collect();
        for entry in next.entries.iter_mut().filter(|entry| entry.day < first) {
            entry.expired_in.get_or_insert(next.version);
            if !shown.contains(&*entry.file) {
                entry.file.clear();
            }
        }
        next.merged.retain(|merged| shown.contains(&*merged.file));
        next
    }

    pub(crate) fn merged(&self, file: &str) -> Option<&Merged> {
        self.merged.iter().find(|merged| merged.file == file)
    }

    pub(crate) fn entry(&self, day: Day) -> Option<&Entry> {
        let place = self.entries.binary_search_by_key(&day, |entry| entry.day).ok()?;
        self.entries.get(place)
    }

    pub(crate) fn width(&self) -> Option<Width> {
        self.width.and_then(Width::of_bits)
    }

    pub(super) fn check(&self) -> Result<()> {
        self.check_names()?;
        self.check_rows()?;
        let wrong = |what: &str| Err(damaged(what));
        if !self.entries.is_sorted_by(|a, b| a.day < b.day) {
            return wrong("the days of the manifest are out of order");
        }
        if !self.entries.iter().all(|entry| (2..=self.version).contains(&entry.added_in)) {
            return wrong("the manifest has a day that was added in an impossible version");
        }
        self.check_expiry()?;
        if !self.entries.is_empty() && (self.stamp.is_none() || self.width().is_none()) {
            return wrong("the manifest has days, but no recipe or width for them");
        }
        Ok(())
    }

    /// Checks that every file is in the folder `segments`, and that a file of one day has one entry.
    fn check_names(&self) -> Result<()> {
        let merged: HashSet<&str> = self.merged.iter().map(|merged| &*merged.file).collect();
        let mut met = HashSet::new();
        let held = self.entries.iter().filter(|it| it.has_file() || !it.has_expired());
        for name in held.map(|entry| &*entry.file).chain(merged.iter().copied()) {
            if !is_plain_name(name) {
                return Err(damaged("the manifest names a file outside the store")
                    .expected("the name of a file in the folder `segments`")
                    .found(format_args!("{name:.100?}")));
            }
        }
        let own = self.entries.iter().filter(|it| it.has_file() && !merged.contains(&*it.file));
        match own.map(|entry| &entry.file).find(|file| !met.insert(*file)) {
            None if merged.len() == self.merged.len() => Ok(()),
            _ => Err(damaged("the manifest uses one file twice")),
        }
    }

    /// Checks that the days before one day have expired, in possible versions, and no others; and that a file has at
    /// least one day that has not.
    fn check_expiry(&self) -> Result<()> {
        let shown: HashSet<&str> = self.shown().iter().map(|entry| &*entry.file).collect();
        let sound = |entry: &Entry| match entry.expired_in {
            Some(version) => {
                (entry.added_in + 1..=self.version).contains(&version)
                    && (!entry.has_file() || shown.contains(&*entry.file))
            }
            None => true,
        };
        let is_before = |entry: &Entry| self.expired_before.is_some_and(|day| entry.day < day);
        let agrees = |entry: &Entry| entry.has_expired() == is_before(entry) && sound(entry);
        if self.entries.iter().all(agrees) {
            return Ok(());
        }
        Err(damaged("the manifest has days that have expired in an impossible way"))
    }

    /// Checks that the days of a shared segment have all its rows, that rows were left out of such segments only, and
    /// that the sum of rows is possible.
    fn check_rows(&self) -> Result<()> {
        let mut rows: HashMap<&str, u128> = HashMap::new();
        for entry in &self.entries {
            *rows.entry(&entry.file).or_default() += u128::from(entry.held());
        }
        let drops =
            |it: &Entry| it.dropped == 0 || !it.has_file() || self.merged(&it.file).is_some();
        let sound = self.entries.iter().all(|it| it.dropped <= it.rows && drops(it));
        let countable = rows.values().sum::<u128>() <= u128::from(u64::MAX);
        let shared = |it: &Merged| rows.get(&*it.file).copied() == Some(u128::from(it.rows));
        if !sound || !countable || !self.merged.iter().all(shared) {
            return Err(damaged("the numbers of rows in the manifest do not add up"));
        }
        Ok(())
    }
}

pub(super) fn manifest_name(version: u64) -> String {
    format!("{version:06}.json")
}

/// Whether `name` is a plain file name, which cannot lead out of its folder.
fn is_plain_name(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    let first = parts.next();
    first == Some(Component::Normal(name.as_ref()))
        && parts.next().is_none()
        && !name.contains('\0')
}
