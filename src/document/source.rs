//! One input file, decompressed. Its first bytes tell whether it is plain, gzip or zstd.

use std::cell::RefCell;
use std::io::{self, BufRead, BufReader, Chain, Cursor, ErrorKind, Read};
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::GzDecoder;
use xxhash_rust::xxh3::Xxh3;

use self::frames::Frames;
pub(super) use self::frames::decoder as zstd_decoder;
use super::encoding::{Decoded, TextEncoding};
use super::inputs::Input;
use crate::error::{At, Error, Kind, Result};
use crate::output;
use crate::progress::{self, Activity};

mod frames;

/// How many bytes of a file are read at once.
const READ_BYTES: usize = 1 << 17;

/// The decompressed bytes of one file.
pub(super) struct Source<'a> {
    path: &'a Path,
    reader: Box<dyn Read + 'a>,
    packed: bool,
    accept_truncated: bool,
    taken: Rc<RefCell<Taken>>,
    end: Option<End>,
}

/// The bytes on disk that were consumed.
#[derive(Default)]
struct Taken {
    bytes: u64,
    hasher: Xxh3,
}

/// How a source came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// All of it was read.
    Whole,
    /// Compressed data ended too early or was damaged here.
    Cut,
}

impl<'a> Source<'a> {
    /// Reads a file that is open; `progress` grows by the bytes read of it on disk.
    ///
    /// Compressed data that ends too early or is damaged is [`Kind::BadData`], or an [`End::Cut`] with
    /// `accept_truncated`.
    pub(super) fn of(
        file: Box<dyn Read>,
        input: &'a Input,
        accept_truncated: bool,
        progress: &'a AtomicU64,
    ) -> Result<Source<'a>> {
        let path = input.path();
        let (file, packing) = begin(file, path, READ_BYTES)?;
        let taken = Rc::new(RefCell::default());
        let reader = packing.unpack(Packed { file, taken: Rc::clone(&taken), progress });
        let packed = packing != Packing::Plain;
        Ok(Source { path, reader, packed, accept_truncated, taken, end: None })
    }

    /// The same text in UTF-8: a byte order mark tells its encoding, or else it is the one that is named.
    pub(super) fn in_utf8(self, named: Option<TextEncoding>) -> Source<'a> {
        Source { reader: Box::new(Decoded::new(self.reader, named)), ..self }
    }

    /// Reads until `buffer` has `len` bytes. Returns how the source ended, once it has.
    pub(super) fn fill(&mut self, buffer: &mut Vec<u8>, len: usize) -> Result<Option<End>> {
        let room = len.saturating_sub(buffer.len());
        if self.end.is_none() && room > 0 {
            self.end = match self.reader.by_ref().take(room as u64).read_to_end(buffer) {
                Ok(read) => (read < room).then_some(End::Whole),
                Err(cause) => Some(self.cut(&cause)?),
            };
        }
        Ok(self.end)
    }

    /// How the source ended, once it has.
    pub(super) fn end(&self) -> Option<End> {
        self.end
    }

    /// XXH3-128 of the bytes on disk, once all of them were read.
    pub(super) fn contents(&self) -> Option<u128> {
        (self.end == Some(End::Whole)).then(|| self.taken.borrow().hasher.digest128())
    }

    /// Distinguishes a failing disk from compressed data that is not complete.
    fn cut(&self, cause: &io::Error) -> Result<End> {
        if !self.packed || is_failure(cause) {
            return Err(Error::io(self.path, cause));
        }
        if self.accept_truncated {
            return Ok(End::Cut);
        }
        let what = match cause.kind() {
            ErrorKind::UnexpectedEof => "the compressed data ends too early",
            _ => "the compressed data is damaged",
        };
        Err(Error::new(Kind::BadData, what)
            .at(self.path)
            .offset(self.taken.borrow().bytes)
            .found(cause)
            .help("fetch the file again, or accept what can be read of it")
            .setting("accept-truncated"))
    }
}

/// Whether a disk or an object store failed, and not what unpacks.
fn is_failure(cause: &io::Error) -> bool {
    cause.raw_os_error().is_some() || Error::within(cause).is_some()
}

/// The most bytes that [`head`] returns.
const HEAD_BYTES: u64 = 512;

/// The first bytes of the file at `path`, decompressed; fewer if the compressed data ends too early.
pub(super) fn head(file: impl Read + 'static, path: &Path) -> Result<Vec<u8>> {
    let (file, packing) = begin(file, path, 2 * HEAD_BYTES as usize)?;
    let taken = Rc::default();
    let progress = AtomicU64::new(0);
    let mut head = Vec::new();
    let unpacked = packing.unpack(Packed { file, taken, progress: &progress });
    let read = unpacked.take(HEAD_BYTES).read_to_end(&mut head);
    // Damage is reported when the file is read.
    match read.err().filter(is_failure) {
        Some(cause) => Err(Error::io(path, &cause)),
        None => Ok(head),
    }
}

