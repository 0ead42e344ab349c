//! The cold column: the last 16 bits of every fingerprint, if [`super::Codec::HotCold`] stores them apart,
//! so that a probe reads them for its candidates only.
//!
//! Candidates are rare, and each costs a read of its own. So blocks are small, have equal lengths and
//! contain their own checksums: the place of a row follows from its number, no directory is kept in
//! memory, and one read brings all that is needed to check it. Row 2500, for example, is in block
//! 2500 / 1024 = 2, at byte 2 * 2056 + 8 + 2 * (2500 - 2048) of the column. The number of the block is
//! the seed of its checksum, so a block in the wrong place is found too.
//!
//! ```text
//! block = XXH3-64 (8 bytes) | bits (2 bytes each)
//! ```

use std::ops::Range;

use xxhash_rust::xxh3::{Xxh3, xxh3_64_with_seed};

use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::store::damage::damaged;

use super::directory::{COLD_CHECKSUM_BYTES, COLD_ROWS, Column, u64_at};
use super::open::Segment;

/// The bytes of all blocks but the last.
const BLOCK_BYTES: u64 = COLD_CHECKSUM_BYTES + 2 * COLD_ROWS as u64;

/// Codes `bits` as the block with number `index` and returns its checksum.
pub(crate) fn encode(index: u64, bits: &[u16], block: &mut Vec<u8>) -> u64 {
    block.clear();
    block.resize(COLD_CHECKSUM_BYTES as usize, 0);
    block.extend(bits.iter().flat_map(|bits| bits.to_le_bytes()));
    let (checksum, code) = block.split_at_mut(COLD_CHECKSUM_BYTES as usize);
    let found = xxh3_64_with_seed(code, index);
    checksum.copy_from_slice(&found.to_le_bytes());
    found
}

/// Looks up cold bits by row. Keeps the blocks of the last rows in memory.
#[derive(Debug)]
pub(crate) struct ColdBits {
    segment: Segment,
    /// The rows of `bits`.
    held: Range<u64>,
    bits: Vec<u16>,
    bytes: Vec<u8>,
}

impl ColdBits {
    pub(crate) fn new(segment: Segment) -> ColdBits {
        ColdBits { segment, held: 0..0, bits: Vec::new(), bytes: Vec::new() }
    }

    /// The cold bits of `rows`, which are all in memory at once. The segment has these rows and a cold
    /// column.
    ///
    /// # Errors
    /// Damage is [`crate::Kind::BadData`]. Nothing is returned before its checksum was verified.
    pub(crate) fn get(&mut self, rows: Range<u64>) -> Result<&[u16]> {
        if rows.start < self.held.start || self.held.end < rows.end {
            self.turn_to(&rows)?;
        }
        let [start, end] = [rows.start, rows.end].map(|row| (row - self.held.start) as usize);
        Ok(&self.bits[start..end])
    }

    /// Adds the cold bits of the rows from `first` on to `fingerprints`, which have their hot bits.
    pub(crate) fn join<F: Fingerprint>(
        &mut self,
        first: u64,
        fingerprints: &mut [F],
    ) -> Result<()> {
        let bits = self.get(first..first + fingerprints.len() as u64)?;
        for (fingerprint, &bits) in fingerprints.iter_mut().zip(bits) {
            *fingerprint = *fingerprint | F::from_u128(bits.into());
        }
        Ok(())
    }

    /// Reads the blocks of `rows`.
    fn turn_to(&mut self, rows: &Range<u64>) -> Result<()> {
        let ColdBits { segment, held, bits, bytes } = self;
        *held = 0..0;
        bits.clear();
        let blocks = blocks(rows);
        let range = segment.cold_bytes(&blocks);
        segment.read(range.clone(), bytes)?;
        for (index, block) in blocks.clone().zip(bytes.chunks(BLOCK_BYTES as usize)) {
            let code = check(index, block).map_err(|error| {
                let offset = range.start + (index - blocks.start) * BLOCK_BYTES;
                error.at(segment.path()).offset(offset)
            })?;
            bits.extend(code.as_chunks::<2>().0.iter().map(|&bits| u16::from_le_bytes(bits)));
        }
        let start = blocks.start * COLD_ROWS as u64;
        *held = start..start + bits.len() as u64;
        Ok(())
    }
}

impl Segment {
    /// Whether the last bits of its fingerprints are in a column of their own.
    pub(crate) fn is_split(&self) -> bool {
        self.column(Column::Cold).is_some()
    }

    /// Looks up the cold bits of a segment that [is split](Segment::is_split).
    pub(crate) fn cold_bits(&self) -> ColdBits {
        ColdBits::new(self.clone())
    }

    /// Tells the system that the cold bits of `rows` will be read soon.
    pub(crate) fn expect_cold(&self, rows: &Range<u64>) {
        self.expect(self.cold_bytes(&blocks(rows)));
    }

    /// The range of the file with these blocks of the cold column.
    fn cold_bytes(&self, blocks: &Range<u64>) -> Range<u64> {
        let column = self.column(Column::Cold).expect("a split segment has a cold column");
        let [start, end] =
            [blocks.start, blocks.end].map(|at| (at * BLOCK_BYTES).min(column.head.bytes));
        column.offset + start..column.offset + end
    }

    /// Checks that the cold column has the blocks that the directory describes.
    pub(crate) fn verify_cold(&self) -> Result<()> {
        let Some(column) = self.column(Column::Cold) else { return Ok(()) };
        let mut checksums = Xxh3::new();
        let mut bytes = Vec::new();
        for first in (0..column.head.rows).step_by(COLD_ROWS) {
            let range = self.cold_bytes(&blocks(&(first..first + 1)));
            self.read(range.start..range.start + COLD_CHECKSUM_BYTES, &mut bytes)?;
            checksums.update(&bytes);
        }
        let found = checksums.digest128();
        if found != column.head.entries {
            return Err(damaged("the checksum of the cold column is wrong")
                .at(self.path())
                .offset(column.offset)
                .expected(format_args!("{:032x}", column.head.entries))
                .found(format_args!("{found:032x}")));
        }
        Ok(())
    }
}

/// The blocks that contain `rows`.
fn blocks(rows: &Range<u64>) -> Range<u64> {
    rows.start / COLD_ROWS as u64..rows.end.div_ceil(COLD_ROWS as u64)
}

/// The bits of a block, if its checksum is right.
fn check(index: u64, block: &[u8]) -> Result<&[u8]> {
    let (told, code) = block.split_at(COLD_CHECKSUM_BYTES as usize);
    match (u64_at(told, 0), xxh3_64_with_seed(code, index)) {
        (told, found) if told == found => Ok(code),
        (told, found) => Err(damaged("the checksum of a cold block is wrong")
            .expected(format_args!("{told:016x}"))
            .found(format_args!("{found:016x}"))),
    }
}
