//! A file of lines that appears whole, packed as its name says.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use dupsieve::error::At;
use dupsieve::output::NewFile;
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
    /// A file for `path`, packed if that ends in `.gz` or `.zst`. One that stands there is refused
    /// unless it may be overwritten.
    pub(crate) fn create(path: &Path, overwrite: bool) -> Result<PackedFile> {
        if !overwrite && path.exists() {
            return Err(Error::new(Kind::Exists, "the output exists")
                .at(path)
                .help("remove it, or give --overwrite"));
        }
        let file = BufWriter::new(NewFile::beside(path)?);
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

    /// Makes what was written last, then gives it its name.
    pub(crate) fn finish(self) -> Result<()> {
        let PackedFile { path, packer } = self;
        let file = match packer {
            Packer::Plain(file) => file,
            Packer::Gzip(file) => file.finish().at(&path)?,
            Packer::Zstd(file) => file.finish().at(&path)?,
        };
        file.into_inner().map_err(|error| Error::io(&path, error.error()))?.publish()
    }
}
