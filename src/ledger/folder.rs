//! The ledger of a join: the chunks that are finished, each with its pairs and its receipt, in files
//! that only grow. FORMAT.md beside this file has their bytes.
//!
//! A chunk is finished once its receipt stands behind its pairs in the file of the worker that probed
//! it, before any of them is exchanged; a rerun reads it from there. Every worker has a file of its
//! own, and no file is ever written by two runs, so whoever reads needs no lock, and the rerun may
//! have other workers and processes than the run that died. What is written is not synced: it outlives
//! the process, and what a power cut takes of it is missed by the checksums and probed again.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use xxhash_rust::xxh3::Xxh3;

use super::chunk::{Chunk, Probed};
use super::frame::{self, Found, HEADER_BYTES, Holds, LedgerFile, PAIR_BYTES};
use super::writer::LedgerWriter;
use crate::error::{At, Error, Kind, Result};
use crate::fingerprint::Fingerprint;
use crate::matches::{Pair, Sieve};
use crate::store::{Digest, Segment};
use crate::tables::Sorted;

/// The digest of all that decides the pairs of every chunk: the build of the program, the batch, the
/// distance, which pairs are listed, the segments in their order, and how both are cut: the batch, by the
/// keys of `itself`. The design for the store, workers, processes and memory are no part of it.
pub fn ledger_key<F: Fingerprint>(
    build: Digest,
    batch: Digest,
    distance: u32,
    sieve: Option<&Sieve>,
    segments: &[Segment],
    chunks: &[Chunk<F>],
    itself: &Sorted<F>,
) -> Digest {
    let mut hash = Xxh3::new();
    hash.update(&frame::VERSION.to_le_bytes());
    hash.update(&build.0.to_le_bytes());
    hash.update(&batch.0.to_le_bytes());
    hash.update(&[Sieve::number(sieve)]);
    hash.update(&distance.to_le_bytes());
    hash.update(&(segments.len() as u64).to_le_bytes());
    segments.iter().for_each(|segment| hash.update(&segment.digest().0.to_le_bytes()));
    for chunk in chunks {
        let (kind, low, high) = match chunk {
            Chunk::Store(range) => (0, range.low.to_u128(), range.high.to_u128()),
            Chunk::Batch(part) => (1, (*part).into(), itself.parts().into()),
        };
        hash.update(&[kind]);
        hash.update(&low.to_le_bytes());
        hash.update(&high.to_le_bytes());
    }
    itself.keys().iter().for_each(|key| hash.update(&key.to_u128().to_le_bytes()));
    Digest(hash.digest128())
}

/// What stands finished in a folder, as one process of a join finds it when it begins.
#[derive(Clone, Debug)]
pub struct Ledger {
    folder: PathBuf,
    key: Digest,
    finished: HashMap<u64, Finished>,
    damage: Vec<Error>,
}

/// A finished chunk in its file.
#[derive(Clone, Debug)]
pub struct Finished {
    pub(super) receipt: Probed,
    pub(super) file: Arc<LedgerFile>,
    /// Where its frames begin, and where its receipt does.
    pub(super) start: u64,
    pub(super) end: u64,
}

impl Ledger {
    /// Reads the ledgers of `key` in `folder`, all of them and to the last byte, so that nothing is
    /// counted on that is not there. A folder that is missing holds none.
    pub fn open(folder: &Path, key: Digest) -> Result<Ledger> {
        let (finished, damage) = (HashMap::new(), Vec::new());
        let mut ledger = Ledger { folder: folder.to_path_buf(), key, finished, damage };
        for path in ledger.files(true)? {
            match File::open(&path) {
                Ok(file) => ledger.read(LedgerFile { path, file })?,
                Err(gone) if gone.kind() == io::ErrorKind::NotFound => {}
                Err(cause) => return Err(Error::io(&path, &cause)),
            }
        }
        Ok(ledger)
    }

    /// The chunks that stand finished, in no order.
    pub fn finished(&self) -> impl Iterator<Item = &Finished> {
        self.finished.values()
    }

    /// The chunk of this number, if it is finished.
    pub fn chunk(&self, number: u64) -> Option<&Finished> {
        self.finished.get(&number)
    }

    /// What was found damaged, and is therefore done again. A file that breaks off at its end is
    /// not: that is how a run that was killed leaves it.
    pub fn damage(&self) -> &[Error] {
        &self.damage
    }

    /// A worker's hand: a file of its own, made when its first chunk is finished.
    pub fn writer(&self) -> LedgerWriter {
        LedgerWriter::new(self.folder.clone(), self.key)
    }

    /// Removes the ledgers of other joins that were to have the same output, and those of other builds
    /// of the program. Says how many there were.
    pub fn remove_others(&self) -> Result<usize> {
        let others = self.files(false)?;
        others.iter().try_for_each(|path| remove(path))?;
        Ok(others.len())
    }

    /// How many bytes the ledgers of this join take on the disk.
    pub fn bytes(&self) -> Result<u64> {
        let sizes =
            self.files(true)?.into_iter().map(|path| path.metadata().map_or(0, |it| it.len()));
        Ok(sizes.sum())
    }

    /// Removes the ledgers of this join, which is through, and the folder if nothing else is in it.
    pub fn remove(&self) -> Result<()> {
        self.files(true)?.iter().try_for_each(|path| remove(path))?;
        // Another process may be at the same, or have begun something else.
        let _ = fs::remove_dir(&self.folder);
        Ok(())
    }

