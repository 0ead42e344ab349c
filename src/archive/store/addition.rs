//! Adding a day to a store: the checks, the copy of the segment (or its name, if it was made in the store), the entry in the manifest.

use std::fs;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::document::IdList;
use crate::error::{At, Error, Kind, Result};
use crate::fingerprint::Stamp;
use crate::output::{Lock, NewFile, check_free_space, parent_of, remove_if_there, sync_folder};

use super::dated::Dated;
use super::digest::Digest;
use super::digest_files::Listed;
use super::expiry::expect_unexpired;
use super::folder::Store;
use super::id_filter::{Reduction, digest_of};
use super::id_search::find_on_all_cores;
use super::manifest::{Entry, Manifest, SEGMENTS};
use super::removals::Removals;
use super::replacements::Replacements;
use super::row_sets::RowSet;
use super::segment::Segment;
use super::version::Version;
use crate::day::Day;

/// How many bytes of a segment that is elsewhere are read at once.
const SLAB: u64 = 8 << 20;

#[derive(Clone, Copy, Debug)]
pub struct NewDay<'a> {
    pub segment: &'a Path,
    pub day: Day,
    /// A file with the ids of the pages that enter, one a line; all enter without it.
    pub only: Option<&'a Path>,
    /// The pages of the store that these replace, and the slack of pages; without it none are replaced, and no slack is known.
    pub replaces: Option<&'a Replacements>,
}

/// Which pages of a segment enter a store, and which pages of the store they replace, as [`NewDay`] has them; by default all enter, and
/// none is replaced.
#[derive(Clone, Debug, Default)]
pub struct Entering {
    pub only: Option<PathBuf>,
    pub replaces: Option<Replacements>,
}

impl NewDay<'_> {
    /// All pages of `segment` as `day`, which replace none.
    pub fn whole(segment: &Path, day: Day) -> NewDay<'_> {
        NewDay { segment, day, only: None, replaces: None }
    }
}

#[derive(Clone, Debug)]
pub enum Added {
    New(Version),
    Already(Version),
}

pub(super) struct Addition<'a> {
    segment: Segment,
    day: Day,
    only: Option<IdList>,
    replaces: Option<&'a Replacements>,
    /// Whether the file was made in the store, and need not be copied.
    is_own: bool,
}

impl Store {
    /// Adds a day, and hides the pages that it replaces. Both are one new version.
    /// Adding the same contents as the same day again changes nothing. With `after`, the segment is added
    /// only if the contents of the store still have this digest: what was decided by looking at a
    /// version must not be added to another.
    ///
    /// # Errors
    /// [`Kind::Exists`] if the day has other contents or the segment another recipe than the store;
    /// [`Kind::BadData`] for damage, for an id that the segment does not have, and for a page to be replaced that the store does not
    /// have; [`Kind::Temporary`] if another run is changing the store, or has changed it since `after`.
    pub fn add(&self, new: &NewDay<'_>, after: Option<Digest>) -> Result<Added> {
        let lock = self.lock()?;
        let current = self.current()?;
        let Some(addition) = self.addition(&current, new)? else {
            return self.at(None).map(Added::Already);
        };
        let held = self.at(None)?.digest();
        if let Some(after) = after.filter(|after| *after != held) {
            return Err(self.has_changed().expected(after).found(held));
        }
        self.remove_orphans(&lock)?;
        let next = self.admit(&current, addition, &lock)?;
        self.commit(next, &lock).map(Added::New)
    }

    /// Adds as `day` the segment that `make` writes to the path it is given, in the folder of the store: so the bytes of a whole
    /// segment are written once. `make` is also given the entry of that day, if the store has it already. If the store does not,
    /// `choose` says which pages of the segment enter. Nobody else changes the store meanwhile. What is not added is removed.
    pub fn add_made(
        &self,
        day: Day,
        make: impl FnOnce(&Path, Option<&Entry>) -> Result<Segment>,
        choose: impl FnOnce(&Segment) -> Result<Entering>,
    ) -> Result<Added> {
        let lock = self.lock()?;
        self.remove_orphans(&lock)?;
        let current = self.current()?;
        let made = self.path().join(SEGMENTS).join(format!("{day}-made.seg"));
        let added = make(&made, current.entry(day)).and_then(|segment| {
            if let Some(entry) = current.entry(day) {
                self.expect_same(entry, segment.digest(), entry.only)?;
                return self.at(None).map(Added::Already);
            }
            let Entering { only, replaces } = choose(&segment)?;
            let (only, replaces) = (only.as_deref(), replaces.as_ref());
            let new = NewDay { segment: segment.path(), day, only, replaces };
            let Some(addition) = self.addition(&current, &new)? else {
                return self.at(None).map(Added::Already);
            };
            let next = self.admit(&current, Addition { is_own: true, ..addition }, &lock)?;
            self.commit(next, &lock).map(Added::New)
        });
        remove_if_there(&made)?;
        added
    }

