//! The cold column: the last 16 bits of every fingerprint, if [`super::Codec::HotCold`] stored them apart.
//!
//! Older versions wrote it, so that a probe could read these bits for its candidates only. Blocks have equal
//! lengths and their own checksums: the place of a row follows from its number. Row 2500, for example, is in
//! block 2500 / 1024 = 2, at byte 2 * 2056 + 8 + 2 * (2500 - 2048) of the column. The number of the block is
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

impl Segment {
    /// Whether the last bits of its fingerprints are in a column of their own.
    pub(crate) fn is_split(&self) -> bool {
        self.column(Column::Cold).is_some()
    }

    /// Adds their cold bits to `fingerprints`, those of the rows from `first` on, where a block begins. A
    /// segment that [is not split](Segment::is_split) has none.
    ///
    /// # Errors
    /// Damage is [`crate::Kind::BadData`].
    pub(crate) fn add_cold_bits<F: Fingerprint>(
        &self,
        first: u64,
        fingerprints: &mut [F],
    ) -> Result<()> {
        if !self.is_split() {
            return Ok(());
        }
        let blocks = blocks(&(first..first + fingerprints.len() as u64));
        let range = self.cold_bytes(&blocks);
        let mut bytes = Vec::new();
        self.read(range.clone(), &mut bytes)?;
        let coded = blocks.clone().zip(bytes.chunks(BLOCK_BYTES as usize));
        for ((index, block), fingerprints) in coded.zip(fingerprints.chunks_mut(COLD_ROWS)) {
            let code = check(index, block).map_err(|error| {
                let offset = range.start + (index - blocks.start) * BLOCK_BYTES;
                error.at(self.path()).offset(offset)
            })?;
            for (fingerprint, &bits) in fingerprints.iter_mut().zip(code.as_chunks::<2>().0) {
                *fingerprint = *fingerprint | F::from_u128(u16::from_le_bytes(bits).into());
            }
        }
        Ok(())
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
