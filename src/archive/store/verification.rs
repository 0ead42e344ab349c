//! Verifies versions of a store: reads each of their segments once and compares it with all that the
//! manifests say about it. No page that was removed may be shown in any, and no other may be hidden.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use roaring::RoaringTreemap;

use crate::error::{Kind, Result};

use super::damage::damaged;
use super::dated::Dated;
use super::digest::Digest;
use super::digest_files::Listed;
use super::file_record::FileRecord;
use super::folder::Store;
use super::going_back::ComingBack;
use super::id_search::find_on_all_cores;
use super::manifest_file::ManifestReader;
use super::removals::Removals;
use super::replaced_rows;
use super::segment::Segment;
use super::slack::Slack;
use super::version::Version;
use crate::day::Day;

/// Versions of a store to verify. Their manifests were read, their segments not yet.
#[derive(Debug)]
pub struct Verification {
    store: Store,
    versions: u64,
    files: BTreeMap<String, Claims>,
    /// The lists of replaced pages and of slack, and of each the newest version that names it.
    lists: BTreeMap<(Listed, Digest), u64>,
}

#[derive(Debug, Default)]
struct Claims {
    /// Mostly they all say the same, so one record.
    records: Vec<FileRecord>,
    newest: u64,
}

impl Store {
    /// Prepares to verify the version with that number; without a number all versions, because the store
    /// can be rolled back to each.
    pub fn verification(&self, number: Option<u64>) -> Result<Verification> {
        let mut verification = Verification::new(self);
        let numbers = number.map_or_else(|| self.versions(), |number| Ok(number..=number))?;
        let mut reader = ManifestReader::default();
        for version in numbers {
            let manifest = match number {
                Some(_) => self.manifest(version)?,
                None => match self.manifest_by(&mut reader, version) {
                    // Another run has pruned it in the meantime.
                    Err(error) if error.kind() == Kind::Missing && self.is_pruned(version)? => {
                        continue;
                    }
                    manifest => manifest?,
                },
            };
            verification.versions += 1;
            verification.lists.extend(manifest.lists().map(|list| (list, version)));
            FileRecord::all(&manifest).into_iter().for_each(|it| verification.add(it, version));
        }
        Ok(verification)
    }

    /// Makes a new version with the contents of version `to`, after reading and checking all its segments.
    /// `read` grows by the bytes read.
    pub fn rollback(&self, to: u64, read: &AtomicU64) -> Result<Version> {
        let lock = self.lock()?;
        let mut manifest = self.manifest(to)?;
        self.verification(Some(to))?.run(read)?;
        manifest.version = self.current()?.version + 1;
        self.commit(manifest, &lock)
    }

    /// Makes a new version with the contents that the store had before `day` was added to the version `newest`, as
    /// [`Store::rollback`]. If the version that had them was pruned, the pages of `back` come back.
    pub fn rollback_before(
        &self,
        day: Day,
        newest: u64,
        back: &ComingBack,
        read: &AtomicU64,
    ) -> Result<Version> {
        let lock = self.lock()?;
        self.verification_before(day)?.run(read)?;
        let current = self.at(None)?;
        if current.number() != newest {
            return Err(self.has_changed().expected(newest).found(current.number()));
        }
        let base = current.before(day);
        let manifest = self.going_back(current, base, newest + 1, back, &lock)?;
        self.commit(manifest, &lock)
    }

    /// Prepares to verify the version that has what the store held before `day` was added: the newest one, if that which was joined
    /// with the day was pruned.
    pub fn verification_before(&self, day: Day) -> Result<Verification> {
        let current = self.at(None)?;
        let base = current.before(day);
        self.verification(Some(if self.is_pruned(base)? { current.number() } else { base }))
    }

    /// Verifies every version and returns the newest.
    pub fn verify(&self) -> Result<Version> {
        self.verification(None)?.run(&AtomicU64::new(0))?;
        self.at(None)
    }
}

impl Verification {
    pub(super) fn new(store: &Store) -> Verification {
        let (files, lists) = Default::default();
        Verification { store: store.clone(), versions: 0, files, lists }
    }

    pub(super) fn add(&mut self, record: FileRecord, version: u64) {
        let claims = self.files.entry(record.file.clone()).or_default();
        claims.newest = claims.newest.max(version);
        if !claims.records.contains(&record) {
            claims.records.push(record);
        }
    }