    /// The files in the folder that are of this key, or those that are not.
    fn files(&self, of_key: bool) -> Result<Vec<PathBuf>> {
        let entries = match fs::read_dir(&self.folder) {
            Err(none) if none.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.at(&self.folder)?,
        };
        let prefix = self.key.to_string();
        let mut files = Vec::new();
        for entry in entries {
            let entry = entry.at(&self.folder)?;
            if entry.file_name().as_encoded_bytes().starts_with(prefix.as_bytes()) == of_key {
                files.push(entry.path());
            }
        }
        files.sort();
        Ok(files)
    }

    /// Takes what is finished in `file`.
    fn read(&mut self, file: LedgerFile) -> Result<()> {
        let file = Arc::new(file);
        let end = file.file.metadata().at(&file.path)?.len();
        if end < HEADER_BYTES {
            return Ok(());
        }
        match file.is_of(self.key)? {
            Some(true) => {}
            // Written by another version of dupsieve: what it holds is probed again.
            Some(false) => return Ok(()),
            None => {
                self.damage.push(damaged(&file, 0));
                return Ok(());
            }
        }
        let (mut at, mut chunk, mut body) = (HEADER_BYTES, Begun::at(HEADER_BYTES), Vec::new());
        loop {
            let (head, sound) = match file.read(at, end, &mut body)? {
                Found::Frame(head) => (head, true),
                Found::Damaged(head) => (head, false),
                Found::Unreadable => {
                    self.damage.push(damaged(&file, at));
                    return Ok(());
                }
                Found::End => return Ok(()),
            };
            if chunk.number != Some(head.chunk) {
                chunk = Begun { number: Some(head.chunk), ..Begun::at(at) };
            }
            if !sound {
                self.damage.push(damaged(&file, at));
            }
            chunk.sound &= sound;
            if head.holds == Holds::Pairs {
                chunk.pairs += (body.len() / PAIR_BYTES) as u64;
            } else {
                if let Some(receipt) = chunk.receipt(&body) {
                    let finished =
                        Finished { receipt, file: Arc::clone(&file), start: chunk.start, end: at };
                    self.finished.insert(head.chunk, finished);
                }
                // Whatever follows a receipt is another beginning, of the same chunk too.
                chunk.number = None;
            }
            at += head.bytes();
        }
    }
}

/// A chunk whose frames are being read.
struct Begun {
    number: Option<u64>,
    start: u64,
    pairs: u64,
    sound: bool,
}

impl Begun {
    fn at(start: u64) -> Begun {
        Begun { number: None, start, pairs: 0, sound: true }
    }

    /// The receipt in `body`, if it is that of what was read.
    fn receipt(&self, body: &[u8]) -> Option<Probed> {
        let [fingerprints, pairs, listed] = frame::receipt(body);
        let whole = self.sound && listed == self.pairs;
        whole.then_some(Probed { chunk: self.number?, fingerprints, pairs, listed, resumed: true })
    }
}

impl Finished {
    /// The receipt; of a chunk that an earlier run has finished, marked as resumed.
    pub fn receipt(&self) -> Probed {
        self.receipt
    }

    /// The pairs, as they were appended; no more than a frame of them is in memory.
    pub fn pairs(&self) -> Pairs {
        Pairs { chunk: self.clone(), body: Vec::new(), next: 0 }
    }
}

/// The pairs of a finished chunk. After an error there are no more.
#[derive(Debug)]
pub struct Pairs {
    /// The chunk, from the frame that is to be read next.
    chunk: Finished,
    /// The frame before that, and where its next pair begins.
    body: Vec<u8>,
    next: usize,
}

impl Pairs {
    fn read_frame(&mut self) -> Result<()> {
        let Pairs { chunk: Finished { file, start, end, .. }, body, next } = self;
        match file.read(*start, *end, body) {
            Ok(Found::Frame(head)) => (*start, *next) = (*start + head.bytes(), 0),
            Err(error) => return Err(error),
            Ok(_) => {
                return Err(Error::new(Kind::Io, "a finished chunk came back damaged")
                    .at(&file.path)
                    .offset(*start)
                    .help("check the disk and run the same command again"));
            }
        }
        Ok(())
    }
}

impl Iterator for Pairs {
    type Item = Result<Pair>;

    /// # Errors
    /// [`Kind::Io`] if what was there when the chunk was written, or found finished, no longer is.
    fn next(&mut self) -> Option<Result<Pair>> {
        while self.next == self.body.len() {
            if self.chunk.start >= self.chunk.end {
                return None;
            }
            if let Err(error) = self.read_frame() {
                self.body.clear();
                (self.next, self.chunk.start) = (0, self.chunk.end);
                return Some(Err(error));
            }
        }
        let pair = frame::pair(&self.body[self.next..]);
        self.next += PAIR_BYTES;
        Some(Ok(pair))
    }
}

/// Damage, which costs no more than the chunks it is in.
fn damaged(file: &LedgerFile, offset: u64) -> Error {
    let what = "a ledger of finished chunks is damaged; what cannot be read of it is done again";
    Error::new(Kind::BadData, what).at(&file.path).offset(offset)
}

/// Another process may have been faster.
fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(Error::io(path, &cause)),
        _ => Ok(()),
    }
}
