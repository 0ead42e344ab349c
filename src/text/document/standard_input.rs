//! Standard input, kept in a file without a name, so that it can be read more than once: a static, since a process has one.

use std::env;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;

use crate::error::{At, Result};
use crate::progress::{self, Activity};

static KEPT: OnceLock<File> = OnceLock::new();

const STEP_BYTES: usize = 1 << 20;

/// Reads standard input to its end into the folder for temporary files. From then on it is no stream: it can be read as often as a file, and
/// its first bytes show its format.
pub fn keep_standard_input() -> Result<()> {
    let folder = env::temp_dir();
    let mut file = tempfile::tempfile_in(&folder).at(&folder)?;
    let mut step = vec![0; STEP_BYTES];
    loop {
        progress::tick(Activity::Reading);
        match io::stdin().read(&mut step) {
            Ok(0) => break,
            Ok(read) => file.write_all(&step[..read]).at(&folder)?,
            Err(cause) if cause.kind() == ErrorKind::Interrupted => {}
            Err(cause) => return Err(cause).at("stdin"),
        }
    }
    KEPT.get_or_init(|| file);
    Ok(())
}

pub(super) fn is_kept() -> bool {
    KEPT.get().is_some()
}

pub(super) fn kept_bytes() -> Option<u64> {
    KEPT.get()?.metadata().ok().map(|metadata| metadata.len())
}

/// Its bytes, from the first one if they are kept.
pub(super) fn open() -> Box<dyn Read> {
    match KEPT.get() {
        Some(file) => Box::new(KeptBytes { file, offset: 0 }),
        None => Box::new(io::stdin()),
    }
}

struct KeptBytes {
    file: &'static File,
    offset: u64,
}

impl Read for KeptBytes {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(into, self.offset)?;
        self.offset += read as u64;
        Ok(read)
    }
}