    /// Tells of an id whether [`Store::add`] leaves its page out of `day`, because it was removed up to that day or a
    /// later one.
    pub fn left_out_of(&self, day: Day) -> Result<impl Fn(&str) -> bool + use<>> {
        let removals = Removals::read(self.path())?;
        let reaches = removals.reaches(day);
        Ok(move |id: &str| reaches && removals.has(id, day))
    }

    /// How many pages of `batch`, a segment of `day`, were removed from the store up to that day or a later one.
    pub fn removed_of(&self, batch: &Segment, day: Day) -> Result<u64> {
        self.removed_rows(batch, day).map(|removed| removed.count())
    }

    /// Writes `batch`, a segment of `day`, to `path` without the pages that were removed from the store up to that day or a
    /// later one, so that these judge no other page. Returns how many they are; if there are none, nothing is written.
    pub fn leave_out_removed(&self, batch: &Segment, day: Day, path: &Path) -> Result<u64> {
        let removed = &self.removed_rows(batch, day)?;
        if !removed.is_empty() {
            batch.verify()?;
            Reduction { only: None, removed }.write(batch, path, true)?;
        }
        Ok(removed.count())
    }

    pub(super) fn admit(
        &self,
        last: &Manifest,
        addition: Addition<'_>,
        lock: &Lock,
    ) -> Result<Manifest> {
        let Addition { segment, day, only, replaces, is_own } = addition;
        let removed = self.removed_rows(&segment, day)?;
        if !removed.is_empty() {
            let pages = removed.count();
            tracing::info!(
                "{day} leaves out {pages} pages of the segment, which were removed up to that day or a later one"
            );
        }
        let reduction = Reduction { only: only.as_ref(), removed: &removed };
        let file = reduction.file(segment.digest(), day);
        let held = self.take_in(&segment, &reduction, &file, is_own, lock)?;
        let slack = replaces.and_then(|it| it.slack_bytes(day));
        let entry = Entry {
            day,
            file,
            digest: held.digest(),
            rows: held.rows(),
            empties: held.empties(),
            bytes: held.bytes(),
            added_in: last.version + 1,
            source: segment.digest(),
            only: only.as_ref().map(digest_of),
            replaces: replaces.and_then(Replacements::digest),
            slack: slack.map(|bytes| Listed::Slack.write(self.path(), &bytes, lock)).transpose()?,
            dropped: 0,
            expired_in: None,
        };
        let next = last.with(&held, entry);
        match replaces.filter(|replaces| !replaces.is_empty()) {
            None => Ok(next),
            Some(replaces) => {
                let replaced = self.replacing(last, replaces, (&held, day))?;
                self.with_replaced(next, replaced, lock)
            }
        }
    }

    /// Whether [`Store::add`] would change anything. Fails if that would fail, as far as this is known
    /// without writing.
    pub fn would_add(&self, new: &NewDay<'_>) -> Result<bool> {
        match self.addition(&self.current()?, new)? {
            Some(addition) => addition.segment.verify().map(|()| true),
            None => Ok(false),
        }
    }

