//! One input file, decompressed. Its first bytes tell whether and how it is packed.

use std::cell::RefCell;
use std::io::{self, Cursor, ErrorKind, Read};
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::AtomicU64;

pub(super) use self::codec::GZIP;
use self::codec::{HEAD_BYTES as HEAD_OF_MEMBER, magic, shows};
pub(super) use self::frames::{ZSTD, decoder as zstd_decoder};
use self::members::Members;
pub use self::packed::Damage;
use self::packed::{Known, Packed};
use super::encoding::{Decoded, TextEncoding};
use super::fields::ReadOptions;
use super::inputs::Input;
use super::json_lines::{JsonLines, NOT_CLOSED};
use super::record::MARK;
use crate::error::{At, Error, Kind, Result};
use crate::output::Packing;

mod codec;
mod frames;
mod members;
mod packed;

const READ_BYTES: usize = 1 << 17;

pub(super) struct Source<'a> {
    path: &'a Path,
    bytes: u64,
    reader: Box<dyn Read + 'a>,
    is_packed: bool,
    accept_truncated: bool,
    /// Whether it goes on behind a cut by itself, on a new line.
    is_joined: bool,
    known: Rc<RefCell<Known>>,
    end: Option<End>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Whole,
    /// The packed data is damaged here or ends too early. [`Source::go_on`] goes on behind it.
    Cut,
}

impl<'a> Source<'a> {
    /// Reads a file that is open; `progress` grows by the bytes read of it on disk.
    ///
    /// Packed data that ends too early or is damaged is [`Kind::BadData`], or an [`End::Cut`] if the options accept that.
    pub(super) fn of(
        file: Box<dyn Read>,
        input: &'a Input,
        options: &ReadOptions,
        progress: &'a AtomicU64,
    ) -> Result<Source<'a>> {
        let path = input.path();
        let known = Rc::<RefCell<Known>>::default();
        let (packed, packing) =
            begin(Packed::new(file, READ_BYTES, Rc::clone(&known), progress), path)?;
        let reader = unpack(packed, packing, options.window_bytes).at(path)?;
        let (bytes, is_packed) = (input.origin().bytes(), packing.is_some());
        let accept_truncated = options.accept_truncated;
        Ok(Source { bytes, is_packed, accept_truncated, known, ..Source::over(reader, path) })
    }

    pub(super) fn of_text(text: Vec<u8>, path: &'a Path) -> Source<'a> {
        Source::over(Box::new(Cursor::new(text)), path)
    }

    fn over(reader: Box<dyn Read + 'a>, path: &'a Path) -> Source<'a> {
        Source {
            path,
            bytes: 0,
            reader,
            is_packed: false,
            accept_truncated: false,
            is_joined: false,
            known: Rc::default(),
            end: None,
        }
    }

    pub(super) fn in_utf8(self, named: Option<TextEncoding>) -> Source<'a> {
        Source { reader: Box::new(Decoded::new(self.reader, named)), ..self }
    }

    pub(super) fn in_lines(self) -> Source<'a> {
        Source { reader: Box::new(JsonLines::new(self.reader)), ..self }
    }

    /// The same, going on behind every cut on a new line: for a format whose records are found by how they begin.
    pub(super) fn joined(self) -> Source<'a> {
        Source { is_joined: true, ..self }
    }

    /// Reads until `buffer` has `len` bytes. Returns how the source ended, once it has.
    pub(super) fn fill(&mut self, buffer: &mut Vec<u8>, len: usize) -> Result<Option<End>> {
        while self.end.is_none() && buffer.len() < len {
            let room = len - buffer.len();
            match self.reader.by_ref().take(room as u64).read_to_end(buffer) {
                Ok(read) => self.end = (read < room).then_some(End::Whole),
                Err(cause) => {
                    self.check_cut(&cause)?;
                    match self.is_joined {
                        true => buffer.push(b'\n'),
                        false => self.end = Some(End::Cut),
                    }
                }
            }
        }
        Ok(self.end)
    }

    /// Passes over a byte order mark, and returns how many bytes it has. What else was read is in `buffer`.
    pub(super) fn pass_mark(&mut self, buffer: &mut Vec<u8>) -> Result<u64> {
        self.fill(buffer, MARK.len())?;
        if buffer != MARK {
            return Ok(0);
        }
        buffer.clear();
        Ok(MARK.len() as u64)
    }

    /// Goes on behind a cut, with what can be read again or the end. Returns whether that is the beginning of a line, as far as one
    /// can tell: the members before ended with their lines.
    pub(super) fn go_on(&mut self) -> bool {
        self.end = self.end.filter(|end| *end != End::Cut);
        self.known.borrow().ends_line
    }

    /// Passes over the rest of a line, of which `buffer` has the beginning.
    pub(super) fn pass_line(&mut self, buffer: &mut Vec<u8>, step_bytes: usize) -> Result<()> {
        loop {
            let end = self.fill(buffer, step_bytes)?;
            let line_end = memchr::memchr(b'\n', buffer);
            buffer.drain(..line_end.map_or(buffer.len(), |at| at + 1));
            if line_end.is_some() || end.is_some() {
                return Ok(());
            }
        }
    }

    pub(super) fn pass_over(&mut self) -> Result<()> {
        let mut passed = Vec::new();
        while self.end != Some(End::Whole) {
            self.go_on();
            passed.clear();
            self.fill(&mut passed, READ_BYTES)?;
        }
        Ok(())
    }

    pub(super) fn damage(&self) -> Option<Damage> {
        self.known.borrow().damage
    }

    pub(super) fn position(&self) -> u64 {
        self.known.borrow().position
    }

    pub(super) fn rest(&self) -> u64 {
        self.bytes.saturating_sub(self.position())
    }

    pub(super) fn contents(&self) -> Option<u128> {
        (self.end == Some(End::Whole)).then(|| self.known.borrow().hasher.digest128())
    }

    fn check_cut(&self, cause: &io::Error) -> Result<()> {
        if let Some(error) = Error::within(cause) {
            return Err(error.clone().at(self.path));
        }
        let is_open = cause.to_string() == NOT_CLOSED;
        if !(self.is_packed || is_open) || is_failure(cause) {
            return Err(Error::io(self.path, cause));
        }
        if self.accept_truncated {
            let known = &mut *self.known.borrow_mut();
            if is_open {
                known.damage = Some(Damage::new(known.position, 0));
            }
            return Ok(());
        }
        let what = match cause.kind() {
            _ if is_open => "the file ends within its JSON",
            ErrorKind::UnexpectedEof => "the compressed data ends too early",
            _ => "the compressed data is damaged",
        };
        Err(Error::new(Kind::BadData, what)
            .at(self.path)
            .offset(self.position())
            .found(cause)
            .help("fetch the file again, or accept what can be read of it")
            .setting("accept-truncated"))
    }
}

