//! A file of lines that appears complete, compressed as its name says (`.gz`, `.zst`, `.bz2`, `.xz`) or as it is asked for.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Stdout, Write};
use std::path::{Path, PathBuf};

use bzip2::read::MultiBzDecoder;
use bzip2::write::BzEncoder;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use lzma_rust2::{XzOptions, XzReader, XzWriter};

use super::{Lock, NewFile, foreign, parent_of};
use crate::error::{At, Error, Kind, Result};
use crate::progress::{self, Activity};

pub const STDOUT: &str = "-";

const XZ_PRESET: u32 = 6;

/// Lines on their way to a file or to standard output. If a file is dropped before
/// [`PackedFile::finish`], nothing remains.
pub struct PackedFile {
    path: PathBuf,
    packer: Packer,
    content: Option<ContentKind>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PackedUnit {
    File,
    /// Each record, as in a web archive, so that readers can go to any of them.
    Record,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    Gzip,
    Zstd,
    Bzip2,
    Xz,
}

impl Packing {
    pub const ALL: [(Packing, &str); 4] = [
        (Packing::Gzip, "gz"),
        (Packing::Zstd, "zst"),
        (Packing::Bzip2, "bz2"),
        (Packing::Xz, "xz"),
    ];

    /// The one that a name says, in capital or small letters.
    pub fn named(path: &Path) -> Option<Packing> {
        let extension = path.extension()?;
        let named = Packing::ALL.into_iter().find(|(_, it)| extension.eq_ignore_ascii_case(it));
        named.map(|(packing, _)| packing)
    }
}

enum Packer {
    Plain(BufWriter<Target>),
    Gzip(GzEncoder<BufWriter<Target>>),
    Zstd(zstd::Encoder<'static, BufWriter<Target>>),
    Bzip2(BzEncoder<BufWriter<Target>>),
    Xz(Box<XzWriter<BufWriter<Target>>>),
    GzipMembers(BufWriter<Target>),
    ZstdFrames(BufWriter<Target>),
}

enum Target {
    File(NewFile),
    /// A file of a folder under construction, which is synced and appears with all its files.
    Staged(File),
    Stdout(Stdout),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ContentKind {
    Objects,
    Columns,
    Html,
    Parquet,
    Other,
}

impl PackedFile {
    pub fn create(path: &Path) -> Result<PackedFile> {
        PackedFile::create_by(PackedUnit::File, path)
    }

    pub fn create_by(unit: PackedUnit, path: &Path) -> Result<PackedFile> {
        if path == Path::new(STDOUT) {
            let named = Path::new("stdout");
            return PackedFile::of(Target::Stdout(io::stdout()), named, unit, None);
        }
        let folder = parent_of(path);
        fs::create_dir_all(folder).at(folder)?;
        PackedFile::of(Target::File(NewFile::beside(path)?), path, unit, Packing::named(path))
    }

    /// A file in the folder of a [`Staging`](super::Staging), packed so whatever its name is.
    /// [`Staging::commit_all`](super::Staging::commit_all) brings it to the disk.
    pub fn staged(unit: PackedUnit, packing: Option<Packing>, path: &Path) -> Result<PackedFile> {
        let folder = parent_of(path);
        fs::create_dir_all(folder).at(folder)?;
        PackedFile::of(Target::Staged(File::create_new(path).at(path)?), path, unit, packing)
    }

    pub fn locked(unit: PackedUnit, path: &Path, lock: &Lock) -> Result<PackedFile> {
        let mut file = NewFile::beside(path)?;
        file.fenced(lock.fence());
        PackedFile::of(Target::File(file), path, unit, Packing::named(path))
    }