    /// What is added to `current`; none if `current` has it already. Rows are not read yet.
    pub(super) fn addition<'a>(
        &self,
        current: &Manifest,
        new: &NewDay<'a>,
    ) -> Result<Option<Addition<'a>>> {
        let NewDay { segment, day, only, replaces } = *new;
        let segment = Segment::open(segment)?;
        let only = only.map(|path| IdList::read(path, IdList::MOST_BYTES)).transpose()?;
        if let Some(entry) = current.entry(day) {
            let only = only.as_ref().map(digest_of);
            self.expect_same(entry, segment.digest(), only)?;
            self.expect_same_replaced(entry, replaces)?;
            return Ok(None);
        }
        expect_unexpired(self.path(), current, day)?;
        self.expect_recipe(current, &segment)?;
        if segment.days().is_some() {
            let what = "a segment of several days cannot be added as one day";
            return Err(Error::new(Kind::BadData, what).at(segment.path()));
        }
        Ok(Some(Addition { segment, day, only, replaces, is_own: false }))
    }

    fn expect_same(&self, entry: &Entry, source: Digest, only: Option<Digest>) -> Result<()> {
        if (entry.source, entry.only) == (source, only) {
            return Ok(());
        }
        let show = |source: Digest, only: Option<Digest>| match only {
            Some(only) => format!("{source} only {only}"),
            None => format!("{source} whole"),
        };
        let what = format!("the store already has {}, with other contents", entry.day);
        let error = Error::new(Kind::Exists, what)
            .at(self.path())
            .expected(show(entry.source, entry.only))
            .found(show(source, only));
        Err(match entry.has_expired() {
            true => error.help(
                "the day has expired and is not shown; keep the other contents in another store",
            ),
            false => error
                .help("to replace a day, go back to the version before it and add the day again")
                .job("store rollback")
                .setting("before-day"),
        })
    }

    fn expect_same_replaced(&self, entry: &Entry, list: Option<&Replacements>) -> Result<()> {
        let replaces = list.and_then(Replacements::digest);
        let slack = list.and_then(|it| it.slack_bytes(entry.day)).map(|it| Digest::of(&it));
        if (entry.replaces, entry.slack) == (replaces, slack) {
            return Ok(());
        }
        let show = |replaces: Option<Digest>, slack: Option<Digest>| {
            let list =
                |digest: Option<Digest>| digest.map_or("none".to_owned(), |it| it.to_string());
            format!("those of the list {}, with the slack {}", list(replaces), list(slack))
        };
        let what = format!("the store has {}, which replaced other pages", entry.day);
        Err(Error::new(Kind::Exists, what)
            .at(self.path())
            .expected(show(entry.replaces, entry.slack))
            .found(show(replaces, slack))
            .help("to replace others, go back to the version before the day and add the day again")
            .job("store rollback")
            .setting("before-day"))
    }

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
            .at(self.path())
            .expected(format_args!("{} bits by {held}", width.bits()))
            .found(format_args!("{} bits by {found}", segment.width().bits()))
            .help("fingerprint the batch with the recipe of the store, or add it to another store"))
    }

    fn removed_rows(&self, segment: &Segment, day: Day) -> Result<RowSet> {
        let removals = Removals::read(self.path())?;
        let mut removed = RowSet::default();
        if removals.reaches(day) {
            let dated = Dated::new(segment.clone(), Some(day));
            let removal = removals.search();
            let is_removed = |id: &str| removal(id).filter(|(_, until)| day <= *until);
            find_on_all_cores(&dated, is_removed)?.add_to(&mut removed);
        }
        Ok(removed)
    }

    fn take_in(
        &self,
        segment: &Segment,
        reduction: &Reduction<'_>,
        file: &str,
        is_own: bool,
        lock: &Lock,
    ) -> Result<Segment> {
        let path = self.path().join(SEGMENTS).join(file);
        if reduction.only.is_some() || !reduction.removed.is_empty() {
            segment.verify()?;
            return reduction.write(segment, &path, false);
        }
        match is_held(&path, segment.digest()) {
            true => Segment::open(&path),
            false if is_own => rename(segment, &path, lock),
            false => self.copy(segment, &path, lock),
        }
    }

    /// Copies a segment. A link would be cheaper, but a program that later writes into the given file
    /// would write into the store. The check reads the copy, because the given file may change any time.
    fn copy(&self, segment: &Segment, path: &Path, lock: &Lock) -> Result<Segment> {
        check_free_space(self.path(), segment.bytes())?;
        let mut copy = NewFile::beside(path)?;
        copy.fenced(lock.fence());
        copy_bytes(segment, &mut copy)?;
        let copied = Segment::open(copy.unfinished()).and_then(|it| it.verify().map(|()| it));
        let copied = copied.map_err(|error| error.at(segment.path()))?;
        if copied.digest() != segment.digest() {
            return Err(Error::new(Kind::Temporary, "the segment was replaced while it was added")
                .at(segment.path())
                .help("try again"));
        }
        copy.publish()?;
        Segment::open(path)
    }
}

fn copy_bytes(segment: &Segment, copy: &mut NewFile) -> Result<()> {
    if segment.is_here() {
        return copy.copy(segment.path());
    }
    let mut slab = Vec::new();
    for at in (0..segment.bytes()).step_by(SLAB as usize) {
        segment.read(at..segment.bytes().min(at + SLAB), &mut slab)?;
        copy.write_all(&slab).at(segment.path())?;
    }
    Ok(())
}

fn rename(segment: &Segment, path: &Path, lock: &Lock) -> Result<Segment> {
    segment.verify()?;
    lock.check()?;
    fs::rename(segment.path(), path).at(path)?;
    sync_folder(parent_of(path))?;
    Segment::open(path)
}

/// Whether there is a sound segment with that digest at `path`, not linked from elsewhere. A version that
/// was rolled back may have left it.
fn is_held(path: &Path, digest: Digest) -> bool {
    let own = fs::symlink_metadata(path).is_ok_and(|file| file.is_file() && file.nlink() == 1);
    own && Segment::open(path).is_ok_and(|held| held.digest() == digest && held.verify().is_ok())
}
