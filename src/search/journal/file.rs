//! The journals on disk: frames of pages, appended and read back; and the names of their files in the folder `journal`.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::header::{Header, MAGIC, damaged};
use super::page_bytes;
use super::part::Part;
use crate::error::{At, Error, Kind, Named, Result};
use crate::frames::{FoundFrame, FrameFile, FrameHead, HEAD_BYTES, frame};
use crate::output::{Fence, Lock, NewFile, UNFINISHED, sync_folder};
use crate::store::{Day, FingerprintedDocument};

const SUFFIX: &str = ".journal";
const PAGES_OF_A_FRAME: usize = 1 << 10;
/// The tag of a seal. That of other frames is the number of their pages.
const SEAL: u32 = 0;

#[derive(Debug)]
pub(super) struct JournalFile {
    path: PathBuf,
    file: File,
    pub(super) bytes: u64,
}

#[derive(Debug)]
pub(super) struct Contents {
    pub(super) header: Header,
    pub(super) pages: Vec<FingerprintedDocument>,
    pub(super) sealed: Option<Day>,
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

    /// Appends a frame of so many pages, which are on disk then. After an error, the file is as good as lost.
    pub(super) fn append(&mut self, pages: u32, body: &[u8]) -> Result<()> {
        let frame = frame(pages, self.bytes, body);
        self.file.write_all_at(&frame, self.bytes).at(&self.path)?;
        self.file.sync_data().at(&self.path)?;
        self.bytes += frame.len() as u64;
        Ok(())
    }

    #[cfg(test)]
    pub(super) fn break_down(&mut self) {
        self.file = File::open(&self.path).expect("it is there");
    }

    pub(super) fn seal(&mut self, day: Day) -> Result<()> {
        self.append(SEAL, &day.number().to_le_bytes())
    }
}

