//! Reads the inputs, or one process's share of them, in portions.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use memchr::memchr_iter;
use serde::{Deserialize, Serialize};

use super::contents::FileContents;
use super::csv::CsvCutter;
use super::fields::ReadOptions;
use super::format::Format;
use super::in_order::{Claimed, InOrder, is_read_in_order};
use super::inputs::{Input, Inputs};
use super::layout::LineCutter;
#[cfg(feature = "parquet")]
use super::parquet::ParquetCutter;
use super::reason::{BROKEN_OFF, Reason, too_long};
use super::records::{Cutter, Portion, Records};
use super::share::Share;
use super::source::{Damage, End, Source};
use super::warc::WarcCutter;
use super::whole_files::WholeFile;
use crate::error::Result;

const PORTION_FILES: usize = 1024;

/// The lines of a file of text from which on each may be a page.
const MANY_LINES: u64 = 200;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilesRead {
    /// What could not be read of files and was accepted. Each file is reported by one process.
    pub damaged: Vec<Damage>,
    /// The first file of text with so many lines that each may be a page of its own, and how many these are.
    pub many_lines: Option<(u32, u64)>,
    /// What the files hold that were read, but for streams. A file that is divided among processes is read by all of them.
    pub contents: Vec<FileContents>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct FileRead {
    pub contents: FileContents,
    /// Its state when it was found ([`Input::state_at_rest`]).
    pub state: u128,
    pub damage: Option<Damage>,
    lines: u64,
    /// The numbers of its portions ([`Records::sequence`]). Of files that came in one portion, the first has it.
    pub portions: Range<u64>,
}

pub trait Deliver {
    fn records(&mut self, records: Records) -> bool;

    /// Takes note that a file was read to its end, all of whose portions came before, or several that are one portion.
    fn end(&mut self, _read: &[FileRead]) -> Result<()> {
        Ok(())
    }

    /// Takes a file that is not read, because it is [known](Share::without) what it holds. Returns what is known.
    fn done(&mut self, _file: u32) -> Option<FileRead> {
        None
    }
}

impl<F: FnMut(Records) -> bool> Deliver for F {
    fn records(&mut self, records: Records) -> bool {
        self(records)
    }
}

/// Reads the `share` and delivers it portion by portion, in order, until `deliver` returns false.
/// `progress` grows by the bytes read on disk, up to [`Inputs::bytes`], which several processes may read.
pub fn read(
    inputs: &Inputs,
    share: &Share,
    options: &ReadOptions,
    progress: &AtomicU64,
    deliver: &mut dyn FnMut(Records) -> bool,
) -> Result<FilesRead> {
    read_to(inputs, share, options, progress, &mut { deliver })
}

pub fn read_to(
    inputs: &Inputs,
    share: &Share,
    options: &ReadOptions,
    progress: &AtomicU64,
    deliver: &mut dyn Deliver,
) -> Result<FilesRead> {
    options.fields.check()?;
    let Some(share) = share.of(inputs) else { return Ok(FilesRead::default()) };
    let outbox = Outbox { deliver, next: 0, stopped: false, place: None };
    let mut reader = Reader {
        inputs,
        files: InOrder::of(inputs, options.ahead_bytes),
        claimed: Claimed::of(inputs),
        share,
        options,
        progress,
        outbox,
        pages: Vec::new(),
        pages_bytes: 0,
        pages_read: Vec::new(),
        files_read: FilesRead::default(),
    };
    reader.announce();
    for (file, input) in (0..).zip(inputs.files()) {
        reader.file(file, input)?;
        if reader.outbox.stopped {
            return Ok(reader.files_read);
        }
    }
    reader.send_pages()?;
    Ok(reader.files_read)
}

struct Reader<'a> {
    inputs: &'a Inputs,
    files: InOrder<'a>,
    claimed: Claimed<'a>,
    share: Share,
    options: &'a ReadOptions,
    progress: &'a AtomicU64,
    outbox: Outbox<'a>,
    pages: Vec<WholeFile>,
    pages_bytes: usize,
    pages_read: Vec<FileRead>,
    files_read: FilesRead,
}

struct Outbox<'a> {
    deliver: &'a mut dyn Deliver,
    next: u64,
    stopped: bool,
    /// The name of the file that is read, if records may get their places as ids.
    place: Option<Arc<str>>,
}

impl Outbox<'_> {
    fn send(&mut self, portion: Box<dyn Portion>) {
        if !self.stopped {
            let place = self.place.clone();
            self.stopped = !self.deliver.records(Records { sequence: self.next, portion, place });
            self.next += 1;
        }
    }
}

impl<'a> Reader<'a> {
    fn announce(&self) {
        let is_read = |input: &Input| {
            self.share.splits(self.inputs, input) && is_read_in_order(input.format())
        };
        let files = (0..).zip(self.inputs.files()).filter(|(_, input)| is_read(input));
        self.files.announce(files.map(|(file, _)| file));
    }

    fn file(&mut self, file: u32, input: &'a Input) -> Result<()> {
        if self.share.splits(self.inputs, input) {
            return self.records(file, input, true);
        }
        if !self.claimed.has(file, &self.share, &self.files)? {
            return Ok(());
        }
        if self.share.is_done(file) {
            self.progress.fetch_add(input.origin().bytes(), Ordering::Relaxed);
            let done = self.outbox.deliver.done(file);
            self.outbox.stopped = done.is_none();
            if let Some(FileRead { contents, damage, lines, .. }) = done {
                self.files_read.contents.push(contents);
                self.files_read.damaged.extend(damage);
                self.note_lines(file, lines);
            }
            return Ok(());
        }
        match input.format().is_whole_file() {
            true => self.page(file, input),
            false => self.records(file, input, false),
        }
    }