    pub fn versions(&self) -> u64 {
        self.versions
    }

    pub fn files(&self) -> u64 {
        self.files.len() as u64
    }

    /// The bytes of these files, according to the manifests.
    pub fn bytes(&self) -> u64 {
        let bytes =
            self.files.values().flat_map(|claims| claims.records.first()).map(|it| it.bytes);
        bytes.fold(0, u64::saturating_add)
    }

    /// Reads and checks every file, except those that another run has pruned in the meantime. `read` grows by
    /// the bytes read.
    pub fn run(&self, read: &AtomicU64) -> Result<()> {
        let store = self.store.path();
        for (&(listed, list), &newest) in &self.lists {
            let read = match listed {
                Listed::Rows => replaced_rows::read(store, Some(list)).map(drop),
                Listed::Slack => Slack::read(store, [list].into_iter()).map(drop),
            };
            match read {
                // Another run has pruned all versions that name it.
                Err(error) if error.kind() == Kind::Missing && self.store.is_pruned(newest)? => {}
                read => read?,
            }
        }
        self.search(&*Removals::read(store)?, read).map(drop)
    }

    /// As [`Verification::run`]. Every id of every file is looked up among the removed ids. Returns those that are
    /// there all the same, because a page of a later day has them.
    pub(super) fn search(&self, removals: &Removals, read: &AtomicU64) -> Result<BTreeSet<Digest>> {
        let mut later = BTreeSet::new();
        for Claims { records, newest } in self.files.values() {
            let segment = match records[0].open(self.store.path()) {
                Err(error) if error.kind() == Kind::Missing && self.store.is_pruned(*newest)? => {
                    continue;
                }
                segment => segment?,
            };
            let days = segment.verify_counting(read)?;
            for record in records {
                record.check(&segment)?;
                record.check_days(&segment, &days)?;
            }
            later.extend(check_removed(removals, &records[0], segment)?);
        }
        Ok(later)
    }
}

/// Fails unless exactly the removed pages are hidden in the segment of `record`. Returns the removed ids of pages that
/// are not hidden.
fn check_removed(
    removals: &Removals,
    record: &FileRecord,
    segment: Segment,
) -> Result<BTreeSet<Digest>> {
    let hidden = removals.files.get(&record.file).map_or_else(Arc::default, Arc::clone);
    if removals.is_empty() {
        return Ok(BTreeSet::new());
    }
    let path = segment.path().to_path_buf();
    let dated = Dated::new(segment, record.day());
    let found = find_on_all_cores(&dated, removals.search())?;
    let expected = found.rows.iter().filter(|(_, day, (_, until))| day <= until);
    let expected: RoaringTreemap = expected.map(|&(row, ..)| row).collect();
    // A file does not say of which day these are. Those of the last day may be of pages that came after a removal.
    let last = record.days().max();
    let is_certain = |until: Day| last.is_some_and(|last| last <= until);
    let certain = found.empties.iter().filter(|(_, (_, until))| is_certain(*until));
    let certain: RoaringTreemap = certain.map(|&(row, _)| row).collect();
    let possible: RoaringTreemap = found.empties.iter().map(|&(row, _)| row).collect();
    let is_between = certain.is_subset(&hidden.empties) && hidden.empties.is_subset(&possible);
    if hidden.rows != expected || !is_between {
        return Err(damaged("other pages are hidden than those that were removed")
            .at(path)
            .expected(format_args!(
                "{} rows and {} to {} empty pages",
                expected.len(),
                certain.len(),
                possible.len()
            ))
            .found(format_args!("{} rows and {} empty pages", hidden.rows.len(), hidden.empties.len()))
            .help("remove again all pages that were removed, by their ids, or restore `REMOVED` from a copy")
            .job("store remove"));
    }
    let rows = found.rows.iter().filter(|(row, ..)| !hidden.rows.contains(*row));
    let empties = found.empties.iter().filter(|(row, _)| !hidden.empties.contains(*row));
    let rows = rows.map(|(_, _, (id, _))| *id);
    Ok(rows.chain(empties.map(|(_, (id, _))| *id)).collect())
}