/// Looks at the first bytes of a file to find out how it is compressed.
fn begin(
    file: impl Read + 'static,
    path: &Path,
    buffer_bytes: usize,
) -> Result<(BufReader<OnDisk>, Packing)> {
    let mut file: Box<dyn Read> = Box::new(file);
    let mut head = Vec::with_capacity(4);
    file.by_ref().take(4).read_to_end(&mut head).at(path)?;
    let packing = Packing::of(&head, path);
    Ok((BufReader::with_capacity(buffer_bytes, Cursor::new(head).chain(file)), packing))
}

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packing {
    Plain,
    Gzip,
    Zstd,
    /// By its name a compressed file, but it ends before its first bytes show that.
    Nothing,
}

/// How a file is packed: by its first bytes, or by its name if it ends before these show that.
///
/// # Errors
/// Reading may fail.
pub fn packing(input: &Input) -> Result<output::Packing> {
    let path = input.path();
    Ok(match begin(input.open()?, path, 0)?.1 {
        Packing::Plain => output::Packing::Plain,
        Packing::Gzip => output::Packing::Gzip,
        Packing::Zstd => output::Packing::Zstd,
        Packing::Nothing => output::Packing::named(path),
    })
}

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

impl Packing {
    /// Determines the compression from the first four bytes. The name matters only if there are fewer.
    fn of(head: &[u8], path: &Path) -> Packing {
        let skippable = matches!(head, [0x50..=0x5f, 0x2a, 0x4d, 0x18]);
        let named = |extension| path.extension().is_some_and(|e| e.eq_ignore_ascii_case(extension));
        match head {
            _ if head.starts_with(GZIP) => Packing::Gzip,
            _ if head.starts_with(ZSTD) || skippable => Packing::Zstd,
            _ if named("gz") && GZIP.starts_with(head) => Packing::Nothing,
            _ if named("zst") && ZSTD.starts_with(head) => Packing::Nothing,
            _ => Packing::Plain,
        }
    }

    fn unpack<'a>(self, packed: Packed<'a>) -> Box<dyn Read + 'a> {
        match self {
            Packing::Plain => Box::new(packed),
            Packing::Gzip => Box::new(Members(Some(GzDecoder::new(packed)))),
            Packing::Zstd => Box::new(Frames::new(packed)),
            Packing::Nothing => Box::new(BrokenOff),
        }
    }
}

/// A compressed file that ends within its first four bytes.
struct BrokenOff;

impl Read for BrokenOff {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(ErrorKind::UnexpectedEof.into())
    }
}

/// A file whose first bytes were looked at.
type OnDisk = Chain<Cursor<Vec<u8>>, Box<dyn Read>>;

/// The bytes on disk, counted as they are consumed.
struct Packed<'a> {
    file: BufReader<OnDisk>,
    taken: Rc<RefCell<Taken>>,
    progress: &'a AtomicU64,
}

impl BufRead for Packed<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.file.fill_buf()
    }

    fn consume(&mut self, bytes: usize) {
        let mut taken = self.taken.borrow_mut();
        taken.hasher.update(&self.file.buffer()[..bytes]);
        taken.bytes += bytes as u64;
        drop(taken);
        self.file.consume(bytes);
        self.progress.fetch_add(bytes as u64, Ordering::Relaxed);
        progress::tick(Activity::Reading);
    }
}

impl Read for Packed<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(into)?;
        self.consume(read);
        Ok(read)
    }
}

/// The members of a gzip file, one after another. Zeros may follow the last.
struct Members<'a>(Option<GzDecoder<Packed<'a>>>);

impl Read for Members<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.0 {
            let read = member.read(into)?;
            if read > 0 || into.is_empty() {
                return Ok(read);
            }
            self.0 = self.0.take().map_or(Ok(None), |member| next_member(member.into_inner()))?;
        }
        Ok(0)
    }
}

/// The next member; `None` at the end of the file.
fn next_member(mut packed: Packed<'_>) -> io::Result<Option<GzDecoder<Packed<'_>>>> {
    match packed.fill_buf()?.first() {
        None => Ok(None),
        Some(0) => check_padding(&mut packed).map(|()| None),
        Some(_) => Ok(Some(GzDecoder::new(packed))),
    }
}

fn check_padding(packed: &mut Packed<'_>) -> io::Result<()> {
    loop {
        let bytes = packed.fill_buf()?;
        if bytes.iter().any(|&byte| byte != 0) {
            return Err(io::Error::new(ErrorKind::InvalidData, "other data after the last member"));
        }
        match bytes.len() {
            0 => return Ok(()),
            read => packed.consume(read),
        }
    }
}

#[cfg(test)]
mod tests;
