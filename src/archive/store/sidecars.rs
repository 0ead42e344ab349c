//! Files that are kept beside the segments of the newest version, such as those of an index: a folder for each kind,
//! and a file of the store that names what is kept in it.
//!
//! ```text
//! INDEX       mirror 5a3c...               the name, and its checksum
//! index/      <digest>-mirror.seg          one or more for each segment, named by the digest of that
//! ```
//!
//! Most of them are tables: segments of their own, of sorted entries without ids, whose stamps say from which segment they were made.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

use xxhash_rust::xxh3::xxh3_64;

use super::folder::Store;
use super::segment::{Codec, IdKind, RecordCounts, Row, Segment, SegmentOptions, SegmentWriter};
use crate::error::{At, Error, Kind, Result};
use crate::fingerprint::{Fingerprint, Width};
use crate::object_storage::bytes_of;
use crate::output::{
    Fence, Lock, UNFINISHED, check_free_space, files_in, remove_if_there, sync_folder, write_file,
};
use crate::parallel::in_parallel;
use crate::small_file;

const LONGEST: u64 = 1 << 10;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    pub made: u64,
    pub removed: u64,
    pub files: u64,
    pub bytes: u64,
}

/// What is made at once beside a segment.
pub trait Sidecar {
    fn paths(&self) -> Vec<PathBuf>;

    /// Whether its files are there, and were made from this segment.
    fn is_there(&self, segment: &Segment) -> bool;

    /// About how many bytes it takes on disk, with those of a sort that does not fit into its memory.
    fn bytes_to_write(&self, segment: &Segment, memory_bytes: usize) -> u64;

    /// Makes it. The sort takes about `memory_bytes`, and `done` grows by the rows of the segment.
    fn make(
        &self,
        segment: &Segment,
        memory_bytes: usize,
        done: &AtomicU64,
        fence: &Fence,
    ) -> Result<()>;
}

#[derive(Clone, Copy, Debug)]
/// The files of one kind that stand beside a store.
pub struct Sidecars<'a> {
    pub store: &'a Store,
    pub folder: &'static str,
    /// The file of the store that names what is kept.
    pub marker: &'static str,
    /// Whether files of this kind have such names. Others belong to somebody else and stay.
    pub is_ours: fn(&str) -> bool,
}

