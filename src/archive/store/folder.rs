//! The store: a folder of segments, and manifests that say which of them each version contains.
//!
//! ```text
//! CURRENT              the newest version: its number and the checksum of its manifest
//! OLDEST               the oldest version, likewise; not there if none was pruned
//! LOCK                 held by the run that changes the store
//! manifests/000001.json, 000002.json, ...          one for each version; never changed; old ones may be the base of others
//! segments/2026-11-21-<digest>.seg, ...            never changed either
//! ```
//!
//! A change writes new files under new names, syncs them, and then replaces `CURRENT` by one rename.
//! For example, adding 2026-11-22 to version 2:
//!
//! ```text
//! 1  segments/2026-11-22-7d1c....seg     written beside its place, synced, renamed
//! 2  manifests/000003.json               lists 2026-11-21 and 2026-11-22
//! 3  CURRENT                             was "000002 <checksum>", becomes "000003 <checksum>"
//! ```
//!
//! If the power fails before step 3 the store is version 2, afterwards version 3, and never anything
//! between. A reader of version 2 notices nothing. Files of a change that died are removed by the next
//! change (see `orphans`).

use std::ffi::OsString;
use std::fs::{self, DirEntry};
use std::io::ErrorKind;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use crate::error::{At, Error, Kind, Named, Result};

use super::damage::damaged;
use super::manifest::{MANIFESTS, Manifest, SEGMENTS, manifest_name};
use super::manifest_file::ManifestReader;
use super::pointer::{CURRENT, OLDEST, Pointer};
use super::removals::Removals;
use super::version::Version;
use crate::day::Day;
use crate::output::{Lock, UNFINISHED, entries_in, parent_of, sync_folder};

const LOCK: &str = "LOCK";
const PRUNED: &str = "this version of the store was pruned";

/// A store of fingerprints: a folder.
#[derive(Clone, Debug)]
pub struct Store {
    path: PathBuf,
}

impl Store {
    /// Opens the store at `path`, or creates an empty one. Returns whether it was created.
    pub fn init(path: impl AsRef<Path>) -> Result<(Store, bool)> {
        let store = Store { path: path.as_ref().to_path_buf() };
        fs::create_dir_all(&store.path).at(&store.path)?;
        if store.path.join(CURRENT).exists() {
            return Ok((store, false));
        }
        store.refuse_other_files()?;
        for part in [MANIFESTS, SEGMENTS] {
            fs::create_dir_all(store.path.join(part)).at(&store.path)?;
        }
        let lock = store.lock()?;
        if store.path.join(CURRENT).exists() {
            return Ok((store, false)); // Another run was faster.
        }
        store.refuse_lost_current()?;
        store.commit(Manifest::empty(), &lock)?;
        sync_folder(parent_of(&store.path))?;
        Ok((store, true))
    }

