//! A ledger being written: one worker's file.

use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;

use super::chunk::Probed;
use super::folder::Finished;
use super::frame::{FRAME_PAIRS, HEADER_BYTES, LedgerFile, PAIR_BYTES, header};
use super::frame::{write_pairs, write_receipt};
use crate::error::{At, Error, Result};
use crate::matches::Pair;
use crate::output;
use crate::store::Digest;

/// A worker's own file, chunk after chunk: [`LedgerWriter::begin`], any number of
/// [`LedgerWriter::append`], [`LedgerWriter::finish`].
#[derive(Debug)]
pub struct LedgerWriter {
    folder: PathBuf,
    key: Digest,
    /// None before the first chunk is finished, or larger than a frame.
    file: Option<Arc<LedgerFile>>,
    /// Frames that are not in the file yet.
    pending: Vec<u8>,
    /// How long the file is, or will be with its header alone.
    length: u64,
    chunk: u64,
    start: u64,
}

impl LedgerWriter {
    pub(super) fn new(folder: PathBuf, key: Digest) -> LedgerWriter {
        let (file, pending) = (None, Vec::new());
        LedgerWriter { folder, key, file, pending, length: HEADER_BYTES, chunk: 0, start: 0 }
    }

    /// Begins a chunk; what was appended to one that was not finished counts for nothing.
    pub fn begin(&mut self, chunk: u64) {
        self.pending.clear();
        (self.chunk, self.start) = (chunk, self.length);
    }

    /// Adds pairs of the chunk.
    pub fn append(&mut self, pairs: &[Pair]) -> Result<()> {
        for part in pairs.chunks(FRAME_PAIRS) {
            if self.pending.len() >= FRAME_PAIRS * PAIR_BYTES {
                self.write()?;
            }
            write_pairs(self.chunk, part, &mut self.pending);
        }
        Ok(())
    }

    /// Finishes the chunk: when this returns, it is done for good. Its pairs can be read back from
    /// what is returned.
    pub fn finish(&mut self, receipt: Probed) -> Result<Finished> {
        let end = self.length + self.pending.len() as u64;
        write_receipt(&receipt, &mut self.pending);
        let file = self.write()?;
        Ok(Finished { receipt, file, start: self.start, end })
    }

    /// Hands what was added to the system.
    fn write(&mut self) -> Result<Arc<LedgerFile>> {
        let file = match &self.file {
            Some(file) => Arc::clone(file),
            None => Arc::clone(self.file.insert(Arc::new(self.create()?))),
        };
        output::check_room(&self.folder, self.pending.len() as u64)?;
        (&file.file).write_all(&self.pending).at(&file.path)?;
        self.length += self.pending.len() as u64;
        self.pending.clear();
        Ok(file)
    }

    /// A new file that nobody else writes.
    fn create(&self) -> Result<LedgerFile> {
        fs::create_dir_all(&self.folder).at(&self.folder)?;
        let made = tempfile::Builder::new()
            .prefix(&format!("{}-", self.key))
            .suffix(".ledger")
            .permissions(Permissions::from_mode(0o666))
            .append(true)
            .tempfile_in(&self.folder)
            .map_err(|cause| Error::io(&self.folder, &cause))?;
        let kept = made.keep().map_err(|failed| Error::io(&self.folder, &failed.error))?;
        let (mut file, path) = kept;
        file.write_all(&header(self.key)).at(&path)?;
        Ok(LedgerFile { path, file })
    }
}
