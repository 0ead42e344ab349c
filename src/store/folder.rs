//! The store: a folder of segments, and manifests that say which of them each version contains.
//!
//! ```text
//! CURRENT              the newest version: its number and the checksum of its manifest
//! LOCK                 held by the run that changes the store
//! manifests/000001.json, 000002.json, ...          one for each version; never changed
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

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

use crate::error::{At, Error, Kind, Result};
use crate::fingerprint::Stamp;

use super::damage::damaged;
use super::day::Day;
use super::digest::Digest;
use super::id_filter::IdFilter;
use super::manifest::{Entry, Manifest};
use super::segment::Segment;
use super::version::Version;
use crate::output::{Lock, NewFile, check_free_space, parent_of, sync_folder, write_file};
use crate::small_file;

pub(super) const CURRENT: &str = "CURRENT";
/// The most bytes that `CURRENT` may have.
const CURRENT_BYTES: u64 = 1 << 10;
pub(super) const LOCK: &str = "LOCK";
pub(super) const MANIFESTS: &str = "manifests";
pub(super) const SEGMENTS: &str = "segments";

/// A store of fingerprints: a folder.
#[derive(Clone, Debug)]
pub struct Store {
    path: PathBuf,
}

/// The result of adding a segment.
#[derive(Clone, Debug)]
pub enum Added {
    /// The segment is part of the store from this version on.
    New(Version),
    /// The store had it already, in this version.
    Already(Version),
}

/// A segment that can be added to the store, and the ids to which it is reduced.
pub(super) struct Prospect {
    segment: Segment,
    only: Option<IdFilter>,
}

impl Store {
    /// Opens the store at `path`, or creates an empty one. Returns whether it was created.
    ///
    /// # Errors
    /// A folder with anything else in it is [`Kind::Exists`].
    pub fn init(path: impl AsRef<Path>) -> Result<(Store, bool)> {
        let store = Store { path: path.as_ref().to_path_buf() };
        fs::create_dir_all(&store.path).at(&store.path)?;
        if store.path.join(CURRENT).exists() {
            return Ok((store, false));
        }
        store.refuse_strangers()?;
        for part in [MANIFESTS, SEGMENTS] {
            fs::create_dir_all(store.path.join(part)).at(&store.path)?;
        }
        let lock = store.lock()?;
        if store.path.join(CURRENT).exists() {
            return Ok((store, false)); // Another run was faster.
        }
        store.refuse_headless()?;
        store.commit(Manifest::empty(), &lock)?;
        sync_folder(parent_of(&store.path))?;
        Ok((store, true))
    }