    /// Opens the store at `path`.
    ///
    /// # Errors
    /// [`Kind::Missing`] if there is no store; [`Kind::BadData`] if it has segments but no `CURRENT`; [`Kind::Usage`] for
    /// an impossible path, such as a loop of links.
    pub fn open(path: impl AsRef<Path>) -> Result<Store> {
        let store = Store { path: path.as_ref().to_path_buf() };
        match fs::metadata(store.path.join(CURRENT)) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                store.refuse_lost_current()?;
                Err(Error::new(Kind::Missing, "there is no store here")
                    .called("no-store")
                    .at(&store.path)
                    .help("make one, or correct the path")
                    .job(format!("store init {}", store.path.named())))
            }
            found => found.at(&store.path).map(|_| store),
        }
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The version with that number; without a number the newest.
    ///
    /// # Errors
    /// A version that never existed or was pruned is [`Kind::Missing`]; damage is [`Kind::BadData`].
    pub fn at(&self, number: Option<u64>) -> Result<Version> {
        let manifest = match number {
            Some(number) => self.manifest(number)?,
            None => self.current()?,
        };
        Version::of(&self.path, manifest)
    }

    /// The version to join `day` with, as [`Version::before`]. Of a version that was pruned only the days are
    /// known; its segments cannot be opened.
    pub fn before(&self, day: Day) -> Result<Version> {
        self.known(self.at(None)?.before(day))
    }

    /// The version with that number. Of one that was pruned only the days are known, if none of them has been taken back since: its
    /// digest says whether they are right.
    pub fn known(&self, number: u64) -> Result<Version> {
        let is_pruned = self.is_pruned(number)?;
        if is_pruned { Ok(self.at(None)?.pruned_to(number)) } else { self.at(Some(number)) }
    }

    /// The same, with the rows that the newest version has still of one that was pruned. What was hidden since then is hidden there:
    /// removed and replaced pages, and days that have expired.
    pub fn left_of(&self, number: u64) -> Result<Version> {
        let is_pruned = self.is_pruned(number)?;
        if is_pruned { self.at(None)?.left_of(number) } else { self.at(Some(number)) }
    }

    pub(super) fn has_changed(&self) -> Error {
        Error::new(Kind::Temporary, "another run has changed the store in the meantime")
            .at(&self.path)
            .help("try again")
    }

    /// Keeps other runs from changing the store until the lock is dropped.
    pub fn lock(&self) -> Result<Lock> {
        Lock::take(&self.path.join(LOCK))
    }

    pub(super) fn commit(&self, manifest: Manifest, lock: &Lock) -> Result<Version> {
        let checksum = manifest.write(&self.manifest_path(manifest.version), lock)?;
        self.point_to(manifest.version, checksum, lock)?;
        Version::of(&self.path, manifest)
    }

    pub(super) fn point_to(&self, version: u64, checksum: u64, lock: &Lock) -> Result<()> {
        let removals = Removals::read(&self.path)?.count;
        Pointer { version, checksum, removals }.write(&self.path, CURRENT, lock)
    }

    /// Makes the version with that number the oldest. Those before it are gone then: nobody reads them, and
    /// the next change removes what is left of them.
    pub(super) fn begin_with(&self, version: u64, lock: &Lock) -> Result<()> {
        let (_, checksum) = Manifest::read(&self.manifest_path(version), version)?;
        Pointer { version, checksum, removals: 0 }.write(&self.path, OLDEST, lock)
    }

    pub(super) fn current(&self) -> Result<Manifest> {
        self.pointed(CURRENT)
    }

    /// The numbers of all versions.
    pub fn versions(&self) -> Result<RangeInclusive<u64>> {
        let oldest = match Pointer::to_oldest(&self.path)? {
            Some(_) => self.pointed(OLDEST)?.version,
            None => 1,
        };
        Ok(oldest..=Pointer::read(&self.path, CURRENT)?.version)
    }

    /// Whether the version with that number was there and was pruned.
    pub fn is_pruned(&self, number: u64) -> Result<bool> {
        Ok((1..*self.versions()?.start()).contains(&number))
    }

    fn pointed(&self, name: &str) -> Result<Manifest> {
        loop {
            let pointer = Pointer::read(&self.path, name)?;
            let path = self.manifest_path(pointer.version);
            let error = match Manifest::read(&path, pointer.version) {
                Ok((manifest, found)) if found == pointer.checksum => return Ok(manifest),
                Ok((_, found)) => damaged(&format!("this is not the manifest that {name} names"))
                    .at(path)
                    .expected(format_args!("checksum {:016x}", pointer.checksum))
                    .found(format_args!("{found:016x}")),
                Err(error) => error,
            };
            // Another run may have moved the pointer in the meantime, and pruned the version.
            if Pointer::read(&self.path, name)? == pointer {
                return Err(error);
            }
        }
    }

    pub(super) fn manifest(&self, number: u64) -> Result<Manifest> {
        let versions = self.versions()?;
        if versions.contains(&number) {
            return self.manifest_of(number);
        }
        let was_there = (1..*versions.start()).contains(&number);
        let what = if was_there { PRUNED } else { "the store has no such version" };
        Err(self.lacks(what, number, &versions))
    }

    pub(super) fn manifest_of(&self, version: u64) -> Result<Manifest> {
        self.manifest_by(&mut ManifestReader::default(), version)
    }

    /// The manifests of these versions, with their numbers.
    pub(super) fn manifests(
        &self,
        versions: impl Iterator<Item = u64>,
    ) -> impl Iterator<Item = Result<(u64, Manifest)>> {
        let mut reader = ManifestReader::default();
        versions.map(move |version| Ok((version, self.manifest_by(&mut reader, version)?)))
    }

    pub(super) fn manifest_by(&self, by: &mut ManifestReader, version: u64) -> Result<Manifest> {
        match by.read(&self.manifest_path(version), version) {
            Err(error) if error.kind() == Kind::Missing && self.is_pruned(version)? => {
                Err(self.lacks(PRUNED, version, &self.versions()?))
            }
            read => Ok(read?.0),
        }
    }

    fn lacks(&self, what: &str, number: u64, versions: &RangeInclusive<u64>) -> Error {
        Error::new(Kind::Missing, what)
            .at(&self.path)
            .expected(format_args!("{} to {}", versions.start(), versions.end()))
            .found(number)
            .help("look at the log of the store, which lists them")
            .job(format!("store log {}", self.path.named()))
    }

    /// Fails if the folder has anything in it that an interrupted `init` would not have left.
    fn refuse_other_files(&self) -> Result<()> {
        let ours = |name: &OsString| {
            let name = name.to_string_lossy();
            [LOCK, MANIFESTS, SEGMENTS].contains(&&*name) || name.starts_with(UNFINISHED)
        };
        match names(&self.path)?.iter().find(|name| !ours(name)) {
            None => Ok(()),
            Some(stranger) => Err(Error::new(Kind::Exists, "the folder is not empty")
                .at(&self.path)
                .found(format_args!("{stranger:?}"))
                .help("give the store a folder of its own")),
        }
    }

    /// Fails if the folder has segments. An interrupted `init` leaves none, so this is a store that has
    /// lost its `CURRENT`, and must not become an empty one.
    fn refuse_lost_current(&self) -> Result<()> {
        match names(&self.path.join(SEGMENTS))?.first() {
            None => Ok(()),
            Some(segment) => Err(Error::new(Kind::BadData, "the store has lost its CURRENT")
                .called("store-damaged")
                .at(self.path.join(CURRENT))
                .found(format_args!("{segment:?} among the segments"))
                .help("restore the file: it names the newest manifest")),
        }
    }

    pub(super) fn manifest_path(&self, number: u64) -> PathBuf {
        self.path.join(MANIFESTS).join(manifest_name(number))
    }
}

fn names(folder: &Path) -> Result<Vec<OsString>> {
    Ok(entries_in(folder)?.iter().map(DirEntry::file_name).collect())
}
