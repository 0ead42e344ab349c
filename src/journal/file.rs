//! One journal on disk: frames of pages, appended and read back.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use super::header::{FIXED_BYTES, Header, damaged};
use super::page_bytes;
use crate::error::{At, Result};
use crate::output::{Fence, NewFile};
use crate::store::{Day, FingerprintedDocument};

/// The bytes before the body of a frame.
pub(super) const HEAD_BYTES: usize = 24;
/// The most bytes of a body.
pub(super) const MOST_BODY_BYTES: usize = 1 << 30;
/// The pages of a frame of a journal that is written anew.
const PAGES_OF_A_FRAME: usize = 1 << 10;
/// The pages that the head of a seal tells.
const SEAL: u32 = 0;

/// A journal to which pages are appended.
#[derive(Debug)]
pub(super) struct JournalFile {
    path: PathBuf,
    file: File,
    bytes: u64,
}

/// What a journal holds.
#[derive(Debug)]
pub(super) struct Contents {
    pub(super) header: Header,
    pub(super) pages: Vec<FingerprintedDocument>,
    /// The day that its seal names.
    pub(super) sealed: Option<Day>,
    /// Where its last whole frame ends.
    pub(super) end: u64,
    /// The bytes after that, of a frame that was never finished.
    pub(super) torn: u64,
}

impl JournalFile {
    /// Makes the journal at `path`, with these bytes behind its header. It replaces one that is there.
    pub(super) fn create(
        path: &Path,
        header: &Header,
        frames: &[u8],
        fence: &Fence,
    ) -> Result<JournalFile> {
        let mut file = NewFile::beside(path)?;
        file.fenced(fence);
        file.write_all(&header.write()).and_then(|()| file.write_all(frames)).at(path)?;
        file.publish()?;
        JournalFile::append_to(path, fs::metadata(path).at(path)?.len())
    }

    /// Opens the journal at `path`, which ends at byte `end`: what comes after is cut off. What comes before is on
    /// disk then, though the process that wrote it may have died before it waited for the disk.
    pub(super) fn append_to(path: &Path, end: u64) -> Result<JournalFile> {
        let file = File::options().read(true).write(true).open(path).at(path)?;
        if file.metadata().at(path)?.len() > end {
            file.set_len(end).at(path)?;
        }
        file.sync_all().at(path)?;
        Ok(JournalFile { path: path.to_path_buf(), file, bytes: end })
    }

    /// Its bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Appends a frame of so many pages, which are on disk when this returns. After an error, the file is as good
    /// as lost, and is made anew.
    pub(super) fn append(&mut self, pages: u32, body: &[u8]) -> Result<()> {
        let frame = frame(self.bytes, pages, body);
        self.file.write_all_at(&frame, self.bytes).at(&self.path)?;
        self.file.sync_data().at(&self.path)?;
        self.bytes += frame.len() as u64;
        Ok(())
    }

    /// From now on every write fails, as on a broken disk.
    #[cfg(test)]
    pub(super) fn break_down(&mut self) {
        self.file = File::open(&self.path).expect("it is there");
    }

    /// Appends the seal, which says of which day the pages are.
    pub(super) fn seal(&mut self, day: Day) -> Result<()> {
        self.append(SEAL, &day.number().to_le_bytes())
    }
}

/// The frames of all these pages, and the seal of their day if they have one.
pub(super) fn frames(
    header: &Header,
    pages: &[FingerprintedDocument],
    sealed: Option<Day>,
) -> Vec<u8> {
    let first = header.write().len();
    let mut frames = Vec::new();
    let mut add = |pages: u32, body: &[u8]| {
        let frame = frame((first + frames.len()) as u64, pages, body);
        frames.extend(frame);
    };
    for pages in pages.chunks(PAGES_OF_A_FRAME) {
        let mut body = Vec::new();
        pages.iter().for_each(|page| page_bytes::write(page, header, &mut body));
        add(pages.len() as u32, &body);
    }
    if let Some(day) = sealed {
        add(SEAL, &day.number().to_le_bytes());
    }
    frames
}

/// A frame of so many pages at this offset.
fn frame(offset: u64, pages: u32, body: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(HEAD_BYTES + body.len());
    frame.extend((body.len() as u32).to_le_bytes());
    frame.extend(pages.to_le_bytes());
    frame.extend(xxh3_64(body).to_le_bytes());
    frame.extend(checksum(&frame, offset).to_le_bytes());
    frame.extend(body);
    frame
}

/// The checksum of the beginning of a head.
fn checksum(beginning: &[u8], offset: u64) -> u64 {
    xxh3_64(&[beginning, &offset.to_le_bytes()].concat())
}

/// The head of a frame.
struct FrameHead {
    body_bytes: u64,
    pages: u32,
    body_checksum: u64,
}

impl FrameHead {
    /// The head in these bytes, which are at this offset; none if they are none.
    fn read(bytes: &[u8; HEAD_BYTES], offset: u64) -> Option<FrameHead> {
        let (beginning, told) = bytes.split_last_chunk::<8>()?;
        if checksum(beginning, offset) != u64::from_le_bytes(*told) {
            return None;
        }
        let (numbers, body_checksum) = beginning.split_last_chunk::<8>()?;
        let (words, _) = numbers.as_chunks::<4>();
        let [body_bytes, pages] = [words[0], words[1]].map(u32::from_le_bytes);
        let body_checksum = u64::from_le_bytes(*body_checksum);
        Some(FrameHead { body_bytes: body_bytes.into(), pages, body_checksum })
    }
}