pub(super) fn frames(
    header: &Header,
    pages: &[FingerprintedDocument],
    sealed: Option<Day>,
) -> Vec<u8> {
    let first = header.write().len();
    let mut frames = Vec::new();
    let mut add = |pages: u32, body: &[u8]| {
        let frame = frame(pages, (first + frames.len()) as u64, body);
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

/// Reads the journal at `path`. A frame at its end that was never finished is left out.
pub(super) fn read(path: &Path) -> Result<Contents> {
    let file = FrameFile::open(path)?;
    let bytes = file.bytes()?;
    let (header, end) = header_of(&file)?;
    let contents = Contents { header, pages: Vec::new(), sealed: None, end, torn: 0 };
    Reading { file, bytes, contents }.run()
}

fn header_of(file: &FrameFile) -> Result<(Header, u64)> {
    if !file.begins_with(&MAGIC)? {
        return Err(damaged("this is not a journal of this version").at(&file.path).offset(0));
    }
    let at = MAGIC.len() as u64;
    let mut body = Vec::new();
    let header = match file.read(at, file.bytes()?, &mut body)? {
        FoundFrame::Frame(head) => Header::read(&body).map(|header| (header, head.end(at))),
        _ => None,
    };
    header.ok_or_else(|| damaged("the header of the journal is damaged").at(&file.path).offset(at))
}

struct Reading {
    file: FrameFile,
    bytes: u64,
    contents: Contents,
}

impl Reading {
    fn run(mut self) -> Result<Contents> {
        let mut body = Vec::new();
        while self.contents.end < self.bytes {
            if self.contents.sealed.is_some() {
                return Err(self.damaged("something stands after the seal"));
            }
            let Some(head) = self.read(&mut body)? else { break };
            self.take(&head, &body)?;
        }
        self.contents.torn = self.bytes - self.contents.end;
        Ok(self.contents)
    }

    /// Reads the next frame; none if it was never finished.
    fn read(&self, body: &mut Vec<u8>) -> Result<Option<FrameHead>> {
        let at = self.contents.end;
        match self.file.read(at, self.bytes, body)? {
            FoundFrame::Frame(head) => Ok(Some(head)),
            FoundFrame::Damaged(head) if head.end(at) < self.bytes => {
                Err(self.damaged("the checksum of a frame is wrong"))
            }
            FoundFrame::NoHead if self.has_head_after(at)? => {
                Err(self.damaged("the head of a frame is damaged"))
            }
            _ => Ok(None),
        }
    }

    fn damaged(&self, what: &str) -> Error {
        damaged(what).at(&self.file.path).offset(self.contents.end)
    }

    fn has_head_after(&self, at: u64) -> Result<bool> {
        const WINDOW: usize = 1 << 20;
        let mut window = Vec::new();
        let mut from = at + 1;
        while from + HEAD_BYTES as u64 <= self.bytes {
            window.resize(((self.bytes - from) as usize).min(WINDOW), 0);
            self.file.file.read_exact_at(&mut window, from).at(&self.file.path)?;
            let mut heads = (from..).zip(window.array_windows());
            if heads.any(|(offset, bytes)| FrameHead::read(bytes, offset).is_some()) {
                return Ok(true);
            }
            from += (window.len() - HEAD_BYTES + 1) as u64;
        }
        Ok(false)
    }

    fn take(&mut self, head: &FrameHead, body: &[u8]) -> Result<()> {
        let Contents { header, pages, sealed, end, .. } = &mut self.contents;
        let mut rest = body;
        let mut wrong = false;
        if head.tag == SEAL {
            *sealed = rest
                .split_off(..8)
                .and_then(|day| Day::of_number(u64::from_le_bytes(*day.first_chunk()?)));
            wrong = sealed.is_none();
        }
        for _ in 0..head.tag {
            match page_bytes::read(&mut rest, header, pages.len() as u64 + 1) {
                Some(page) => pages.push(page),
                None => {
                    wrong = true;
                    break;
                }
            }
        }
        if wrong || !rest.is_empty() {
            return Err(self.damaged("a frame does not hold what its head says"));
        }
        *end = head.end(*end);
        Ok(())
    }
}

pub(super) fn file_name(number: u64) -> String {
    format!("{number:06}{SUFFIX}")
}

/// The journals in a folder, read; and the one that takes pages, which is made if there is none.
pub(super) fn open_parts(
    folder: &Path,
    header: &Header,
    lock: &Lock,
) -> Result<(Vec<(u64, Part)>, JournalFile)> {
    let mut parts = Vec::new();
    let mut last = None;
    for number in numbers(folder)? {
        let path = folder.join(file_name(number));
        if last.take().is_some() {
            return Err(damaged("a journal without a seal comes before this one").at(path));
        }
        let contents = read(&path)?;
        if !contents.header.is_like(header) {
            return Err(Error::new(Kind::Exists, "the journal has pages of another recipe")
                .at(path)
                .expected(&header.options.stamp)
                .found(&contents.header.options.stamp)
                .help("serve the store with that recipe and commit them first"));
        }
        if contents.torn > 0 {
            tracing::warn!(
                "{}: cut off {} bytes of a frame that was never finished; no page of it was acknowledged",
                path.named(),
                contents.torn
            );
        }
        let part = Part::of(header, contents.pages, contents.sealed);
        if part.sealed.is_none() {
            last = Some(JournalFile::append_to(&path, contents.end)?);
        }
        parts.push((number, part));
    }
    let file = match last {
        Some(file) => file,
        None => {
            let number = parts.last().map_or(1, |(number, _)| number + 1);
            let file =
                JournalFile::create(&folder.join(file_name(number)), header, &[], lock.fence())?;
            parts.push((number, Part::of(header, Vec::new(), None)));
            file
        }
    };
    Ok((parts, file))
}

pub(super) fn header_in(folder: &Path) -> Result<Option<Header>> {
    let first = numbers(folder)?.first().map(|&number| folder.join(file_name(number)));
    first.map(|path| Ok(header_of(&FrameFile::open(&path)?)?.0)).transpose()
}

/// Removes the files and folders that writers which died have left in a folder: pages may lie in them. Nobody else may write there.
pub(super) fn remove_unfinished(folder: &Path) -> Result<()> {
    let unfinished = unfinished(folder)?;
    for path in &unfinished {
        let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        removed.at(path)?;
    }
    if unfinished.is_empty() { Ok(()) } else { sync_folder(folder) }
}

pub(super) fn unfinished(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut unfinished = Vec::new();
    for entry in fs::read_dir(folder).at(folder)? {
        let entry = entry.at(folder)?;
        let is_ours = entry.file_name().to_string_lossy().starts_with(UNFINISHED);
        if is_ours && entry.file_type().is_ok_and(|it| it.is_file() || it.is_dir()) {
            unfinished.push(entry.path());
        }
    }
    Ok(unfinished)
}

fn numbers(folder: &Path) -> Result<Vec<u64>> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(folder).at(folder)? {
        let name = entry.at(folder)?.file_name().into_string().unwrap_or_default();
        let number = name.strip_suffix(SUFFIX).and_then(|number| number.parse().ok());
        numbers.extend(number.filter(|&number| name == file_name(number)));
    }
    numbers.sort_unstable();
    Ok(numbers)
}
