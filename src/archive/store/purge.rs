//! Purging: the bytes of removed pages leave the disk.
//!
//! The segments of the newest version that have removed rows are rewritten without them, each in a version of its own.
//! Then all versions leave that name a segment with removed rows, and with them these segments. For
//! example, with rows of `a` and of `m` removed:
//!
//! ```text
//! version   2: a   3: a b   4: m   5: m c        m has a and b
//! rewrite   6: n c                               n is m without the removed rows
//! prune     6: n c                               version 5 is the last that names m
//! ```
//!
//! Every step is whole by itself. A purge that was interrupted goes on with what is left, when it is run again. At the end,
//! under one lock, it is made sure that no version names a file with removed rows, and all that is left is read: every id of
//! every row is looked up among the removed ones. A certificate says what was found: it names the digests of the ids, never
//! the ids. Pages that another run removes between the steps make the purge end before it certifies anything. So do notes that
//! nobody has heeded: the journal may still have the pages that they name.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::compact::Merger;
use super::digest::Digest;
use super::folder::Store;
use super::manifest::PURGED;
use super::removal_note::{JOURNAL, RemovalNote};
use super::removals::Removals;
use super::segment::Codec;
use crate::error::{At, Error, Kind, Result};
use crate::output::write_file;
use crate::small_file;

const PURGES: &str = "purges";
const FORMAT: u32 = 1;
/// How long a service that runs may take to forget removed pages. It looks for them each second.
const PATIENCE: Duration = Duration::from_secs(3);
const PAUSE: Duration = Duration::from_millis(50);
const LONGEST: u64 = 1 << 30;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Purge {
    /// The segments of the newest version that are rewritten.
    pub segments: u64,
    pub rows: u64,
    /// The last version that leaves; none if all stay.
    pub last: Option<u64>,
    pub ids: u64,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Certificate {
    format: u32,
    version: u64,
    oldest: u64,
    /// The digests of the segments of all versions between: they were read, and hold no page with one of the ids.
    segments: BTreeMap<String, Digest>,
    /// The digests of the removed ids, each with the last day whose page was removed.
    ids: BTreeMap<String, String>,
    /// Those of them that are there all the same, as pages of a later day.
    later: BTreeSet<Digest>,
}

impl Store {
    pub fn purge(&self) -> Result<Purge> {
        let removals = Removals::read(self.path())?;
        let versions = self.versions()?;
        let is_touched = |file: &str| removals.files.contains_key(file);
        let newest = self.at(None)?;
        let touched = newest.files().into_iter().filter(|record| is_touched(&record.file));
        let (segments, rows) =
            touched.fold((0, 0), |(files, rows), record| (files + 1, rows + record.rows));
        let mut last = None;
        for read in self.manifests(versions.rev()) {
            let (number, manifest) = read?;
            if manifest.entries.iter().any(|entry| is_touched(&entry.file)) {
                last = Some(number);
                break;
            }
        }
        Ok(Purge { segments, rows, last, ids: removals.ids().len() as u64 })
    }

    /// Rewrites one segment of the newest version that has removed rows, in a version of its own. Returns whether there was
    /// one. `merged` grows by the fingerprints that were read.
    pub fn rewrite_removed(&self, merged: &AtomicU64) -> Result<bool> {
        let lock = self.lock()?;
        let removals = Removals::read(self.path())?;
        let newest = self.at(None)?;
        let touched = newest.files().into_iter().find(|it| removals.files.contains_key(&it.file));
        let Some(record) = touched else { return Ok(false) };
        self.merge(&newest, &Merger::of(PURGED, vec![record]), Codec::default(), &lock, merged)?;
        Ok(true)
    }

    /// Removes the versions up to `last`, which name segments with removed rows, and these segments. `read` grows by the
    /// bytes that are read before.
    pub fn prune_removed(&self, last: u64, read: &AtomicU64) -> Result<()> {
        let keep = self.versions()?.end().saturating_sub(last);
        self.pruning(NonZero::new(keep).ok_or_else(|| self.has_changed())?)?.run(read)
    }

    /// Reads all that is left and writes the certificate that no removed page is there. Returns whether it is a new one.
    /// `read` grows by the bytes read.
    pub fn certify(&self, read: &AtomicU64) -> Result<bool> {
        self.wait_for_journal()?;
        let lock = self.lock()?;
        self.expect_heeded()?;
        // What is not needed any more must be gone before this is said. Then rows of the files of versions are left.
        self.remove_all_orphans(&lock)?;
        let removals = Removals::read(self.path())?;
        if let Some(file) = removals.files.keys().next() {
            let what = "pages were removed while the store was purged";
            return Err(Error::new(Kind::Temporary, what)
                .at(self.path())
                .found(format_args!("removed pages in {file}"))
                .help("try again"));
        }
        let certificate = self.certificate(&removals)?;
        let folder = self.path().join(PURGES);
        let path = folder.join(format!("{:06}.json", certificate.version));
        if held(&path).is_some_and(|it| Certificate { later: BTreeSet::new(), ..it } == certificate)
        {
            return Ok(false);
        }
        // No row is hidden any more. So this fails if one is found that must be.
        let later = self.verification(None)?.search(&removals, read)?;
        let certificate = Certificate { later, ..certificate };
        let json = serde_json::to_string_pretty(&certificate).expect("it is plain data") + "\n";
        fs::create_dir_all(&folder).at(&folder)?;
        write_file(&path, json.as_bytes(), &lock)?;
        Ok(true)
    }

    fn wait_for_journal(&self) -> Result<()> {
        let began = Instant::now();
        while RemovalNote::waits(self.path())? && began.elapsed() < PATIENCE {
            thread::sleep(PAUSE);
        }
        Ok(())
    }

    /// Fails if the journal may still have removed pages. Whoever holds the lock of the store is told of all.
    fn expect_heeded(&self) -> Result<()> {
        if !RemovalNote::waits(self.path())? {
            return Ok(());
        }
        Err(Error::new(Kind::Temporary, "the journal may still have pages that were removed").called("journal-waits")
            .at(self.path().join(JOURNAL))
            .help(
                "a day is being committed that may have them: start the service of this store if it does not run, \
                 which finishes that day, and try again",
            )
            .job("serve"))
    }

    fn certificate(&self, removals: &Removals) -> Result<Certificate> {
        let versions = self.versions()?;
        let mut segments = BTreeMap::new();
        for number in versions.clone() {
            let version = self.at(Some(number))?;
            for (record, segment) in version.files().iter().zip(version.segments()?) {
                segments.insert(record.file.clone(), segment.digest());
            }
        }
        let ids = removals.ids().map(|(id, until)| (id.to_string(), until.to_string()));
        let (oldest, version) = (*versions.start(), *versions.end());
        let (ids, later) = (ids.collect(), BTreeSet::new());
        Ok(Certificate { format: FORMAT, version, oldest, segments, ids, later })
    }
}

fn held(path: &Path) -> Option<Certificate> {
    let bytes = small_file::read(path, LONGEST, Kind::BadData).ok()?;
    serde_json::from_slice(&bytes).ok()
}