    /// Opens the store at `path`.
    ///
    /// # Errors
    /// [`Kind::Missing`] if there is no store; [`Kind::Usage`] for an impossible path, such as a loop of
    /// links.
    pub fn open(path: impl AsRef<Path>) -> Result<Store> {
        let store = Store { path: path.as_ref().to_path_buf() };
        match fs::metadata(store.path.join(CURRENT)) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Err(Error::new(Kind::Missing, "there is no store here")
                    .at(&store.path)
                    .help("make one with `dupsieve store init`"))
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
    /// A version that never existed is [`Kind::Missing`]; damage is [`Kind::BadData`].
    pub fn at(&self, number: Option<u64>) -> Result<Version> {
        let manifest = match number {
            Some(number) => self.manifest(number)?,
            None => self.current()?,
        };
        Ok(Version::new(&self.path.join(SEGMENTS), manifest))
    }

    /// Adds the segment at `segment` as `day`: all of it, or only the ids in the file `only`, one a line.
    /// Adding the same contents as the same day again changes nothing. With `after`, the segment is added
    /// only if the contents of the store still have this digest: what was decided by looking at a
    /// version must not be added to another.
    ///
    /// # Errors
    /// [`Kind::Exists`] if the day has other contents or the segment another recipe than the store;
    /// [`Kind::BadData`] for damage and for an id that the segment does not have; [`Kind::Temporary`] if
    /// another run is changing the store, or has changed it since `after`.
    pub fn add(
        &self,
        segment: &Path,
        day: Day,
        only: Option<&Path>,
        after: Option<Digest>,
    ) -> Result<Added> {
        let lock = self.lock()?;
        let current = self.current()?;
        let Some(prospect) = self.prospect(&current, segment, day, only)? else {
            return self.at(None).map(Added::Already);
        };
        let held = self.at(None)?.digest();
        if let Some(after) = after.filter(|after| *after != held) {
            return Err(self.has_changed().expected(after).found(held));
        }
        self.sweep(&current, &lock)?;
        let next = self.admit(&current, prospect, day, &lock)?;
        self.commit(next, &lock).map(Added::New)
    }

    /// The error that another run has changed the store in the meantime.
    pub(super) fn has_changed(&self) -> Error {
        Error::new(Kind::Temporary, "another run has changed the store in the meantime")
            .at(&self.path)
            .help("run the same command again")
    }

    /// Copies a segment into the store. Returns the manifest after `last`, which includes it.
    pub(super) fn admit(
        &self,
        last: &Manifest,
        prospect: Prospect,
        day: Day,
        lock: &Lock,
    ) -> Result<Manifest> {
        let Prospect { segment, only } = prospect;
        let digest = only.as_ref().map(IdFilter::digest);
        let file = file_name(day, segment.digest(), digest);
        let held = self.take_in(&segment, only.as_ref(), &file, lock)?;
        let entry = Entry {
            day,
            file,
            digest: held.digest(),
            rows: held.rows(),
            empties: held.empties(),
            bytes: held.bytes(),
            added_in: last.version + 1,
            source: segment.digest(),
            only: digest,
        };
        Ok(last.with(&held, entry))
    }

    /// Whether [`Store::add`] would change anything. Fails if that would fail, as far as this is known
    /// without writing.
    pub fn would_add(&self, segment: &Path, day: Day, only: Option<&Path>) -> Result<bool> {
        match self.prospect(&self.current()?, segment, day, only)? {
            Some(prospect) => prospect.segment.verify().map(|()| true),
            None => Ok(false),
        }
    }

    /// Makes a new version with the contents of version `to`, after reading and checking all its segments.
    /// `read` grows by the bytes read.
    ///
    /// # Errors
    /// Those of [`Store::verification`] and [`Verification::run`](super::Verification::run);
    /// [`Kind::Temporary`] if another run is changing the store.
    pub fn rollback(&self, to: u64, read: &AtomicU64) -> Result<Version> {
        let lock = self.lock()?;
        let mut manifest = self.manifest(to)?;
        self.verification(Some(to))?.run(read)?;
        manifest.version = self.current()?.version + 1;
        self.commit(manifest, &lock)
    }

    /// What is added to `current`; none if `current` has it already. Rows are not read yet.
    pub(super) fn prospect(
        &self,
        current: &Manifest,
        segment: &Path,
        day: Day,
        only: Option<&Path>,
    ) -> Result<Option<Prospect>> {
        let segment = Segment::open(segment)?;
        let only = only.map(IdFilter::read).transpose()?;
        if let Some(entry) = current.entry(day) {
            self.expect_same(entry, segment.digest(), only.as_ref().map(IdFilter::digest))?;
            return Ok(None);
        }
        self.expect_recipe(current, &segment)?;
        if segment.has_days() {
            return Err(Error::new(
                Kind::BadData,
                "a segment of several days cannot be added as one day",
            )
            .at(segment.path()));
        }
        Ok(Some(Prospect { segment, only }))
    }

    /// Keeps other runs from changing the store until the lock is dropped.
    pub(super) fn lock(&self) -> Result<Lock> {
        Lock::take(&self.path.join(LOCK))
    }

    /// Makes `manifest` the newest version.
    pub(super) fn commit(&self, manifest: Manifest, lock: &Lock) -> Result<Version> {
        let checksum = manifest.write(&self.manifest_path(manifest.version), lock)?;
        self.point_to(manifest.version, checksum, lock)?;
        Ok(Version::new(&self.path.join(SEGMENTS), manifest))
    }

    /// Makes the version with that number, whose manifest has this checksum, the newest.
    pub(super) fn point_to(&self, version: u64, checksum: u64, lock: &Lock) -> Result<()> {
        let line = current_line(version, checksum);
        write_file(&self.path.join(CURRENT), line.as_bytes(), lock)
    }

    /// The manifest of the newest version, which `CURRENT` names.
    pub(super) fn current(&self) -> Result<Manifest> {
        let (number, told) = self.newest()?;
        let path = self.manifest_path(number);
        let (manifest, found) = Manifest::read(&path, number)?;
        if found != told {
            return Err(damaged("this is not the manifest that CURRENT names")
                .at(path)
                .expected(format_args!("checksum {told:016x}"))
                .found(format_args!("{found:016x}")));
        }
        Ok(manifest)
    }

    /// The newest version's number and the checksum of its manifest.
    fn newest(&self) -> Result<(u64, u64)> {
        let path = self.path.join(CURRENT);
        let bytes = small_file::read(&path, CURRENT_BYTES, Kind::BadData)?;
        let line = String::from_utf8_lossy(&bytes);
        let told = line.trim_end().split_once(' ').and_then(|(number, checksum)| {
            Some((number.parse().ok()?, u64::from_str_radix(checksum, 16).ok()?))
        });
        told.filter(|&(number, checksum)| line == current_line(number, checksum)).ok_or_else(|| {
            let error = damaged("this file does not name a version").at(&path);
            error.expected("a number and a checksum").found(format_args!("{line:.100?}"))
        })
    }

    pub(super) fn manifest(&self, number: u64) -> Result<Manifest> {
        let (newest, _) = self.newest()?;
        if !(1..=newest).contains(&number) {
            return Err(Error::new(Kind::Missing, "the store has no such version")
                .at(&self.path)
                .expected(format_args!("1 to {newest}"))
                .found(number));
        }
        Ok(Manifest::read(&self.manifest_path(number), number)?.0)
    }

    pub(super) fn manifest_path(&self, number: u64) -> PathBuf {
        self.path.join(MANIFESTS).join(format!("{number:06}.json"))
    }

    /// Fails unless `entry` was made from the same segment and the same ids.
    fn expect_same(&self, entry: &Entry, source: Digest, only: Option<Digest>) -> Result<()> {
        if (entry.source, entry.only) == (source, only) {
            return Ok(());
        }
        let show = |source: Digest, only: Option<Digest>| match only {
            Some(only) => format!("{source} only {only}"),
            None => format!("{source} whole"),
        };
        Err(Error::new(Kind::Exists, format!("the store already has {}, with other contents", entry.day))
            .at(&self.path)
            .expected(show(entry.source, entry.only))
            .found(show(source, only))
            .help("to replace a day, go back with `store rollback --before-day` and add it again; `run --redo` does both"))
    }

    /// Fails unless `segment` is of the store's recipe and width.
    fn expect_recipe(&self, current: &Manifest, segment: &Segment) -> Result<()> {
        let (stamp, width) = match (&current.stamp, current.width()) {
            (Some(stamp), Some(width)) => (stamp.as_str(), width),
            _ => return Ok(()),
        };
        if (stamp, width) == (segment.stamp(), segment.width()) {
            return Ok(());
        }
        let [held, found] = Stamp::differences(stamp, segment.stamp());
        Err(Error::new(Kind::Exists, "the store has fingerprints of another recipe")
            .at(&self.path)
            .expected(format_args!("{} bits by {held}", width.bits()))
            .found(format_args!("{} bits by {found}", segment.width().bits()))
            .help("fingerprint the batch with the recipe of the store, or add it to another store"))
    }

    /// Writes a segment into the store as `file`, checked and reduced to `only`.
    fn take_in(
        &self,
        segment: &Segment,
        only: Option<&IdFilter>,
        file: &str,
        lock: &Lock,
    ) -> Result<Segment> {
        let path = self.path.join(SEGMENTS).join(file);
        match only {
            Some(ids) => {
                segment.verify()?;
                ids.write(segment, &path)
            }
            None if is_held(&path, segment.digest()) => Segment::open(&path),
            None => self.copy(segment, &path, lock),
        }
    }

    /// Copies a segment. A link would be cheaper, but a program that later writes into the given file
    /// would write into the store. The check reads the copy, because the given file may change any time.
    fn copy(&self, segment: &Segment, path: &Path, lock: &Lock) -> Result<Segment> {
        check_free_space(&self.path, segment.bytes())?;
        let mut copy = NewFile::beside(path)?;
        copy.fenced(lock.fence());
        copy.copy(segment.path())?;
        let copied = Segment::open(copy.unfinished()).and_then(|it| it.verify().map(|()| it));
        let copied = copied.map_err(|error| error.at(segment.path()))?;
        if copied.digest() != segment.digest() {
            return Err(Error::new(Kind::Temporary, "the segment was replaced while it was added")
                .at(segment.path())
                .help("run the same command again"));
        }
        copy.publish()?;
        Segment::open(path)
    }
}

/// Whether there is a sound segment with that digest at `path`, not linked from elsewhere. A version that
/// was rolled back may have left it.
fn is_held(path: &Path, digest: Digest) -> bool {
    let own = fs::symlink_metadata(path).is_ok_and(|file| file.is_file() && file.nlink() == 1);
    own && Segment::open(path).is_ok_and(|held| held.digest() == digest && held.verify().is_ok())
}

/// The contents of `CURRENT`.
fn current_line(number: u64, checksum: u64) -> String {
    format!("{number:06} {checksum:016x}\n")
}

/// The name of the file for the segment `source`, reduced to `only`, of `day`.
fn file_name(day: Day, source: Digest, only: Option<Digest>) -> String {
    match only {
        Some(only) => format!("{day}-{source}-{only}.seg"),
        None => format!("{day}-{source}.seg"),
    }
}
