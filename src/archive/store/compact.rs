//! Compaction: a version whose days are in fewer segments. Either all of them become one, or as many as the
//! rule of the tiers says (see `tiers`).

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;

use crate::error::Result;
use crate::output::{Lock, check_free_space};

use super::dated::Dated;
use super::digest::Digest;
use super::file_record::FileRecord;
use super::folder::Store;
use super::manifest::{COMPACTED, SEGMENTS};
use super::merge::{Target, merge};
use super::row_sets::RowSets;
use super::segment::Codec;
use super::tiers;
use super::version::Version;
use crate::day::Day;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merger {
    prefix: &'static str,
    files: Vec<String>,
    pub days: Vec<Day>,
    pub rows: u64,
}

impl Store {
    /// Merges all segments of the newest version into one, with its fingerprints coded by `codec`. The
    /// entries of the days stay as they are, and so does the digest of the version. `merged` grows by the
    /// fingerprints that have been read. Returns the new version; none if there was nothing to merge.
    pub fn compact(&self, codec: Codec, merged: &AtomicU64) -> Result<Option<Version>> {
        let lock = self.lock()?;
        let version = self.at(None)?;
        if is_compact(&version.dated()?, codec)? {
            return Ok(None);
        }
        let all = Merger::of(COMPACTED, version.files());
        self.merge(&version, &all, codec, &lock, merged).map(Some)
    }

    pub fn would_compact(&self, codec: Codec) -> Result<bool> {
        Ok(!is_compact(&self.at(None)?.dated()?, codec)?)
    }

    /// Does the one merge that is due by the rule of the tiers ([`Version::due`]), so that the store never
    /// has many segments. Otherwise as [`Store::compact`].
    pub fn compact_tiers(&self, merged: &AtomicU64) -> Result<Option<Version>> {
        let lock = self.lock()?;
        let version = self.at(None)?;
        let merge = |due| self.merge(&version, &due, Codec::default(), &lock, merged);
        version.due().map(merge).transpose()
    }

    /// Makes the version after `current`, in which the segments of `merger` are one, without hidden rows.
    pub(super) fn merge(
        &self,
        current: &Version,
        merger: &Merger,
        codec: Codec,
        lock: &Lock,
        merged: &AtomicU64,
    ) -> Result<Version> {
        self.remove_orphans(lock)?;
        let segments = self.path().join(SEGMENTS);
        let records = current.files().into_iter().filter(|it| merger.files.contains(&it.file));
        let parts = records
            .map(|record| current.date(record.open(self.path())?, &record))
            .collect::<Result<Vec<Dated>>>()?;
        check_free_space(self.path(), parts.iter().map(|part| part.segment().bytes()).sum())?;
        let file = merged_name(merger.prefix, current.number() + 1);
        let target = Target {
            path: &segments.join(&file),
            codec,
            identity: &identity(&parts),
            fence: Some(lock.fence()),
        };
        let merged = merge(parts, &target, merged)?;
        let mut left_out: BTreeMap<Day, u64> = BTreeMap::new();
        for (day, count) in merger.files.iter().flat_map(|file| current.gone_of(file)) {
            *left_out.entry(day).or_default() += count;
        }
        let next = current.manifest.merging(&merger.files, &left_out, &merged, file);
        self.commit(self.with_replaced(next, RowSets::clone(&current.replaced), lock)?, lock)
    }
}

impl Version {
    /// The segments that are to be merged next, so that the store never has many; none if it has few.
    /// Where ten segments are of about one size, within a power of ten, they become one. A segment with days that have
    /// expired, or with pages that were replaced, is rewritten when more than half of its rows are hidden: so no row is rewritten
    /// before a hidden row has paid for it.
    pub fn due(&self) -> Option<Merger> {
        let mut records = self.files();
        let weights: Vec<u128> = records.iter().map(|record| record.weight).collect();
        let due = tiers::due(&weights);
        let mut at = 0..;
        records.retain(|_| at.next().is_some_and(|at| due.binary_search(&at).is_ok()));
        if records.is_empty() {
            records.extend(self.files().into_iter().find(|record| self.is_mostly_hidden(record)));
        }
        (!records.is_empty()).then(|| Merger::of(COMPACTED, records))
    }

    fn is_mostly_hidden(&self, record: &FileRecord) -> bool {
        let is_replaced = self.replaced.get(&record.file).is_some();
        (record.expired().is_some() || is_replaced)
            && self.hidden(record).counts().0 > record.rows / 2
    }
}

impl Merger {
    pub(super) fn of(prefix: &'static str, records: Vec<FileRecord>) -> Merger {
        let mut days: Vec<Day> = records.iter().flat_map(FileRecord::days).collect();
        days.sort_unstable();
        let rows = records.iter().map(|record| record.rows).sum();
        let files = records.into_iter().map(|record| record.file).collect();
        Merger { prefix, files, days, rows }
    }

    pub fn segments(&self) -> usize {
        self.files.len()
    }
}

pub(super) fn merged_name(prefix: &str, number: u64) -> String {
    format!("{prefix}-{number:06}.seg")
}

fn identity(parts: &[Dated]) -> String {
    let digests = parts.iter().flat_map(|part| part.segment().digest().0.to_le_bytes());
    format!("{} segments {}", parts.len(), Digest::of(&digests.collect::<Vec<u8>>()))
}

fn is_compact(segments: &[Dated], codec: Codec) -> Result<bool> {
    match segments {
        [] => Ok(true),
        [one] if one.hides() => Ok(false),
        [one] => Ok(one.segment().codecs()?.into_keys().all(|found| found == codec)),
        _ => Ok(false),
    }
}
