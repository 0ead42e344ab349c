//! What the frames of a ledger hold: the pairs of a chunk, and its receipt. Each begins with the number of the chunk.

use super::chunk::Receipt;
use crate::frames::{self, HEAD_BYTES, Magic};
use crate::matches::{Pair, Place};

/// The first bytes of a ledger. The first frame has the key of the join.
pub(super) const MAGIC: Magic = *b"DUPSLEDG\x01\0\0\0";
pub(super) const PAIR_BYTES: usize = 30;
/// The most pairs in a frame, the unit of checksumming and reading.
pub(super) const FRAME_PAIRS: usize = 1 << 15;

pub(super) const KEY: u32 = 0;
const PAIRS: u32 = 1;
const RECEIPT: u32 = 2;
/// In place of a segment: the existing side of the pair is in the batch.
const BATCH: u32 = u32::MAX;
/// In place of a page: the pair is of fingerprints.
const NO_PAGE: u32 = u32::MAX;
/// In place of a segment: this is the mark of a crowd.
const CROWD: u32 = u32::MAX - 1;

pub(super) enum Holds<'a> {
    Pairs(u64, &'a [[u8; PAIR_BYTES]]),
    Receipt(Receipt),
}

impl Holds<'_> {
    pub(super) fn read(tag: u32, body: &[u8]) -> Option<Holds<'_>> {
        let (chunk, rest) = body.split_first_chunk()?;
        let chunk = u64::from_le_bytes(*chunk);
        match (tag, rest.as_chunks(), rest.as_chunks::<8>()) {
            (PAIRS, (pairs, []), _) => Some(Holds::Pairs(chunk, pairs)),
            (RECEIPT, _, ([fingerprints, pairs, listed], [])) => {
                let [fingerprints, pairs, listed] =
                    [fingerprints, pairs, listed].map(|count| u64::from_le_bytes(*count));
                Some(Holds::Receipt(Receipt { chunk, fingerprints, pairs, listed, resumed: true }))
            }
            _ => None,
        }
    }
}

/// Adds to `frames`, which stand in the file from `first` on, a frame of at most [`FRAME_PAIRS`] pairs of `chunk`.
pub(super) fn write_pairs(chunk: u64, pairs: &[Pair], first: u64, frames: &mut Vec<u8>) {
    write(PAIRS, chunk, pairs.iter().flat_map(encoded), first, frames);
}

pub(super) fn write_receipt(receipt: &Receipt, first: u64, frames: &mut Vec<u8>) {
    let counts = [receipt.fingerprints, receipt.pairs, receipt.listed];
    write(RECEIPT, receipt.chunk, counts.into_iter().flat_map(u64::to_le_bytes), first, frames);
}

fn write(tag: u32, chunk: u64, rest: impl Iterator<Item = u8>, first: u64, frames: &mut Vec<u8>) {
    let start = frames.len();
    frames.extend([0; HEAD_BYTES]);
    frames.extend(chunk.to_le_bytes());
    frames.extend(rest);
    frames::seal(tag, first + start as u64, &mut frames[start..]);
}

/// A pair as its bytes are in order: the new side, the segment, its row and how many, the page, the distance, and how far apart.
type Fields = (u32, u32, u64, u64, u32, u8, u8);

fn encoded(pair: &Pair) -> [u8; PAIR_BYTES] {
    let (segment, row, rows, page, apart) = match pair.existing {
        Place::Store { segment, row, rows } => (segment, row, rows, NO_PAGE, 0),
        Place::StoreRow { page, apart, segment, row, rows } => (segment, row, rows, page, apart),
        Place::Batch { group } => (BATCH, u32::from(group).into(), 0, NO_PAGE, 0),
        Place::BatchRow { page, apart, row } => (BATCH, row.into(), 0, page, apart),
        Place::Crowd => (CROWD, 0, 0, NO_PAGE, 0),
    };
    let fields: Fields = (pair.new.into(), segment, row, rows, page, pair.distance, apart);
    let mut bytes = [0; PAIR_BYTES];
    bincode::serialize_into(&mut bytes[..], &fields).expect("as many bytes");
    bytes
}

pub(super) fn pair(bytes: &[u8; PAIR_BYTES]) -> Pair {
    let (new, segment, row, rows, page, distance, apart): Fields =
        bincode::deserialize(bytes).expect("any bytes are fields");
    let existing = match (segment, page) {
        (BATCH, NO_PAGE) => Place::Batch { group: (row as u32).into() },
        (BATCH, page) => Place::BatchRow { page, apart, row: row as u32 },
        (CROWD, _) => Place::Crowd,
        (segment, NO_PAGE) => Place::Store { segment, row, rows },
        (segment, page) => Place::StoreRow { page, apart, segment, row, rows },
    };
    Pair { new: new.into(), existing, distance }
}
