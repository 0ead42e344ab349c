//! Frames: bytes behind a head that checks them, one after the other in a file.
//!
//! Journals, ledgers, what was made of finished input files, sorted runs, states of clusters and filters are such files.
//!
//! ```text
//! at   bytes
//!  0       4   length of the body
//!  4       4   what the body is, as the file says it
//!  8       8   XXH3-64 of the body
//! 16       8   XXH3-64 of the 16 bytes before, and of the offset of the frame in its file (8 bytes)
//! 24           the body
//! ```
//!
//! The head is checked apart from the body. So a reader can pass over a body that is damaged, and tells a frame that was
//! never finished from one that was: a killed writer leaves a beginning of a frame at the end of its file, and nothing behind it.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use crate::error::{At, Result};

pub const HEAD_BYTES: usize = 24;
pub(crate) const MOST_BODY_BYTES: usize = 1 << 30;

/// The first bytes of a file: what it is, and the version of its format.
pub type Magic = [u8; 12];

#[derive(Clone, Copy, Debug)]
pub struct FrameHead {
    pub tag: u32,
    body_bytes: u32,
    checksum: u64,
}

/// What stands where a frame may begin.
#[derive(Clone, Copy, Debug)]
pub enum FoundFrame {
    Frame(FrameHead),
    /// A frame whose body is not as it was written.
    Damaged(FrameHead),
    /// No head. Where the next frame begins is unknown.
    NoHead,
    /// The end of the file, which may break off within a frame.
    End,
}

impl FrameHead {
    /// The head in these bytes, which are at the offset `at`; none if they are none.
    pub fn read(bytes: &[u8; HEAD_BYTES], at: u64) -> Option<FrameHead> {
        let (words, _) = bytes.as_chunks::<8>();
        let [numbers, checksum, own] = [0, 1, 2].map(|word| u64::from_le_bytes(words[word]));
        let (body_bytes, tag) = (numbers as u32, (numbers >> 32) as u32);
        let is_sound = own == checksum_of(bytes, at) && body_bytes as usize <= MOST_BODY_BYTES;
        is_sound.then_some(FrameHead { tag, body_bytes, checksum })
    }

    pub fn end(&self, at: u64) -> u64 {
        at + HEAD_BYTES as u64 + u64::from(self.body_bytes)
    }
}

fn checksum_of(head: &[u8], at: u64) -> u64 {
    xxh3_64(&[&head[..16], &at.to_le_bytes()].concat())
}

pub fn frame(tag: u32, at: u64, body: &[u8]) -> Vec<u8> {
    let mut frame = [&[0; HEAD_BYTES][..], body].concat();
    seal(tag, at, &mut frame);
    frame
}

/// Fills in the head of a frame at the offset `at`, of which the body is there.
pub fn seal(tag: u32, at: u64, frame: &mut [u8]) {
    let (head, body) = frame.split_at_mut(HEAD_BYTES);
    debug_assert!(body.len() <= MOST_BODY_BYTES, "a frame is bounded");
    head[..4].copy_from_slice(&(body.len() as u32).to_le_bytes());
    head[4..8].copy_from_slice(&tag.to_le_bytes());
    head[8..16].copy_from_slice(&xxh3_64(body).to_le_bytes());
    let checksum = checksum_of(head, at);
    head[16..].copy_from_slice(&checksum.to_le_bytes());
}

/// A file of frames that is read. Reads do not move a file position, so threads can share it.
#[derive(Debug)]
pub struct FrameFile {
    pub path: PathBuf,
    pub file: File,
}

impl FrameFile {
    pub fn open(path: &Path) -> Result<FrameFile> {
        Ok(FrameFile { path: path.to_path_buf(), file: File::open(path).at(path)? })
    }

    pub fn bytes(&self) -> Result<u64> {
        Ok(self.file.metadata().at(&self.path)?.len())
    }

    pub fn begins_with(&self, magic: &Magic) -> Result<bool> {
        let mut found = Magic::default();
        let is_long_enough = self.bytes()? >= found.len() as u64;
        if is_long_enough {
            self.file.read_exact_at(&mut found, 0).at(&self.path)?;
        }
        Ok(is_long_enough && found == *magic)
    }

    /// The frame at `at`, of which the body is not looked at. The file, or the part to be read, ends at `end`.
    pub fn head(&self, at: u64, end: u64) -> Result<FoundFrame> {
        let mut bytes = [0; HEAD_BYTES];
        if end.saturating_sub(at) < HEAD_BYTES as u64 {
            return Ok(FoundFrame::End);
        }
        self.file.read_exact_at(&mut bytes, at).at(&self.path)?;
        Ok(match FrameHead::read(&bytes, at) {
            None => FoundFrame::NoHead,
            Some(head) if head.end(at) > end => FoundFrame::End,
            Some(head) => FoundFrame::Frame(head),
        })
    }

    /// The same, and makes `body` its body.
    pub fn read(&self, at: u64, end: u64, body: &mut Vec<u8>) -> Result<FoundFrame> {
        let found = self.head(at, end)?;
        let FoundFrame::Frame(head) = found else { return Ok(found) };
        body.resize(head.body_bytes as usize, 0);
        self.file.read_exact_at(body, at + HEAD_BYTES as u64).at(&self.path)?;
        let is_sound = xxh3_64(body) == head.checksum;
        Ok(if is_sound { found } else { FoundFrame::Damaged(head) })
    }
}
