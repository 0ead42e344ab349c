//! A file of lines that appears whole, packed as its name says.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use dupsieve::error::At;
use dupsieve::output::{self, Lock, NewFile};
use dupsieve::{Error, Kind, Result};
use flate2::write::GzEncoder;

/// Lines on their way to a file. Dropped before [`PackedFile::finish`], it leaves nothing.
pub(crate) struct PackedFile {
    path: PathBuf,
    packer: Packer,
}

/// How the lines are packed.
enum Packer {
    Plain(BufWriter<NewFile>),
    Gzip(GzEncoder<BufWriter<NewFile>>),
    Zstd(zstd::Encoder<'static, BufWriter<NewFile>>),
}

impl PackedFile {
    /// A file for `path`, packed if that ends in `.gz` or `.zst`.
    pub(crate) fn create(path: &Path) -> Result<PackedFile> {
        let folder = output::parent_of(path);
        fs::create_dir_all(folder).at(folder)?;
        PackedFile::of(NewFile::beside(path)?, path)
    }

    /// The same under a lock, without which it will not appear.
    pub(crate) fn locked(path: &Path, lock: &Lock) -> Result<PackedFile> {
        let mut file = NewFile::beside(path)?;
        file.fenced(lock.fence());
        PackedFile::of(file, path)
    }

    fn of(file: NewFile, path: &Path) -> Result<PackedFile> {
        let file = BufWriter::new(file);
        let packer = match path.extension().and_then(|extension| extension.to_str()) {
            Some("gz") => Packer::Gzip(GzEncoder::new(file, flate2::Compression::default())),
            Some("zst") => Packer::Zstd(zstd::Encoder::new(file, 0).at(path)?),
            _ => Packer::Plain(file),
        };
        Ok(PackedFile { path: path.to_owned(), packer })
    }

    /// Adds a line, and its end.
    pub(crate) fn line(&mut self, line: &[u8]) -> Result<()> {
        let packer: &mut dyn Write = match &mut self.packer {
            Packer::Plain(file) => file,
            Packer::Gzip(file) => file,
            Packer::Zstd(file) => file,
        };
        packer.write_all(line).and_then(|()| packer.write_all(b"\n")).at(&self.path)
    }

    /// Gives the file its name, and says whether the very same stood there already. Another one that
    /// stands there is refused unless it may be overwritten.
    pub(crate) fn finish(self, overwrite: bool) -> Result<bool> {
        let PackedFile { path, packer } = self;
        let file = match packer {
            Packer::Plain(file) => file,
            Packer::Gzip(file) => file.finish().at(&path)?,
            Packer::Zstd(file) => file.finish().at(&path)?,
        };
        let file = file.into_inner().map_err(|error| Error::io(&path, error.error()))?;
        if path.exists() {
            let mut standing = File::open(&path).at(&path)?;
            if are_equal(&mut file.written().at(&path)?, &mut standing).at(&path)? {
                return Ok(true);
            }
            if !overwrite {
                return Err(Error::new(Kind::Exists, "the output exists, with other contents")
                    .at(&path)
                    .help("choose another output, or replace this one with --overwrite"));
            }
        }
        file.publish().map(|()| false)
    }
}

/// Whether two files hold the same bytes.
fn are_equal(one: &mut File, other: &mut File) -> io::Result<bool> {
    if one.metadata()?.len() != other.metadata()?.len() {
        return Ok(false);
    }
    let [mut left, mut right] = [one, other].map(BufReader::new);
    loop {
        let (a, b) = (left.fill_buf()?, right.fill_buf()?);
        let common = a.len().min(b.len());
        if common == 0 || a[..common] != b[..common] {
            return Ok(a.is_empty() && b.is_empty());
        }
        left.consume(common);
        right.consume(common);
    }
}
