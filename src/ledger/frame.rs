//! The bytes of a ledger: a header, and frames that carry the checksums of their heads and bodies.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use xxhash_rust::xxh3::xxh3_64;

use super::chunk::Receipt;
use crate::error::{At, Result};
use crate::matches::{Pair, Place};
use crate::store::Digest;

pub(super) const VERSION: u32 = 1;
pub(super) const HEADER_BYTES: u64 = 40;
pub(super) const PAIR_BYTES: usize = 30;
/// The most pairs in a frame, the unit of checksumming and reading.
pub(super) const FRAME_PAIRS: usize = 1 << 15;

const MAGIC: &[u8; 8] = b"DUPSLEDG";
/// The bytes of a frame before its body.
const HEAD_BYTES: usize = 32;
const RECEIPT_BYTES: usize = 24;
/// In place of a segment: the existing side of the pair is in the batch.
const BATCH: u32 = u32::MAX;
/// In place of a page: the pair is of fingerprints.
const NO_PAGE: u32 = u32::MAX;
/// In place of a segment: this is the mark of a crowd.
const CROWD: u32 = u32::MAX - 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    Pairs = 1,
    Receipt = 2,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct FrameHead {
    pub(super) holds: Holds,
    pub(super) chunk: u64,
    body_bytes: usize,
    body_checksum: u64,
}

/// What is found at a place where a frame may begin.
#[derive(Debug)]
pub(super) enum FoundFrame {
    /// A frame, with its body read.
    Frame(FrameHead),
    /// A frame whose body is not as it was written.
    Damaged(FrameHead),
    /// Something else. Where the next frame begins is unknown.
    Unreadable,
    /// The end of the file, which may break off within a frame.
    End,
}

#[derive(Debug)]
pub(super) struct LedgerFile {
    pub(super) path: PathBuf,
    pub(super) file: File,
}

impl LedgerFile {
    /// Whether the file is a ledger of this key and version; `None` if its header is damaged.
    pub(super) fn is_of(&self, key: Digest) -> Result<Option<bool>> {
        let mut found = [0; HEADER_BYTES as usize];
        self.file.read_exact_at(&mut found, 0).at(&self.path)?;
        let whole = found.starts_with(MAGIC) && u64_at(&found, 32) == xxh3_64(&found[..32]);
        Ok(whole.then(|| found == header(key)))
    }

    /// Reads the frame at `at` into `body`. The file, or the part to be read, ends at `end`.
    pub(super) fn read(&self, at: u64, end: u64, body: &mut Vec<u8>) -> Result<FoundFrame> {
        let left = end.saturating_sub(at);
        if left < HEAD_BYTES as u64 {
            return Ok(FoundFrame::End);
        }
        let mut bytes = [0; HEAD_BYTES];
        self.file.read_exact_at(&mut bytes, at).at(&self.path)?;
        let Some(head) = FrameHead::read(&bytes) else { return Ok(FoundFrame::Unreadable) };
        if head.bytes() > left {
            return Ok(FoundFrame::End);
        }
        body.resize(head.body_bytes, 0);
        self.file.read_exact_at(body, at + HEAD_BYTES as u64).at(&self.path)?;
        let is_sound = xxh3_64(body) == head.body_checksum;
        Ok(if is_sound { FoundFrame::Frame(head) } else { FoundFrame::Damaged(head) })
    }
}

impl FrameHead {
    /// The length of the frame in bytes, head included.
    pub(super) fn bytes(&self) -> u64 {
        (HEAD_BYTES + self.body_bytes) as u64
    }

    /// Reads a head; `None` if it is not as it was written.
    fn read(bytes: &[u8; HEAD_BYTES]) -> Option<FrameHead> {
        let body_bytes = u32_at(bytes, 0) as usize;
        let holds = match u32_at(bytes, 4) {
            1 if body_bytes <= FRAME_PAIRS * PAIR_BYTES
                && body_bytes.is_multiple_of(PAIR_BYTES) =>
            {
                Holds::Pairs
            }
            2 if body_bytes == RECEIPT_BYTES => Holds::Receipt,
            _ => return None,
        };
        let [chunk, body_checksum, own] = [8, 16, 24].map(|at| u64_at(bytes, at));
        (own == xxh3_64(&bytes[..24])).then_some(FrameHead {
            holds,
            chunk,
            body_bytes,
            body_checksum,
        })
    }
}