/// Reads the journal at `path`. A frame at its end that was never finished is left out.
///
/// # Errors
/// [`Kind::BadData`](crate::Kind::BadData) if anything before that is damaged.
pub(super) fn read(path: &Path) -> Result<Contents> {
    let file = File::open(path).at(path)?;
    let bytes = file.metadata().at(path)?.len();
    let (header, end) = header_of(&file, path)?;
    let contents = Contents { header, pages: Vec::new(), sealed: None, end, torn: 0 };
    Reading { path, file, bytes, contents }.run()
}

/// Reads the header of the journal at `path`, and nothing else.
///
/// # Errors
/// [`Kind::BadData`](crate::Kind::BadData) if it is damaged.
pub(super) fn read_header(path: &Path) -> Result<Header> {
    let file = File::open(path).at(path)?;
    header_of(&file, path).map(|(header, _)| header)
}

/// The header of a journal, and where it ends.
fn header_of(file: &File, path: &Path) -> Result<(Header, u64)> {
    let bytes = file.metadata().at(path)?.len();
    let mut fixed = [0; FIXED_BYTES];
    let end = match file.read_exact_at(&mut fixed, 0) {
        Ok(()) => Header::bytes_of(&fixed, path)? as u64,
        Err(_) => bytes + 1,
    };
    if end > bytes {
        return Err(damaged("the journal ends within its header").at(path).offset(bytes));
    }
    let mut header = vec![0; end as usize];
    file.read_exact_at(&mut header, 0).at(path)?;
    Header::read(&header, path).map(|header| (header, end))
}

/// A journal that is being read.
struct Reading<'a> {
    path: &'a Path,
    file: File,
    bytes: u64,
    contents: Contents,
}

impl Reading<'_> {
    fn run(mut self) -> Result<Contents> {
        while self.contents.end < self.bytes {
            let at = self.contents.end;
            if self.contents.sealed.is_some() {
                return Err(damaged("something stands after the seal").at(self.path).offset(at));
            }
            match self.body()? {
                Some((head, body)) => self.take(&head, &body)?,
                None => break,
            }
        }
        self.contents.torn = self.bytes - self.contents.end;
        Ok(self.contents)
    }

    /// The next frame; none if it was never finished.
    fn body(&self) -> Result<Option<(FrameHead, Vec<u8>)>> {
        let at = self.contents.end;
        let Some(head) = self.head(at)? else {
            return match self.head_after(at)? {
                Some(_) => Err(damaged("the head of a frame is damaged").at(self.path).offset(at)),
                None => Ok(None),
            };
        };
        let end = at + HEAD_BYTES as u64 + head.body_bytes;
        if end > self.bytes {
            return Ok(None);
        }
        let mut body = vec![0; head.body_bytes as usize];
        self.file.read_exact_at(&mut body, at + HEAD_BYTES as u64).at(self.path)?;
        if xxh3_64(&body) == head.body_checksum {
            return Ok(Some((head, body)));
        }
        if end == self.bytes {
            return Ok(None);
        }
        let body_at = at + HEAD_BYTES as u64;
        Err(damaged("the checksum of a frame is wrong").at(self.path).offset(body_at))
    }

    /// The head at this offset, if there is one.
    fn head(&self, at: u64) -> Result<Option<FrameHead>> {
        let mut bytes = [0; HEAD_BYTES];
        if at + HEAD_BYTES as u64 > self.bytes {
            return Ok(None);
        }
        self.file.read_exact_at(&mut bytes, at).at(self.path)?;
        Ok(FrameHead::read(&bytes, at))
    }

    /// The offset of the first head after `at`, if there is one.
    fn head_after(&self, at: u64) -> Result<Option<u64>> {
        const WINDOW: usize = 1 << 20;
        let mut window = Vec::new();
        let mut from = at + 1;
        while from + HEAD_BYTES as u64 <= self.bytes {
            window.resize(((self.bytes - from) as usize).min(WINDOW), 0);
            self.file.read_exact_at(&mut window, from).at(self.path)?;
            let heads = (from..).zip(window.array_windows());
            for (offset, bytes) in heads {
                if FrameHead::read(bytes, offset).is_some() {
                    return Ok(Some(offset));
                }
            }
            from += (window.len() - HEAD_BYTES + 1) as u64;
        }
        Ok(None)
    }

    /// Takes what a sound frame holds.
    fn take(&mut self, head: &FrameHead, body: &[u8]) -> Result<()> {
        let Contents { header, pages, sealed, end, .. } = &mut self.contents;
        let mut rest = body;
        let mut wrong = false;
        if head.pages == SEAL {
            *sealed = rest
                .split_off(..8)
                .and_then(|day| Day::of_number(u64::from_le_bytes(*day.first_chunk()?)));
            wrong = sealed.is_none();
        }
        for _ in 0..head.pages {
            match page_bytes::read(&mut rest, header, pages.len() as u64 + 1) {
                Some(page) => pages.push(page),
                None => {
                    wrong = true;
                    break;
                }
            }
        }
        if wrong || !rest.is_empty() {
            let error = damaged("a frame does not hold what its head tells").at(self.path);
            return Err(error.offset(*end));
        }
        *end += (HEAD_BYTES + body.len()) as u64;
        Ok(())
    }
}
