//! One version of the store: its segments, and how its key space is divided into chunks.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use crate::error::{Error, Kind, Result};
use crate::fingerprint::{Fingerprint, Width};
use crate::progress::{self, Activity};

use super::damage::damaged;
use super::dated::{Dated, Hidden};
use super::digest::Digest;
use super::file_record::FileRecord;
use super::manifest::{Entry, Manifest, Merged};
use super::pointer::Pointer;
use super::removals::Removals;
use super::replaced_rows;
use super::row_sets::{RowSet, RowSets, copy_of};
use super::segment::KeyRange;
use super::segment::Segment;
use super::slack::Slack;
use crate::day::Day;

/// The target size of a chunk in compressed bytes, at least and at most.
const CHUNK_BYTES: RangeInclusive<u64> = 256 << 10..=64 << 20;
/// The number of chunks of a store, so that many workers can share it.
const CHUNKS: u64 = 64;
/// A join is fastest in windows of a million fingerprints. So a store whose chunks would be smaller than `WINDOW_BYTES` has fewer chunks, but
/// `FEWEST`. The prices of `tables` know this rule.
const FEWEST: u64 = 16;
const WINDOW_BYTES: u64 = 4 << 20;

const SPARE_FILES: u64 = 64;

pub fn chunk_bytes(segments: &[Segment]) -> u64 {
    let all: u64 = segments.iter().flat_map(Segment::cuts).map(|(_, bytes)| bytes).sum();
    let bytes = (all / CHUNKS).max((all / FEWEST).min(WINDOW_BYTES));
    bytes.clamp(*CHUNK_BYTES.start(), *CHUNK_BYTES.end())
}

/// A version of a store. It never changes, but for pages that are removed from all versions.
#[derive(Clone, Debug)]
pub struct Version {
    pub(super) store: PathBuf,
    pub(super) manifest: Manifest,
    /// What was removed from the store when this was read.
    removals: Arc<Removals>,
    /// The rows of its files that pages of later days have replaced.
    pub(super) replaced: Arc<RowSets>,
    /// The rows of its files that were removed or replaced.
    gone: RowSets,
    /// Whether nothing but its manifest is known.
    is_pruned: bool,
}

impl Version {
    pub(super) fn of(store: &Path, manifest: Manifest) -> Result<Version> {
        let removals = Removals::read(store)?;
        let mut version = Version {
            store: store.to_path_buf(),
            manifest,
            removals,
            replaced: Arc::default(),
            gone: RowSets::default(),
            is_pruned: false,
        };
        let replaced = replaced_rows::read(store, version.manifest.replaced);
        let replaced = replaced.map_err(|error| version.explain_lost(error))?;
        version.hide_replaced(replaced)?;
        Ok(version)
    }

    pub(super) fn hide_replaced(&mut self, replaced: RowSets) -> Result<()> {
        let mut gone = RowSets::default();
        for record in self.files() {
            let file = &record.file;
            let rows = match (self.removals.files.get(file), replaced.get(file)) {
                (None, None) => continue,
                (Some(rows), None) | (None, Some(rows)) => Arc::clone(rows),
                (Some(removed), Some(replaced)) if removed.rows.is_disjoint(&replaced.rows) => {
                    removed.or(replaced, |_| unreachable!("no row is in both"))?.into()
                }
                (Some(removed), Some(replaced)) => {
                    let mut days = Dated::new(self.open(&record)?, record.day()).days();
                    removed.or(replaced, |row| days.get(row))?.into()
                }
            };
            gone.insert(file.clone(), rows);
        }
        (self.replaced, self.gone) = (Arc::new(replaced), gone);
        Ok(())
    }

    /// The version with that number, after it was pruned: its days are those of this version that were added up to then, because
    /// no version between the two has taken one of them back.
    pub(super) fn pruned_to(mut self, number: u64) -> Version {
        self.manifest.entries.retain(|entry| entry.added_in <= number);
        for entry in &mut self.manifest.entries {
            // Those that have expired later were shown.
            entry.expired_in = entry.expired_in.filter(|version| *version <= number);
        }
        self.manifest.version = number;
        Version { is_pruned: true, ..self }
    }

