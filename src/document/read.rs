//! Reads the inputs, or one process's share of them, in portions.

use std::sync::atomic::AtomicU64;

use super::fields::Fields;
use super::format::Format;
use super::inputs::{Input, Inputs};
use super::lines::{BROKEN_OFF, Lines, TOO_LONG};
use super::reason::Reason;
use super::record::Position;
use super::records::{Body, Layout, Records, Text};
use super::share::Share;
use super::source::{End, Source};
use crate::error::Result;

/// The most text files in one portion.
const PORTION_FILES: usize = 1024;

/// How the inputs are read.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// The fields to read.
    pub fields: Fields,
    /// About how many bytes one portion has.
    pub portion_bytes: usize,
    /// The most bytes of one line or text file after decompression; a longer one is quarantined.
    pub max_record_bytes: usize,
    /// Accept compressed files that end too early or are damaged, as far as they can be read.
    pub accept_truncated: bool,
}

impl Default for ReadOptions {
    fn default() -> ReadOptions {
        ReadOptions {
            fields: Fields::default(),
            portion_bytes: 1 << 20,
            max_record_bytes: 64 << 20,
            accept_truncated: false,
        }
    }
}

/// What reading found apart from records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilesRead {
    /// The indices of the files whose compressed data ended too early. Each is reported by one process.
    pub truncated: Vec<u32>,
    /// The sum of the digests of the files that were read; see
    /// [`Contents::of_share`](super::Contents::of_share).
    pub contents: u128,
}

/// Reads the share and delivers it portion by portion, in order, until `deliver` returns false.
/// `progress` grows by the bytes read on disk, up to [`Inputs::bytes`]; several processes may read the
/// same bytes.
///
/// # Errors
/// A file that cannot be read, compressed data that ends too early, and a TSV file without the columns
/// of the fields. What is wrong with a single record is no error here: [`Records::parse`] reports it.
pub fn read(
    inputs: &Inputs,
    share: Share,
    options: &ReadOptions,
    progress: &AtomicU64,
    deliver: &mut dyn FnMut(Records) -> bool,
) -> Result<FilesRead> {
    assert!(share.index < share.of, "process {} of {}", share.index, share.of);
    options.fields.check()?;
    let outbox = Outbox { deliver, next: 0, stopped: false };
    let mut reader = Reader {
        inputs,
        share,
        options,
        progress,
        outbox,
        texts: Vec::new(),
        texts_bytes: 0,
        files_read: FilesRead::default(),
    };
    for (file, input) in (0..).zip(inputs.files()) {
        reader.file(file, input)?;
        if reader.outbox.stopped {
            return Ok(reader.files_read);
        }
    }
    reader.send_texts();
    Ok(reader.files_read)
}

struct Reader<'a> {
    inputs: &'a Inputs,
    share: Share,
    options: &'a ReadOptions,
    progress: &'a AtomicU64,
    outbox: Outbox<'a>,
    /// Text files for the next portion.
    texts: Vec<Text>,
    texts_bytes: usize,
    files_read: FilesRead,
}

struct Outbox<'a> {
    deliver: &'a mut dyn FnMut(Records) -> bool,
    next: u64,
    stopped: bool,
}

impl Outbox<'_> {
    fn send(&mut self, body: Body) {
        if !self.stopped {
            self.stopped = !(self.deliver)(Records { sequence: self.next, body });
            self.next += 1;
        }
    }
}

impl<'a> Reader<'a> {
    fn file(&mut self, file: u32, input: &'a Input) -> Result<()> {
        let owned = self.share.owns(file, input);
        match input.format() {
            Format::Text if owned => self.text(file, input),
            Format::Text => Ok(()),
            _ => {
                let split = self.share.splits(self.inputs, input);
                if owned || split { self.lines(file, input, owned, split) } else { Ok(()) }
            }
        }
    }

    fn open(&self, input: &'a Input) -> Result<Source<'a>> {
        Source::open(input, self.options.accept_truncated, self.progress)
    }

    /// Sends a file of lines; of a file that is `split` among the processes only the portions of this share.
    fn lines(&mut self, file: u32, input: &'a Input, owned: bool, split: bool) -> Result<()> {
        self.send_texts();
        let options = self.options;
        let source = self.open(input)?;
        let mut lines = Lines::new(source, options.portion_bytes, options.max_record_bytes)?;
        let mut layout = None;
        let mut number = 0;
        while let Some(piece) = lines.next()? {
            let position = Position { file, line: piece.first_line };
            let body = body(position, piece.lines, &mut layout, input, &self.options.fields)?;
            if !split || self.share.holds(file, number) {
                self.outbox.send(body);
            }
            if self.outbox.stopped {
                return Ok(());
            }
            number += 1;
        }
        if owned && lines.is_cut() {
            self.files_read.truncated.push(file);
        }
        self.add_contents(file, input, lines.contents())
    }

    /// Adds the digest of a file to the sum. A file that was not read to its end is read again for it.
    fn add_contents(&mut self, file: u32, input: &Input, contents: Option<u128>) -> Result<()> {
        let contents = match contents {
            _ if input.is_stream() => return Ok(()),
            Some(contents) => contents,
            None => input.contents()?,
        };
        let mark = self.inputs.mark(file, contents);
        self.files_read.contents = self.files_read.contents.wrapping_add(mark);
        Ok(())
    }

    /// Adds a file that is one document to the next portion.
    fn text(&mut self, file: u32, input: &'a Input) -> Result<()> {
        let page = self.page(file, input)?;
        self.texts_bytes += page.as_ref().map_or(0, |(_, bytes)| bytes.len());
        self.texts.push(Text { file, page });
        if self.texts_bytes >= self.options.portion_bytes || self.texts.len() >= PORTION_FILES {
            self.send_texts();
        }
        Ok(())
    }

    /// The id and the bytes of a file that is one document.
    fn page(&mut self, file: u32, input: &'a Input) -> Result<Result<(String, Vec<u8>), Reason>> {
        let Some(id) = input.name().to_str() else {
            self.add_contents(file, input, None)?;
            return Ok(Err("the path is not UTF-8".into()));
        };
        let max_bytes = self.options.max_record_bytes;
        let mut source = self.open(input)?;
        let mut bytes = Vec::new();
        let end = source.fill(&mut bytes, max_bytes.saturating_add(1))?;
        self.add_contents(file, input, source.contents())?;
        if end == Some(End::Cut) {
            self.files_read.truncated.push(file);
        }
        Ok(match end {
            _ if bytes.len() > max_bytes => Err(TOO_LONG.into()),
            Some(End::Cut) => Err(BROKEN_OFF.into()),
            _ => Ok((id.to_owned(), bytes)),
        })
    }

    fn send_texts(&mut self) {
        self.texts_bytes = 0;
        if !self.texts.is_empty() {
            self.outbox.send(Body::Texts(std::mem::take(&mut self.texts)));
        }
    }
}

/// The portion with one piece of a file of lines. The first piece with lines determines the layout.
fn body(
    position: Position,
    lines: Result<Vec<u8>, Reason>,
    layout: &mut Option<Layout>,
    input: &Input,
    fields: &Fields,
) -> Result<Body> {
    let bytes = match lines {
        Ok(bytes) => bytes,
        Err(reason) => return Ok(Body::Unread(position, reason)),
    };
    let layout = match layout {
        Some(layout) => layout.clone(),
        None => layout.insert(Layout::of(input, position.line, &bytes, fields)?).clone(),
    };
    Ok(Body::Lines { start: position, layout, bytes })
}
