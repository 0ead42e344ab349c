//! The ledgers in a folder, as a process of a join finds them when it starts.
//!
//! Each worker writes a file of its own, and no file is written by two runs. A reader therefore needs no
//! lock, and a rerun may have other workers and processes than the run that was killed. The files are not
//! synced: they survive the process. What a power cut takes from them fails its checksum and is probed
//! again.

use std::collections::HashMap;
use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::finished::Finished;
use super::frame::{Holds, MAGIC};
use super::writer::LedgerWriter;
use crate::error::{Error, Kind, Result};
use crate::frames::{FoundFrame, FrameFile};
use crate::output::{entries_in, remove_if_there};
use crate::store::Digest;

#[derive(Clone, Debug)]
pub struct Ledger {
    folder: PathBuf,
    key: Digest,
    finished: HashMap<u64, Finished>,
    damage: Vec<Error>,
}

impl Ledger {
    /// Reads all ledgers of `key` in `folder` to the last byte, so that every chunk it reports can be read
    /// back. If the folder is missing, no chunk is finished.
    pub fn open(folder: &Path, key: Digest) -> Result<Ledger> {
        let mut ledger = Ledger {
            folder: folder.to_path_buf(),
            key,
            finished: HashMap::new(),
            damage: Vec::new(),
        };
        for path in ledger.files(true)? {
            match FrameFile::open(&path) {
                Err(gone) if gone.kind() == Kind::Missing => {}
                file => ledger.read(Arc::new(file?))?,
            }
        }
        Ok(ledger)
    }

    pub fn finished(&self) -> impl Iterator<Item = &Finished> {
        self.finished.values()
    }

    pub fn chunk(&self, number: u64) -> Option<&Finished> {
        self.finished.get(&number)
    }

    /// The damage that was found; the chunks in it are probed again. A file that breaks off at its end is
    /// not damaged: a killed run leaves it like that.
    pub fn damage(&self) -> &[Error] {
        &self.damage
    }

    /// A writer for one worker, with a file of its own. The file is made when the first chunk is finished.
    pub fn writer(&self) -> LedgerWriter {
        LedgerWriter::new(self.folder.clone(), self.key)
    }

    /// Removes the ledgers of other keys: other inputs for the same output, or other builds of the
    /// program. Returns how many there were.
    pub fn remove_others(&self) -> Result<usize> {
        let others = self.files(false)?;
        others.iter().try_for_each(|path| remove_if_there(path))?;
        Ok(others.len())
    }

    pub fn bytes(&self) -> Result<u64> {
        let sizes =
            self.files(true)?.into_iter().map(|path| path.metadata().map_or(0, |it| it.len()));
        Ok(sizes.sum())
    }

    /// Removes the ledgers of this join once it is complete, and the folder if it is empty then.
    pub fn remove(&self) -> Result<()> {
        self.files(true)?.iter().try_for_each(|path| remove_if_there(path))?;
        // Another process may have removed the folder, or may have put something else into it.
        let _ = fs::remove_dir(&self.folder);
        Ok(())
    }

    /// The files in the folder whose name has this key, or those whose name does not.
    fn files(&self, of_key: bool) -> Result<Vec<PathBuf>> {
        let prefix = self.key.to_string();
        let mut entries = entries_in(&self.folder)?;
        entries.retain(|entry| {
            entry.file_name().as_encoded_bytes().starts_with(prefix.as_bytes()) == of_key
        });
        let mut files: Vec<PathBuf> = entries.iter().map(DirEntry::path).collect();
        files.sort();
        Ok(files)
    }

    fn read(&mut self, file: Arc<FrameFile>) -> Result<()> {
        let end = file.bytes()?;
        let mut at = MAGIC.len() as u64;
        let mut body = Vec::new();
        match file.read(at, end, &mut body)? {
            FoundFrame::End => return Ok(()),
            FoundFrame::Frame(head)
                if file.begins_with(&MAGIC)? && body == self.key.0.to_le_bytes() =>
            {
                at = head.end(at);
            }
            _ => {
                self.damage.push(damaged(&file, 0));
                return Ok(());
            }
        }
        let mut chunk = Unfinished { number: None, start: at, pairs: 0 };
        loop {
            let (head, held) = match file.read(at, end, &mut body)? {
                FoundFrame::Frame(head) => (head, Holds::read(head.tag, &body)),
                FoundFrame::Damaged(head) => (head, None),
                FoundFrame::NoHead => {
                    self.damage.push(damaged(&file, at));
                    return Ok(());
                }
                FoundFrame::End => return Ok(()),
            };
            match held {
                Some(Holds::Pairs(number, pairs)) => chunk.add(number, at, pairs.len() as u64),
                Some(Holds::Receipt(receipt)) => {
                    chunk.add(receipt.chunk, at, 0);
                    if receipt.listed == chunk.pairs {
                        let (file, start) = (Arc::clone(&file), chunk.start);
                        let finished = Finished { receipt, file, start, end: at };
                        self.finished.insert(receipt.chunk, finished);
                    }
                    // The next frame starts anew, even if it is of the same chunk.
                    chunk.number = None;
                }
                None => {
                    self.damage.push(damaged(&file, at));
                    // What is left of the chunk has fewer pairs than its receipt says.
                    chunk.number = None;
                }
            }
            at = head.end(at);
        }
    }
}

struct Unfinished {
    number: Option<u64>,
    start: u64,
    pairs: u64,
}

impl Unfinished {
    /// Adds the pairs of the frame at `at`. A frame of another chunk starts anew.
    fn add(&mut self, number: u64, at: u64, pairs: u64) {
        if self.number != Some(number) {
            *self = Unfinished { number: Some(number), start: at, pairs: 0 };
        }
        self.pairs += pairs;
    }
}

fn damaged(file: &FrameFile, offset: u64) -> Error {
    let what =
        "a ledger of finished chunks is damaged; chunks that cannot be read are probed again";
    Error::new(Kind::BadData, what).at(&file.path).offset(offset)
}
