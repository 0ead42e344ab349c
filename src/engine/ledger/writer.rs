//! Writes the ledger of one worker.

use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::chunk::Receipt;
use super::finished::Finished;
use super::frame::{FRAME_PAIRS, KEY, MAGIC, PAIR_BYTES, write_pairs, write_receipt};
use crate::error::{At, Error, Result};
use crate::frames::{FrameFile, HEAD_BYTES, frame};
use crate::matches::Pair;
use crate::output;
use crate::store::Digest;

/// Writes the file of one worker, chunk after chunk: [`LedgerWriter::begin`], any number of
/// [`LedgerWriter::append`], then [`LedgerWriter::finish`].
#[derive(Debug)]
pub struct LedgerWriter {
    folder: PathBuf,
    key: Digest,
    /// None until something is written.
    file: Option<Arc<FrameFile>>,
    pending: Vec<u8>,
    length: u64,
    chunk: u64,
    start: u64,
}

impl LedgerWriter {
    pub(super) fn new(folder: PathBuf, key: Digest) -> LedgerWriter {
        LedgerWriter {
            folder,
            key,
            file: None,
            pending: Vec::new(),
            length: (MAGIC.len() + HEAD_BYTES + size_of::<Digest>()) as u64,
            chunk: 0,
            start: 0,
        }
    }

    /// Begins a chunk. A chunk that was begun before and is not finished is given up.
    pub fn begin(&mut self, chunk: u64) {
        self.pending.clear();
        self.chunk = chunk;
        self.start = self.length;
    }

    pub fn append(&mut self, pairs: &[Pair]) -> Result<()> {
        for part in pairs.chunks(FRAME_PAIRS) {
            if self.pending.len() >= FRAME_PAIRS * PAIR_BYTES {
                self.write()?;
            }
            write_pairs(self.chunk, part, self.length, &mut self.pending);
        }
        Ok(())
    }

    /// Finishes the chunk: once this returns, no later run has to probe it again. Its pairs can be read
    /// back from the result.
    pub fn finish(&mut self, receipt: Receipt) -> Result<Finished> {
        let end = self.length + self.pending.len() as u64;
        write_receipt(&receipt, self.length, &mut self.pending);
        let file = self.write()?;
        Ok(Finished { receipt, file, start: self.start, end })
    }

    fn write(&mut self) -> Result<Arc<FrameFile>> {
        let file = match &self.file {
            Some(file) => Arc::clone(file),
            None => Arc::clone(self.file.insert(Arc::new(self.create()?))),
        };
        output::check_free_space(&self.folder, self.pending.len() as u64)?;
        (&file.file).write_all(&self.pending).at(&file.path)?;
        self.length += self.pending.len() as u64;
        self.pending.clear();
        Ok(file)
    }

    fn create(&self) -> Result<FrameFile> {
        let (mut file, path) = create(&self.folder, self.key, ".ledger")?;
        let key = frame(KEY, MAGIC.len() as u64, &self.key.0.to_le_bytes());
        file.write_all(&[&MAGIC[..], &key].concat()).at(&path)?;
        Ok(FrameFile { path, file })
    }
}

/// Makes a new file of a `key`, which nobody else writes, to be appended to.
pub(crate) fn create(folder: &Path, key: Digest, suffix: &str) -> Result<(File, PathBuf)> {
    fs::create_dir_all(folder).at(folder)?;
    let made = tempfile::Builder::new()
        .prefix(&format!("{key}-"))
        .suffix(suffix)
        .permissions(Permissions::from_mode(0o666))
        .append(true)
        .tempfile_in(folder)
        .map_err(|cause| Error::io(folder, &cause))?;
    made.keep().map_err(|failed| Error::io(folder, &failed.error))
}