impl Sidecars<'_> {
    pub fn folder(&self) -> PathBuf {
        self.store.path().join(self.folder)
    }

    /// The name of the one in use.
    pub fn named(&self) -> Result<Option<String>> {
        let path = self.store.path().join(self.marker);
        let bytes = match small_file::read(&path, LONGEST, Kind::BadData) {
            Err(error) if error.kind() == Kind::Missing => return Ok(None),
            bytes => bytes?,
        };
        let told = String::from_utf8_lossy(&bytes);
        let name = told.split_once(' ').map(|(name, _)| name.to_owned());
        name.filter(|name| line(name) == told).map(Some).ok_or_else(|| {
            Error::new(Kind::BadData, "this file does not name what is kept beside the segments")
                .at(&path)
                .expected("a name and its checksum")
                .found(format_args!("{told:.100?}"))
        })
    }

    /// Makes `name` what is kept; none: nothing.
    fn name(&self, name: Option<&str>, lock: &Lock) -> Result<()> {
        let path = self.store.path().join(self.marker);
        if let Some(name) = name {
            return write_file(&path, line(name).as_bytes(), lock);
        }
        lock.check()?;
        remove_if_there(&path)?;
        sync_folder(self.store.path())
    }

    pub fn all(&self) -> Result<Vec<PathBuf>> {
        files_in(&self.folder(), self.is_ours)
    }

    pub fn size(&self) -> Result<(u64, u64)> {
        let all = self.all()?;
        Ok((all.len() as u64, all.iter().map(|path| bytes_of(path).unwrap_or(0)).sum()))
    }

    /// Calls `take` with every segment of the newest version, and with each of what belongs beside it.
    pub fn each<S>(
        &self,
        of: impl Fn(&Segment) -> Result<Vec<S>>,
        mut take: impl FnMut(&Segment, S) -> Result<()>,
    ) -> Result<()> {
        for segment in self.store.at(None)?.segments()? {
            of(&segment)?.into_iter().try_for_each(|sidecar| take(&segment, sidecar))?;
        }
        Ok(())
    }

    pub fn missing<S: Sidecar>(
        &self,
        of: impl Fn(&Segment) -> Result<Vec<S>>,
    ) -> Result<(u64, u64)> {
        let mut missing = (0, 0);
        self.each(of, |segment, sidecar| {
            if !sidecar.is_there(segment) {
                missing = (missing.0 + 1, missing.1 + segment.rows());
            }
            Ok(())
        })?;
        Ok(missing)
    }

    /// Makes what is not there, on so many threads that share the memory, names what is kept then, and removes all others. Each is whole by
    /// itself, so a run after one that died goes on where that stopped.
    pub fn change<S: Sidecar + Sync>(
        &self,
        name: Option<String>,
        of: impl Fn(&Segment) -> Result<Vec<S>>,
        is_there: impl Fn(&S, &Segment) -> bool,
        (memory_bytes, threads): (usize, usize),
        done: &AtomicU64,
    ) -> Result<Kept> {
        let lock = self.store.lock()?;
        let folder = self.folder();
        let (mut own, mut missing) = (Vec::new(), Vec::new());
        self.each(of, |segment, sidecar| {
            own.extend(sidecar.paths());
            if !is_there(&sidecar, segment) {
                missing.push((segment.clone(), sidecar));
            }
            Ok(())
        })?;
        if !missing.is_empty() {
            fs::create_dir_all(&folder).at(&folder)?;
        }
        let memory_bytes = memory_bytes / threads.clamp(1, missing.len().max(1));
        let made = in_parallel(threads, &missing, |(segment, sidecar)| {
            check_free_space(&folder, sidecar.bytes_to_write(segment, memory_bytes))?;
            sidecar.make(segment, memory_bytes, done, lock.fence())
        });
        made.into_iter().collect::<Result<()>>()?;
        let mut kept = Kept { made: missing.len() as u64, ..Kept::default() };
        if self.named().ok().as_ref() != Some(&name) {
            self.name(name.as_deref(), &lock)?;
        }
        self.remove_others(&own, &lock, &mut kept)?;
        Ok(kept)
    }

    /// The error for a file that belongs beside a segment and is missing, or is that of another segment. A run that is changing the
    /// store, which then cannot be locked, may still be making it.
    pub fn lacking(&self, path: &Path) -> Error {
        match self.store.lock() {
            Err(error) if error.kind() == Kind::Temporary => error,
            _ if path.exists() => {
                Error::new(Kind::BadData, "this file was made from another segment").at(path)
            }
            _ => Error::new(Kind::Missing, "a file that is kept beside a segment is missing")
                .at(path),
        }
    }

    /// Removes all but `own`, and what runs that died have left. Counts them in `kept`.
    fn remove_others(&self, own: &[PathBuf], lock: &Lock, kept: &mut Kept) -> Result<()> {
        let folder = self.folder();
        lock.check()?;
        for path in self.all()? {
            if own.contains(&path) {
                kept.files += 1;
                kept.bytes += bytes_of(&path).at(&path)?;
            } else {
                fs::remove_file(&path).at(&path)?;
                kept.removed += 1;
            }
        }
        for path in files_in(&folder, |name| name.starts_with(UNFINISHED))? {
            fs::remove_file(&path).at(&path)?;
        }
        if own.is_empty() {
            // It stays if somebody else's files are in it.
            let _ = fs::remove_dir(&folder);
        }
        Ok(())
    }
}

/// The line that names what is kept: the name and its XXH3-64.
fn line(name: &str) -> String {
    format!("{name} {:016x}\n", xxh3_64(name.as_bytes()))
}

pub struct SideTableWriter<F: Fingerprint> {
    writer: SegmentWriter<F>,
    last: Option<F>,
    entries: u64,
}

impl<F: Fingerprint> SideTableWriter<F> {
    /// Begins a table, which is published while the lock of `fence` is held.
    pub fn create(path: &Path, stamp: String, fence: &Fence) -> Result<SideTableWriter<F>> {
        let ids = IdKind::None;
        let options =
            SegmentOptions { ids, codec: Codec::EliasFano, stamp, ..SegmentOptions::default() };
        let mut writer = SegmentWriter::create(path, options)?;
        writer.fenced(fence);
        Ok(SideTableWriter { writer, last: None, entries: 0 })
    }

    /// Adds an entry that is not before the last one. Equal ones are one.
    pub fn push(&mut self, entry: F) -> Result<()> {
        if self.last.replace(entry) == Some(entry) {
            return Ok(());
        }
        self.entries += 1;
        self.writer.push(&Row::new(entry, ""))
    }

    pub fn finish(self) -> Result<Segment> {
        let (read, fingerprinted) = (self.entries, self.entries);
        let counts = RecordCounts { read, fingerprinted, ..RecordCounts::default() };
        self.writer.finish(counts, "")
    }
}

/// Opens the table at `path`; none if there is none, or one of another kind or segment.
pub fn open_side_table(path: &Path, stamp: &str, width: Width) -> Result<Option<Segment>> {
    match Segment::open(path) {
        Err(error) if error.kind() == Kind::Missing => Ok(None),
        table => Ok(table.map(Some)?.filter(|it| it.stamp() == stamp && it.width() == width)),
    }
}