    fn of(
        target: Target,
        path: &Path,
        unit: PackedUnit,
        packing: Option<Packing>,
    ) -> Result<PackedFile> {
        let file = BufWriter::new(target);
        let packer = match (packing, unit) {
            (None, _) => Packer::Plain(file),
            (Some(Packing::Gzip), PackedUnit::Record) => Packer::GzipMembers(file),
            (Some(Packing::Zstd), PackedUnit::Record) => Packer::ZstdFrames(file),
            (Some(Packing::Gzip), PackedUnit::File) => {
                Packer::Gzip(GzEncoder::new(file, flate2::Compression::default()))
            }
            (Some(Packing::Zstd), PackedUnit::File) => {
                Packer::Zstd(zstd::Encoder::new(file, 0).at(path)?)
            }
            (Some(Packing::Bzip2), _) => {
                Packer::Bzip2(BzEncoder::new(file, bzip2::Compression::best()))
            }
            (Some(Packing::Xz), _) => {
                let options = XzOptions::with_preset(XZ_PRESET);
                Packer::Xz(Box::new(XzWriter::new(file, options).at(path)?))
            }
        };
        Ok(PackedFile { path: path.to_owned(), packer, content: None })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn line(&mut self, line: &[u8]) -> Result<()> {
        self.record(&[line, b"\n"].concat())
    }

    pub fn record(&mut self, record: &[u8]) -> Result<()> {
        self.content.get_or_insert_with(|| ContentKind::of(record));
        self.pack(record).at(&self.path)
    }

    fn pack(&mut self, record: &[u8]) -> io::Result<()> {
        match &mut self.packer {
            Packer::Plain(file) => file.write_all(record),
            Packer::Gzip(file) => file.write_all(record),
            Packer::Zstd(file) => file.write_all(record),
            Packer::Bzip2(file) => file.write_all(record),
            Packer::Xz(file) => file.write_all(record),
            Packer::GzipMembers(file) => {
                let mut member = GzEncoder::new(file, flate2::Compression::default());
                member.write_all(record).and_then(|()| member.finish().map(drop))
            }
            Packer::ZstdFrames(file) => {
                zstd::bulk::compress(record, 0).and_then(|frame| file.write_all(&frame))
            }
        }
    }

    /// Moves the file to its place. Returns whether a file with the same contents was there already.
    pub fn finish(mut self, overwrite: bool) -> Result<bool> {
        if self.content.is_none() {
            // No bytes at all are no compressed file; a member or frame of nothing is one.
            self.pack(&[]).at(&self.path)?;
        }
        let PackedFile { path, packer, content } = self;
        let file = match packer {
            Packer::Plain(file) | Packer::GzipMembers(file) | Packer::ZstdFrames(file) => file,
            Packer::Gzip(file) => file.finish().at(&path)?,
            Packer::Zstd(file) => file.finish().at(&path)?,
            Packer::Bzip2(file) => file.finish().at(&path)?,
            Packer::Xz(file) => file.finish().at(&path)?,
        };
        let target = file.into_inner().map_err(|error| Error::io(&path, error.error()))?;
        let file = match target {
            Target::File(file) => file,
            Target::Staged(_) => return Ok(false),
            Target::Stdout(mut stdout) => return stdout.flush().at("stdout").map(|()| false),
        };
        if path.exists() {
            if !has_content(&path, content)? {
                return Err(foreign(&path, "a file with the same kind of content"));
            }
            let mut standing = File::open(&path).at(&path)?;
            if are_equal(&mut file.written().at(&path)?, &mut standing).at(&path)? {
                return Ok(true);
            }
            if !overwrite {
                return Err(Error::new(Kind::Exists, "the output exists with other contents")
                    .at(&path)
                    .help("choose another output, or replace this one")
                    .setting("overwrite"));
            }
        }
        file.publish().map(|()| false)
    }
}

impl Write for PackedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.content.get_or_insert_with(|| ContentKind::of(bytes));
        self.pack(bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Target::File(file) => file.write(bytes),
            Target::Staged(file) => {
                progress::tick(Activity::Writing);
                file.write(bytes)
            }
            Target::Stdout(stdout) => stdout.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Target::File(file) => file.flush(),
            Target::Staged(file) => file.flush(),
            Target::Stdout(stdout) => stdout.flush(),
        }
    }
}

impl ContentKind {
    fn of(line: &[u8]) -> ContentKind {
        match line {
            [b'{', ..] => ContentKind::Objects,
            _ if line.starts_with(b"PAR1") => ContentKind::Parquet,
            _ if line.starts_with(b"<!doctype html>") => ContentKind::Html,
            _ if line.contains(&b'\t') => ContentKind::Columns,
            _ => ContentKind::Other,
        }
    }
}

/// Whether `path` is a file with this kind of content, so that it can be an earlier output. An empty file
/// can be of any kind.
fn has_content(path: &Path, content: Option<ContentKind>) -> Result<bool> {
    if !path.is_file() {
        return Ok(false);
    }
    let file = File::open(path).at(path)?;
    let unpacked: Box<dyn Read> = match Packing::named(path) {
        Some(Packing::Gzip) => Box::new(MultiGzDecoder::new(file)),
        Some(Packing::Zstd) => Box::new(zstd::Decoder::new(file).at(path)?),
        Some(Packing::Bzip2) => Box::new(MultiBzDecoder::new(file)),
        Some(Packing::Xz) => Box::new(XzReader::new(file, true)),
        None => Box::new(file),
    };
    let mut line = Vec::new();
    // A file that cannot be decompressed was not written by this program.
    let read = BufReader::new(unpacked.take(FIRST_LINE_BYTES)).read_until(b'\n', &mut line);
    let found = ContentKind::of(&line);
    Ok(read.is_ok() && (line.is_empty() || content.is_none_or(|content| content == found)))
}

const FIRST_LINE_BYTES: u64 = 64 << 10;

fn are_equal(one: &mut File, other: &mut File) -> io::Result<bool> {
    if one.metadata()?.len() != other.metadata()?.len() {
        return Ok(false);
    }
    let [mut left, mut right] = [one, other].map(BufReader::new);
    loop {
        let a = left.fill_buf()?;
        let b = right.fill_buf()?;
        let common = a.len().min(b.len());
        if common == 0 || a[..common] != b[..common] {
            return Ok(a.is_empty() && b.is_empty());
        }
        left.consume(common);
        right.consume(common);
    }
}