    /// What this version has still of the one with that number: the days that were added up to then, without what was hidden since.
    pub(super) fn left_of(mut self, number: u64) -> Result<Version> {
        self.manifest.entries.retain(|entry| entry.added_in <= number);
        self.manifest.version = number;
        for record in self.files().into_iter().filter(|record| record.has_other_days()) {
            let rows = self.gone_and(&record, |day| !record.has(day))?;
            self.gone.insert(record.file, rows.into());
        }
        Ok(self)
    }

    pub(super) fn gone_and(
        &self,
        record: &FileRecord,
        leaving: impl Fn(Day) -> bool,
    ) -> Result<RowSet> {
        let mut gone = copy_of(&self.gone, &record.file);
        let segment = self.open(record)?;
        let rows = segment.rows();
        let mut days = Dated::new(segment, record.day()).days();
        for row in 0..rows {
            let day = days.get(row)?;
            if leaving(day) {
                gone.add([(row, day)].into_iter(), [].into_iter());
            }
        }
        Ok(gone)
    }

    /// How much its pages may still lack in pages that replace them.
    pub fn slack(&self) -> Result<Slack> {
        let lists = self.entries().iter().filter_map(|entry| entry.slack);
        Slack::read(&self.store, lists).map_err(|error| self.explain_lost(error))
    }

    pub fn number(&self) -> u64 {
        self.manifest.version
    }

    pub fn stamp(&self) -> Option<&str> {
        self.manifest.stamp.as_deref()
    }

    pub fn width(&self) -> Option<Width> {
        self.manifest.width()
    }

    /// Its days, without those that have expired.
    pub fn entries(&self) -> &[Entry] {
        self.manifest.shown()
    }

    /// The days that were ever added to it: those that have expired, and then [`Version::entries`].
    pub fn all_entries(&self) -> &[Entry] {
        &self.manifest.entries
    }

    /// The first day that has not expired, even if it is not there; none if no day has expired.
    pub fn expired_before(&self) -> Option<Day> {
        self.manifest.expired_before
    }

    /// The entry of `day`, if that was added to it. It may have expired.
    pub fn entry(&self, day: Day) -> Option<&Entry> {
        self.manifest.entry(day)
    }

    pub fn merged(&self) -> &[Merged] {
        &self.manifest.merged
    }

    pub fn segment_count(&self) -> u64 {
        self.files().len() as u64
    }

    /// The number of fingerprints in its files, which is what a join reads.
    pub fn rows(&self) -> u64 {
        self.files().iter().map(|record| record.rows).sum()
    }

    /// The number of fingerprints in its files whose days have expired.
    pub fn expired_rows(&self) -> u64 {
        self.all_entries().iter().filter(|entry| entry.has_expired()).map(Entry::held).sum()
    }

    /// The number of fingerprints of pages that were neither removed nor replaced, and have not expired.
    pub fn shown_rows(&self) -> u64 {
        self.entries().iter().map(|entry| self.shown_of(entry)).sum()
    }

    /// The number of fingerprints of a day whose pages were neither removed nor replaced.
    pub fn shown_of(&self, entry: &Entry) -> u64 {
        entry.held().saturating_sub(count_of(self.gone.get(&entry.file), entry.day))
    }

    /// The number of fingerprints of pages that were removed and have not expired.
    pub fn removed_rows(&self) -> u64 {
        let count = |entry: &Entry| count_of(self.removals.files.get(&entry.file), entry.day);
        self.entries().iter().map(count).sum()
    }

    /// The number of fingerprints of a day whose pages were replaced by pages of other days, and not removed.
    pub fn replaced_of(&self, entry: &Entry) -> u64 {
        let [gone, removed] = [self.gone.get(&entry.file), self.removals.files.get(&entry.file)];
        count_of(gone, entry.day).saturating_sub(count_of(removed, entry.day))
    }

