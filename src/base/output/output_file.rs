//! A file that is hashed as it is written. A list beside an output, such as the records that could not be read, is renamed into its place
//! together with the output.

use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use super::lock::Fence;
use super::new_file::NewFile;
use crate::error::{At, Error, Result};
use crate::progress::{self, Activity};

pub const QUARANTINE: &str = ".quarantine.tsv";
pub const REPEATED: &str = ".repeated.tsv";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sum {
    pub bytes: u64,
    pub xxh3: String,
}

impl Sum {
    pub fn of(path: &Path) -> Result<Sum> {
        let mut file = File::open(path).at(path)?;
        let (bytes, hash) = copy_hashed(&mut file, &mut io::sink()).at(path)?;
        Ok(Sum { bytes, xxh3: format!("{hash:032x}") })
    }
}

/// Copies a reader to its end. Returns the length and XXH3-128 of what was copied.
pub fn copy_hashed(from: &mut dyn Read, to: &mut dyn Write) -> io::Result<(u64, u128)> {
    let mut hash = Xxh3::new();
    let mut bytes = 0;
    let mut part = vec![0; 1 << 20];
    loop {
        match from.read(&mut part) {
            Ok(0) => return Ok((bytes, hash.digest128())),
            Ok(read) => {
                progress::tick(Activity::Reading);
                hash.update(&part[..read]);
                to.write_all(&part[..read])?;
                bytes += read as u64;
            }
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
            Err(cause) => return Err(cause),
        }
    }
}

impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes with XXH3 {}", self.bytes, self.xxh3)
    }
}

pub struct OutputFile<F: Write = File> {
    path: PathBuf,
    file: BufWriter<Summing<F>>,
}

impl OutputFile {
    pub fn create(path: &Path) -> Result<OutputFile> {
        Ok(OutputFile::of(path, File::create(path).at(path)?))
    }

    pub fn finish(self) -> Result<Sum> {
        let (path, file, sum) = self.parts()?;
        file.sync_all().at(&path)?;
        Ok(sum)
    }
}

impl<F: Write> OutputFile<F> {
    fn of(path: &Path, file: F) -> OutputFile<F> {
        let summing = Summing { file, bytes: 0, hash: Box::new(Xxh3::new()) };
        let file = BufWriter::with_capacity(1 << 20, summing);
        OutputFile { path: path.to_path_buf(), file }
    }

    /// Calls `write` with the file. An error names its path.
    pub fn write(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        write(&mut self.file).at(&self.path)
    }

    /// The path, the file, to which all was written, and its length and hash.
    fn parts(self) -> Result<(PathBuf, F, Sum)> {
        let OutputFile { path, file } = self;
        let summing = file.into_inner().map_err(|failed| Error::io(&path, failed.error()))?;
        let sum = Sum { bytes: summing.bytes, xxh3: format!("{:032x}", summing.hash.digest128()) };
        Ok((path, summing.file, sum))
    }
}

/// A list that is being written. Dropped before it is published, it leaves nothing behind.
pub type ListFile = OutputFile<NewFile>;

impl ListFile {
    pub fn beside(path: &Path, fence: &Fence) -> Result<ListFile> {
        let mut file = NewFile::beside(path)?;
        file.fenced(fence);
        Ok(OutputFile::of(path, file))
    }

    pub fn finish(self) -> Result<Listed> {
        let (_, file, sum) = self.parts()?;
        file.sync()?;
        Ok(Listed { file, sum })
    }
}

#[derive(Debug)]
pub struct Listed {
    file: NewFile,
    pub sum: Sum,
}

impl Listed {
    pub fn publish(self) -> Result<()> {
        self.file.publish()
    }

    pub fn publish_at(self, path: &Path) -> Result<()> {
        self.file.publish_at(path)
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

struct Summing<F> {
    file: F,
    bytes: u64,
    hash: Box<Xxh3>,
}

impl<F: Write> Write for Summing<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        progress::tick(Activity::Writing);
        let written = self.file.write(bytes)?;
        self.hash.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_piece_of_a_file_that_is_hashed_is_a_sign_of_life() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("z");
        std::fs::write(&path, "z").unwrap();
        let known = format!("{:032x}", xxhash_rust::xxh3::xxh3_128(b"z"));
        assert_eq!(Sum::of(&path).unwrap(), Sum { bytes: 1, xxh3: known });
        File::create(&path).unwrap().set_len(64 << 20).unwrap();
        let before = progress::own_ticks();
        Sum::of(&path).unwrap();
        assert!(progress::own_ticks() >= before + 64);
    }
}
