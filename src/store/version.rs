//! One version of the store: which segments it holds, and how its key space is cut into chunks.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use xxhash_rust::xxh3::Xxh3;

use crate::error::{Error, Kind, Result};
use crate::fingerprint::{Fingerprint, Width};

use super::dated::Dated;
use super::day::Day;
use super::digest::Digest;
use super::file_record::FileRecord;
use super::manifest::{Entry, Manifest, Merged};
use super::segment::KeyRange;
use super::segment::{Segment, hot};

/// The most compressed bytes that a chunk is meant to have, and the least.
const CHUNK_BYTES: RangeInclusive<u64> = 256 << 10..=64 << 20;
/// How many chunks a store should have at least, so that many workers share a small one.
const CHUNKS: u64 = 64;

/// Files that a job opens beside the segments, with some to spare.
const SPARE_FILES: u64 = 64;

/// How many compressed bytes the chunks of a store of `segments` should have.
pub fn chunk_bytes(segments: &[Segment]) -> u64 {
    let all: u64 = segments.iter().flat_map(Segment::cuts).map(|(_, bytes)| bytes).sum();
    (all / CHUNKS).clamp(*CHUNK_BYTES.start(), *CHUNK_BYTES.end())
}

/// A version of a store, which never changes.
#[derive(Clone, Debug)]
pub struct Version {
    segments: PathBuf,
    manifest: Manifest,
}

impl Version {
    pub(crate) fn new(segments: &Path, manifest: Manifest) -> Version {
        Version { segments: segments.to_path_buf(), manifest }
    }

    /// Its number; versions count from 1, which is empty.
    pub fn number(&self) -> u64 {
        self.manifest.version
    }

    /// The stamp of its recipe, unless it is empty.
    pub fn stamp(&self) -> Option<&str> {
        self.manifest.stamp.as_deref()
    }

    /// The width of its fingerprints, unless it is empty.
    pub fn width(&self) -> Option<Width> {
        self.manifest.width()
    }

    /// Its days.
    pub fn entries(&self) -> &[Entry] {
        &self.manifest.entries
    }

    /// What it holds under `day`, if it does.
    pub fn entry(&self, day: Day) -> Option<&Entry> {
        self.manifest.entry(day)
    }

    /// Its segments of several days.
    pub fn merged(&self) -> &[Merged] {
        &self.manifest.merged
    }

    /// The number of its fingerprints.
    pub fn rows(&self) -> u64 {
        self.entries().iter().map(|entry| entry.rows).sum()
    }

    /// The digest of its contents, whatever its number: days, and the digests of their segments.
    pub fn digest(&self) -> Digest {
        let mut hasher = Xxh3::new();
        for entry in self.entries() {
            hasher.update(entry.day.to_string().as_bytes());
            hasher.update(&entry.digest.0.to_le_bytes());
        }
        Digest(hasher.digest128())
    }

    /// The version that `day` is to be joined with: the one before it was added, or this one.
    pub fn before(&self, day: Day) -> u64 {
        self.joined_by(day).unwrap_or(self.number())
    }

    /// The version that `day` was joined with, which is the one before it was added, if it is held.
    pub fn joined_by(&self, day: Day) -> Option<u64> {
        self.manifest.entry(day).map(|entry| entry.added_in - 1)
    }

    /// Opens all segments, those of one day and those of several alike, in an order that does not
    /// change, and raises the limit on open files to what the system allows, for there may be
    /// thousands.
    ///
    /// # Errors
    /// A file that is not the one the manifest tells of is [`Kind::BadData`], and more files than
    /// the system lets one process open are [`Kind::Permission`].
    pub fn segments(&self) -> Result<Vec<Segment>> {
        let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
        let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
        let records = self.files();
        let files = records.len() as u64;
        match getrlimit(Resource::Nofile).current {
            Some(allowed) if files + SPARE_FILES > allowed => Err(self.too_many(files, allowed)),
            _ => records.iter().map(|record| record.open(&self.segments)).collect(),
        }
    }

    /// The system does not let all segments be open at once.
    fn too_many(&self, files: u64, allowed: u64) -> Error {
        Error::new(Kind::Permission, "the store has more segments than files may be open")
            .at(&self.segments)
            .expected(format_args!("at least {} allowed", files + SPARE_FILES))
            .found(allowed)
            .help("raise the hard limit on open files (`ulimit -Hn`, `LimitNOFILE` of systemd)")
    }

    /// Its segments, as [`Version::segments`] opened them, with the days of their rows.
    pub fn dated(&self, segments: Vec<Segment>) -> Vec<Dated> {
        let days = self.files().into_iter().map(|record| record.day());
        segments.into_iter().zip(days).map(|(segment, day)| Dated::new(segment, day)).collect()
    }

    /// What its manifest says of each of its files, in the order of their first days.
    pub(crate) fn files(&self) -> Vec<FileRecord> {
        FileRecord::all(&self.manifest)
    }
}

/// Cuts the key space into ranges in which the segments together hold about `target_bytes` of
/// compressed fingerprints. The ranges follow on one another and cover every key; without any row
/// there are none. They depend on nothing but the segments and the target, and their bounds on hot bits alone.
///
/// # Panics
/// If `F` is not of the segments' width.
pub fn chunks<F: Fingerprint>(segments: &[Segment], target_bytes: u64) -> Vec<KeyRange<F>> {
    assert!(segments.iter().all(|segment| segment.width() == F::WIDTH), "one width for all");
    let mut cuts: Vec<(u128, u64)> = segments.iter().flat_map(Segment::cuts).collect();
    cuts.sort_unstable();
    let (mut chunks, mut low, mut held) = (Vec::new(), 0, 0);
    for &(first, bytes) in &cuts {
        // What differs in cold bits only stays together.
        let first = hot(first);
        if held >= target_bytes && first > low {
            chunks.push(KeyRange { low: F::from_u128(low), high: F::from_u128(first - 1) });
            (low, held) = (first, 0);
        }
        held += bytes;
    }
    if !cuts.is_empty() {
        chunks.push(KeyRange { low: F::from_u128(low), high: F::MAX });
    }
    chunks
}