    /// The number of fingerprints of pages that were replaced, not removed, and have not expired.
    pub fn replaced_rows(&self) -> u64 {
        self.entries().iter().map(|entry| self.replaced_of(entry)).sum()
    }

    /// The digest of its contents: the days, the digests of their segments, and what all days that were ever added to it have
    /// replaced and say of slack. Its number does not count.
    pub fn digest(&self) -> Digest {
        let mut hasher = Xxh3::new();
        for entry in self.entries() {
            hasher.update(entry.day.to_string().as_bytes());
            hasher.update(&entry.digest.0.to_le_bytes());
        }
        for list in
            self.all_entries().iter().flat_map(|entry| [entry.replaces, entry.slack]).flatten()
        {
            hasher.update(&list.0.to_le_bytes());
        }
        Digest(hasher.digest128())
    }

    /// The version to join `day` with: the one before `day` was added, or this one if it was not.
    pub fn before(&self, day: Day) -> u64 {
        self.joined_by(day).unwrap_or(self.number())
    }

    /// The version that `day` was joined with, which is the one before it was added; none if this version
    /// does not have the day.
    pub fn joined_by(&self, day: Day) -> Option<u64> {
        self.manifest.entry(day).map(|entry| entry.added_in - 1)
    }

    /// Opens all segments in a fixed order. There may be thousands, so the limit on open files is raised
    /// as far as the system allows.
    pub fn segments(&self) -> Result<Vec<Segment>> {
        if self.is_pruned {
            return Err(self.pruned(Kind::Missing));
        }
        let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
        let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
        let records = self.files();
        let files = records.len() as u64;
        match getrlimit(Resource::Nofile).current {
            Some(allowed) if files + SPARE_FILES > allowed => Err(self.too_many(files, allowed)),
            _ => records.iter().map(|record| self.open(record)).collect(),
        }
    }

    pub(super) fn open(&self, record: &FileRecord) -> Result<Segment> {
        let segment = record.open(&self.store);
        segment.map_err(|error| self.explain_lost(error))
    }

    /// The error that one of its files is not there, if it was pruned since.
    fn explain_lost(&self, error: Error) -> Error {
        match error.kind() {
            Kind::Missing if self.is_gone() => self.pruned(Kind::Temporary),
            _ => error,
        }
    }

    fn is_gone(&self) -> bool {
        let oldest = Pointer::to_oldest(&self.store).ok().flatten();
        oldest.is_some_and(|oldest| oldest.version > self.number())
    }

    fn pruned(&self, kind: Kind) -> Error {
        let what = format!("version {} of the store was pruned", self.number());
        let help = match kind {
            Kind::Temporary => "try again",
            _ => {
                "a day that was joined with it cannot be joined again as it was: restore its output from a copy, or make the day again with the days after it"
            }
        };
        Error::new(kind, what).at(&self.store).help(help)
    }

    fn too_many(&self, files: u64, allowed: u64) -> Error {
        Error::new(Kind::Permission, "the store has more segments than this process may open files").called("too-many-segments")
            .at(&self.store)
            .expected(format_args!("a limit of at least {}", files + SPARE_FILES))
            .found(allowed)
            .help("raise the hard limit on open files (`ulimit -Hn`, or `LimitNOFILE` in systemd), or merge the segments")
            .job("store compact")
    }

    /// Opens all segments, as [`Version::segments`], with the days of their rows and what is hidden of them.
    pub fn dated(&self) -> Result<Vec<Dated>> {
        let segments = self.segments()?.into_iter();
        segments.zip(self.files()).map(|(segment, record)| self.date(segment, &record)).collect()
    }

    pub(super) fn date(&self, segment: Segment, record: &FileRecord) -> Result<Dated> {
        let hidden = self.hidden(record);
        if let Some(gone) = &hidden.gone {
            let beyond = gone.rows.max() >= Some(segment.rows())
                || gone.empties.max() >= Some(segment.empties());
            if beyond {
                return Err(damaged("more rows are hidden than the segment has").at(segment.path()));
            }
        }
        Ok(Dated::new(segment, record.day()).hiding(hidden))
    }