    fn open(&self, file: u32, input: &'a Input) -> Result<Source<'a>> {
        let opened = self.files.open(file)?;
        let source = Source::of(opened, input, self.options, self.progress)?;
        Ok(match input.format() {
            Format::Warc => source.joined(),
            Format::Html => source,
            Format::Json => source.in_utf8(self.options.fields.encoding).in_lines(),
            _ => source.in_utf8(self.options.fields.encoding),
        })
    }

    fn cutter(&self, file: u32, input: &'a Input) -> Result<Box<dyn Cutter + 'a>> {
        let source = || self.open(file, input);
        Ok(match input.format() {
            #[cfg(feature = "parquet")]
            Format::Parquet => {
                let (options, progress) = (self.options, self.progress);
                Box::new(ParquetCutter::new(file, input, options, progress)?)
            }
            Format::Csv => Box::new(CsvCutter::new(file, input, source()?, self.options)?),
            Format::Warc => Box::new(WarcCutter::new(file, source()?, self.options)),
            _ => Box::new(LineCutter::new(file, input, source()?, self.options)?),
        })
    }

    fn begin(&mut self, file: u32, input: &'a Input) -> Result<Box<dyn Cutter + 'a>> {
        self.send_pages()?;
        let has_places = self.options.fields.place_ids.fill() || input.format() == Format::Lines;
        self.outbox.place = has_places.then(|| input.name_in_ids().into());
        self.cutter(file, input)
    }

    /// Sends the portions of a file: all, or of a file that is divided those that this reader claims. Who has the first one counts what is counted once.
    fn records(&mut self, file: u32, input: &'a Input, is_divided: bool) -> Result<()> {
        let mut cutter = self.begin(file, input)?;
        let sent = self.outbox.next;
        let first = if is_divided { self.share.portion(file)? } else { 0 };
        let mut claimed = first;
        let mut number = 0;
        while let Some(portion) = cutter.next()? {
            if number == claimed {
                self.outbox.send(portion);
                claimed = if is_divided { self.share.portion(file)? } else { number + 1 };
            }
            if self.outbox.stopped {
                return Ok(());
            }
            number += 1;
        }
        let damage = cutter.damage().filter(|_| first == 0);
        let contents = cutter.source().and_then(Source::contents);
        match self.end(file, input, damage, contents)? {
            Some(read) if !is_divided => {
                let portions = sent..self.outbox.next;
                self.outbox.deliver.end(&[FileRead { portions, ..read }])
            }
            _ => Ok(()),
        }
    }

    /// Takes note of a file that was read to its end. One whose digest is not known is read again for it. Returns what is known of it
    /// from now on, if it was at rest.
    fn end(
        &mut self,
        file: u32,
        input: &Input,
        damage: Option<Damage>,
        digest: Option<u128>,
    ) -> Result<Option<FileRead>> {
        let damage = damage.map(|damage| Damage { file, ..damage });
        self.files_read.damaged.extend(damage);
        if input.is_stream() {
            return Ok(None);
        }
        let digest = digest.map_or_else(|| input.contents(), Ok)?;
        let contents = FileContents { file, digest };
        self.files_read.contents.push(contents);
        let read = |state| FileRead { contents, state, damage, lines: 0, portions: 0..0 };
        Ok(input.state_at_rest().map(read))
    }

    fn page(&mut self, file: u32, input: &'a Input) -> Result<()> {
        let mut source = self.open(file, input)?;
        let page = self.whole_file(input, &mut source)?;
        let read = self.end(file, input, source.damage(), source.contents())?;
        self.pages_bytes += page.as_ref().map_or(0, |(_, bytes)| bytes.len());
        let is_html = input.format() == Format::Html;
        let lines = match &page {
            Ok((_, bytes)) if !is_html => memchr_iter(b'\n', bytes).count() as u64,
            _ => 0,
        };
        self.note_lines(file, lines);
        self.pages_read.extend(read.map(|read| FileRead { lines, ..read }));
        self.pages.push(WholeFile { file, is_html, page });
        if self.pages_bytes >= self.options.portion_bytes || self.pages.len() >= PORTION_FILES {
            self.send_pages()?;
        }
        Ok(())
    }

    fn note_lines(&mut self, file: u32, lines: u64) {
        if lines >= MANY_LINES {
            self.files_read.many_lines.get_or_insert((file, lines));
        }
    }

    fn whole_file(
        &self,
        input: &Input,
        source: &mut Source<'_>,
    ) -> Result<Result<(String, Vec<u8>), Reason>> {
        let Some(id) = input.name().to_str() else {
            return Ok(Err("the path is not UTF-8".into()));
        };
        let max_bytes = self.options.max_record_bytes;
        let mut bytes = Vec::new();
        let end = source.fill(&mut bytes, max_bytes.saturating_add(1))?;
        if end == Some(End::Cut) {
            source.pass_over()?;
        }
        Ok(match end {
            _ if bytes.len() > max_bytes => Err(too_long(max_bytes)),
            Some(End::Cut) => Err(BROKEN_OFF.into()),
            _ => Ok((id.to_owned(), bytes)),
        })
    }

    /// Sends the files that are one page each, and the ends of them all if they were at rest.
    fn send_pages(&mut self) -> Result<()> {
        self.pages_bytes = 0;
        let pages = std::mem::take(&mut self.pages);
        let mut read = std::mem::take(&mut self.pages_read);
        if pages.is_empty() {
            return Ok(());
        }
        let (first, count) = (self.outbox.next, pages.len());
        self.outbox.send(Box::new(pages));
        if self.outbox.stopped || read.len() < count {
            return Ok(());
        }
        read[0].portions = first..self.outbox.next;
        self.outbox.deliver.end(&read)
    }
}