/// The first bytes of a ledger.
pub(super) fn header(key: Digest) -> [u8; HEADER_BYTES as usize] {
    let mut header = [0; HEADER_BYTES as usize];
    header[..8].copy_from_slice(MAGIC);
    header[8..12].copy_from_slice(&VERSION.to_le_bytes());
    header[16..32].copy_from_slice(&key.0.to_le_bytes());
    let checksum = xxh3_64(&header[..32]);
    header[32..].copy_from_slice(&checksum.to_le_bytes());
    header
}

/// Adds to `bytes` a frame of at most [`FRAME_PAIRS`] pairs of `chunk`.
pub(super) fn write_pairs(chunk: u64, pairs: &[Pair], bytes: &mut Vec<u8>) {
    write(Holds::Pairs, chunk, bytes, |body| body.extend(pairs.iter().flat_map(encoded)));
}

pub(super) fn write_receipt(receipt: &Receipt, bytes: &mut Vec<u8>) {
    let counts = [receipt.fingerprints, receipt.pairs, receipt.listed];
    write(Holds::Receipt, receipt.chunk, bytes, |body| {
        body.extend(counts.into_iter().flat_map(u64::to_le_bytes));
    });
}

fn write(holds: Holds, chunk: u64, bytes: &mut Vec<u8>, write_body: impl FnOnce(&mut Vec<u8>)) {
    let start = bytes.len();
    bytes.extend([0; HEAD_BYTES]);
    write_body(bytes);
    let (head, body) = bytes[start..].split_at_mut(HEAD_BYTES);
    head[..4].copy_from_slice(&(body.len() as u32).to_le_bytes());
    head[4..8].copy_from_slice(&(holds as u32).to_le_bytes());
    head[8..16].copy_from_slice(&chunk.to_le_bytes());
    head[16..24].copy_from_slice(&xxh3_64(body).to_le_bytes());
    let checksum = xxh3_64(&head[..24]);
    head[24..].copy_from_slice(&checksum.to_le_bytes());
}

/// The counts in a receipt: fingerprints, pairs found, pairs listed.
pub(super) fn receipt(body: &[u8]) -> [u64; 3] {
    [0, 8, 16].map(|at| u64_at(body, at))
}

fn encoded(pair: &Pair) -> [u8; PAIR_BYTES] {
    let mut bytes = [0; PAIR_BYTES];
    let (segment, row, rows, page) = match pair.existing {
        Place::Store { segment, row, rows } => (segment, row, rows, NO_PAGE),
        Place::StoreRow { page, apart, segment, row, rows } => {
            bytes[29] = apart;
            (segment, row, rows, page)
        }
        Place::Batch { group } => (BATCH, u32::from(group).into(), 0, NO_PAGE),
        Place::BatchRow { page, apart, row } => {
            bytes[29] = apart;
            (BATCH, row.into(), 0, page)
        }
        Place::Crowd => (CROWD, 0, 0, NO_PAGE),
    };
    bytes[..4].copy_from_slice(&u32::from(pair.new).to_le_bytes());
    bytes[4..8].copy_from_slice(&segment.to_le_bytes());
    bytes[8..16].copy_from_slice(&row.to_le_bytes());
    bytes[16..24].copy_from_slice(&rows.to_le_bytes());
    bytes[24..28].copy_from_slice(&page.to_le_bytes());
    bytes[28] = pair.distance;
    bytes
}

pub(super) fn pair(bytes: &[u8]) -> Pair {
    let [segment, page] = [4, 24].map(|at| u32_at(bytes, at));
    let [row, rows] = [8, 16].map(|at| u64_at(bytes, at));
    let existing = match (segment, page) {
        (BATCH, NO_PAGE) => Place::Batch { group: (row as u32).into() },
        (BATCH, page) => Place::BatchRow { page, apart: bytes[29], row: row as u32 },
        (CROWD, _) => Place::Crowd,
        (segment, NO_PAGE) => Place::Store { segment, row, rows },
        (segment, page) => Place::StoreRow { page, apart: bytes[29], segment, row, rows },
    };
    Pair { new: u32_at(bytes, 0).into(), existing, distance: bytes[28] }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}
