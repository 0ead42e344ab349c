//! What a manifest says about one of its files, and the check that the file agrees.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use crate::error::{Error, Kind, Result};
use crate::fingerprint::Width;

use super::damage::damaged;
use super::dated::{Dated, Expired};
use super::digest::Digest;
use super::manifest::{Manifest, SEGMENTS};
use super::segment::Segment;
use crate::day::Day;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileRecord {
    pub file: String,
    pub bytes: u64,
    digest: Digest,
    pub rows: u64,
    /// Its documents without a fingerprint, if it has one day. For a file of several days the manifest
    /// does not say, because days may share such documents.
    empties: Option<u64>,
    stamp: Option<String>,
    width: Option<Width>,
    /// The number of rows of each day in it, also of those that have expired.
    days: BTreeMap<Day, u64>,
    /// The days before this one have expired, and some of its days with them; none if none of its days has.
    expired_before: Option<Day>,
    /// The rows, the documents without a fingerprint, and the days that came in: what a merged segment has
    /// of these is the sum over its parts.
    pub weight: u128,
}

impl FileRecord {
    pub(crate) fn all(manifest: &Manifest) -> Vec<FileRecord> {
        let mut records: Vec<FileRecord> = Vec::new();
        let mut places: HashMap<&str, usize> = HashMap::new();
        for entry in manifest.entries.iter().filter(|entry| entry.has_file()) {
            let place = *places.entry(&entry.file).or_insert(records.len());
            if place == records.len() {
                let merged = manifest.merged(&entry.file);
                records.push(FileRecord {
                    file: entry.file.clone(),
                    bytes: merged.map_or(entry.bytes, |merged| merged.bytes),
                    digest: merged.map_or(entry.digest, |merged| merged.digest),
                    rows: merged.map_or(entry.rows, |merged| merged.rows),
                    empties: merged.is_none().then_some(entry.empties),
                    stamp: manifest.stamp.clone(),
                    width: manifest.width(),
                    days: BTreeMap::new(),
                    expired_before: manifest.expired_before.filter(|day| entry.day < *day),
                    weight: 0,
                });
            }
            records[place].days.insert(entry.day, entry.held());
            records[place].weight += u128::from(entry.held()) + u128::from(entry.empties) + 1;
        }
        records
    }

    /// The day of all its rows; none if several days share the file.
    pub(crate) fn day(&self) -> Option<Day> {
        self.empties.and_then(|_| self.days.keys().next().copied())
    }

    pub(crate) fn has(&self, day: Day) -> bool {
        self.days.contains_key(&day)
    }

    /// Whether its file has rows of other days too, which its manifest does not name.
    pub(crate) fn has_other_days(&self) -> bool {
        self.days.values().sum::<u64>() < self.rows
    }

    /// Its days that are shown, in order.
    pub(crate) fn days(&self) -> impl Iterator<Item = Day> {
        self.days.keys().copied().filter(|day| self.expired_before.is_none_or(|it| *day >= it))
    }

    pub(crate) fn expired(&self) -> Option<Expired> {
        let before = self.expired_before?;
        Some(Expired { before, rows: self.days.range(..before).map(|(_, rows)| rows).sum() })
    }

    pub(crate) fn open(&self, store: &Path) -> Result<Segment> {
        let path = store.join(SEGMENTS).join(&self.file);
        let segment = Segment::open(&path).map_err(|error| match error.kind() {
            Kind::Missing => Error::new(Kind::Missing, "the store has lost this segment")
                .called("store-damaged")
                .at(&path)
                .help("restore it from a copy, or roll back to a version that does not need it"),
            _ => error,
        })?;
        self.check(&segment).map(|()| segment)
    }

    /// Its segment, of which nothing is hidden.
    pub(super) fn dated(&self, store: &Path) -> Result<Dated> {
        Ok(Dated::new(self.open(store)?, self.day()))
    }

    pub(crate) fn check(&self, segment: &Segment) -> Result<()> {
        if segment.digest() != self.digest {
            return Err(damaged("this is not the segment that the manifest describes")
                .at(segment.path())
                .expected(self.digest)
                .found(segment.digest()));
        }
        let told = (self.rows, self.empties.unwrap_or(segment.empties()), self.bytes);
        let found = (segment.rows(), segment.empties(), segment.bytes());
        if told != found {
            let show = |(rows, empties, bytes)| {
                format!("{rows} fingerprints, {empties} empty documents, {bytes} bytes")
            };
            let what = "the manifest gives wrong counts for this segment";
            return Err(Error::new(Kind::BadData, what)
                .at(segment.path())
                .expected(show(told))
                .found(show(found))
                .help("the manifest is damaged: restore it from a copy of the store"));
        }
        let by_days = segment.days().is_some() != self.empties.is_some();
        let found = (Some(segment.width()), Some(segment.stamp()));
        if !by_days || (self.width, self.stamp.as_deref()) != found {
            return Err(damaged("the manifest describes a segment of another kind or recipe")
                .at(segment.path())
                .expected(format_args!("{:?} by {:?}", self.width, self.stamp))
                .found(format_args!("{:?} by {:?}", segment.width(), segment.stamp())));
        }
        Ok(())
    }

    /// Fails unless each day has as many rows in the file as the manifest says. `found` has the rows of
    /// each day in a file of several days.
    pub(crate) fn check_days(&self, segment: &Segment, found: &BTreeMap<Day, u64>) -> Result<()> {
        let told = self.days.iter().filter(|(_, rows)| **rows > 0);
        if self.empties.is_none() && !told.eq(found) {
            return Err(damaged("the days have other numbers of rows than the manifest says")
                .at(segment.path())
                .found(format_args!("{found:?}")));
        }
        Ok(())
    }
}