fn is_failure(cause: &io::Error) -> bool {
    cause.raw_os_error().is_some() || Error::within(cause).is_some()
}

const HEAD_BYTES: u64 = 512;

/// The first bytes of the file at `path`, decompressed; fewer if the compressed data ends too early.
pub(super) fn head(file: impl Read + 'static, path: &Path) -> Result<Vec<u8>> {
    let progress = AtomicU64::new(0);
    let step_bytes = 2 * HEAD_BYTES as usize;
    let packed = Packed::new(Box::new(file), step_bytes, Rc::default(), &progress);
    let (packed, packing) = begin(packed, path)?;
    let mut head = Vec::new();
    let unpacked = unpack(packed, packing, u64::MAX).at(path)?;
    let read = unpacked.take(HEAD_BYTES).read_to_end(&mut head);
    // Damage is reported when the file is read.
    match read.err().filter(is_failure) {
        Some(cause) => Err(Error::io(path, &cause)),
        None => Ok(head),
    }
}

/// Looks at the first bytes of a file to find out how it is packed, if it is. The name matters only if it ends before they tell.
fn begin<'a>(mut packed: Packed<'a>, path: &Path) -> Result<(Packed<'a>, Option<Packing>)> {
    let head = packed.ahead(HEAD_OF_MEMBER).at(path)?;
    let is_skippable = matches!(head, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..]);
    let extension = path.extension().unwrap_or_default();
    let is_of = |(packing, named): &(Packing, &str)| {
        let magic = magic(*packing);
        let ends_within = magic.starts_with(head) || head.starts_with(magic);
        shows(*packing, head)
            || head.len() < HEAD_OF_MEMBER && ends_within && extension.eq_ignore_ascii_case(named)
    };
    let packing = Packing::ALL.into_iter().find(is_of).map(|(packing, _)| packing);
    Ok((packed, packing.or(is_skippable.then_some(Packing::Zstd))))
}

fn unpack<'a>(
    packed: Packed<'a>,
    packing: Option<Packing>,
    window_bytes: u64,
) -> io::Result<Box<dyn Read + 'a>> {
    Ok(match packing {
        None => Box::new(packed),
        Some(packing) => Box::new(Members::new(packed, packing, window_bytes)?),
    })
}

pub fn packing(input: &Input) -> Result<Option<Packing>> {
    let progress = AtomicU64::new(0);
    let packed = Packed::new(input.open()?, HEAD_OF_MEMBER, Rc::default(), &progress);
    Ok(begin(packed, input.path())?.1)
}

#[cfg(test)]
mod tests;