    pub(super) fn hidden(&self, record: &FileRecord) -> Hidden {
        Hidden { gone: self.gone.get(&record.file).cloned(), expired: record.expired() }
    }

    /// The XXH3-128 of the ids of all pages that it shows of these days. Files without these days are not read, and others once.
    pub fn shown_pages(&self, days: &[Day]) -> Result<BTreeMap<Day, Vec<u128>>> {
        let mut pages: BTreeMap<Day, Vec<u128>> =
            days.iter().map(|&day| (day, Vec::new())).collect();
        let has_any = |record: &&FileRecord| days.iter().any(|&day| record.has(day));
        for record in self.files().iter().filter(has_any) {
            let dated = self.date(self.open(record)?, record)?;
            let (mut ids, mut dates, mut shown) =
                (dated.segment().ids(), dated.days(), dated.shown());
            for row in 0..dated.segment().rows() {
                progress::tick(Activity::Reading);
                if let Some(pages) = pages.get_mut(&dates.get(row)?)
                    && shown.get(row)?
                {
                    pages.push(xxh3_128(ids.get(row)?.as_bytes()));
                }
            }
        }
        Ok(pages)
    }

    /// A digest of what was removed from its files; none if nothing was.
    pub fn removals(&self) -> Option<Digest> {
        let mut hasher = Xxh3::new();
        let mut is_any = false;
        for record in self.files() {
            let Some(removed) = self.removals.files.get(&record.file) else { continue };
            is_any = true;
            hasher.update(record.file.as_bytes());
            hasher.update(&removed.digest().0.to_le_bytes());
        }
        is_any.then(|| Digest(hasher.digest128()))
    }

    /// Whether the page of this day with this XXH3-128 of its id was taken out.
    pub fn is_removed(&self, id: u128, day: Day) -> bool {
        self.removals.has_digest(id, day)
    }

    pub(super) fn gone_of(&self, file: &str) -> BTreeMap<Day, u64> {
        self.gone.get(file).map_or_else(BTreeMap::new, |gone| gone.days.clone())
    }

    /// What its manifest says about each of its files, in the order of their first days.
    pub(crate) fn files(&self) -> Vec<FileRecord> {
        FileRecord::all(&self.manifest)
    }
}

fn count_of(rows: Option<&Arc<RowSet>>, day: Day) -> u64 {
    rows.and_then(|rows| rows.days.get(&day)).copied().unwrap_or(0)
}

/// Divides the key space into ranges in which all segments together have about `target_bytes` of
/// compressed fingerprints. The ranges are consecutive and cover every key; without any row there are
/// none. They depend only on the segments and the target.
///
/// An example: blocks of 10 bytes that start at 0, 40 and 90 in one segment and at 0 and 60 in another give,
/// for a target of 25 bytes, a range from 0 to below 60 (the blocks at 0, 0 and 40) and a range from 60 on
/// (60 and 90).
pub fn chunks<F: Fingerprint>(segments: &[Segment], target_bytes: u64) -> Vec<KeyRange<F>> {
    assert!(segments.iter().all(|segment| segment.width() == F::WIDTH), "one width for all");
    let mut cuts: Vec<(u128, u64)> = segments.iter().flat_map(Segment::cuts).collect();
    cuts.sort_unstable();
    let mut chunks = Vec::new();
    let mut low = 0;
    let mut held = 0;
    for &(first, bytes) in &cuts {
        if held >= target_bytes && first > low {
            chunks.push(KeyRange { low: F::from_u128(low), high: F::from_u128(first - 1) });
            low = first;
            held = 0;
        }
        held += bytes;
    }
    if !cuts.is_empty() {
        chunks.push(KeyRange { low: F::from_u128(low), high: F::MAX });
    }
    chunks
}
