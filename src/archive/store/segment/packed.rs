//! The blocks that zstd compresses: ids as lines, integers as byte planes, and bytes of rows.
//!
//! A packed block is the length before compression (4 bytes) and a zstd frame. The length is checked
//! before memory is allocated. Byte planes put bytes of equal weight next to each other, which
//! compresses better. The integers 1, 2 and 258 (0x0102) become
//!
//! ```text
//! lowest bytes 01 02 02 | next bytes 00 00 01 | ... six more planes of zeros
//! ```

use std::io;

use zstd::bulk::{Compressor, Decompressor};

use crate::document::MAX_ID_BYTES;
use crate::error::{Error, Result};
use crate::store::damage::damaged;

pub(crate) const TEXT_ROWS: usize = 256;

pub(crate) const INTEGER_ROWS: usize = 4096;

/// Rows in a block of rows of as many bytes as each needs. Few, because single ones are looked up; several, because pages have words in common.
pub(crate) const PACKED_ROWS: usize = 16;

pub const MAX_PACKED_ROW_BYTES: usize = 1 << 27;

/// The most bytes of a block before compression.
pub(crate) const MAX_UNPACKED_BYTES: usize = TEXT_ROWS * (MAX_ID_BYTES + 1);

/// The most bytes of a packed block of ids or integers.
pub(crate) const MAX_PACKED_BYTES: usize = MAX_UNPACKED_BYTES + MAX_UNPACKED_BYTES / 64;

/// The most bytes of a block of rows before compression, each behind its length of four bytes.
pub(crate) const MAX_UNPACKED_ROWS_BYTES: usize = PACKED_ROWS * (MAX_PACKED_ROW_BYTES + 4);

pub(crate) const MAX_PACKED_ROWS_BYTES: usize =
    MAX_UNPACKED_ROWS_BYTES + MAX_UNPACKED_ROWS_BYTES / 64;

const LEVEL: i32 = 3;

pub(crate) struct Packer(Compressor<'static>);

impl Packer {
    pub(crate) fn new() -> io::Result<Packer> {
        Compressor::new(LEVEL).map(Packer)
    }

    pub(crate) fn pack(&mut self, plain: &[u8], packed: &mut Vec<u8>) -> io::Result<()> {
        packed.clear();
        packed.extend((plain.len() as u32).to_le_bytes());
        let frame = self.0.compress(plain)?;
        packed.extend(frame);
        Ok(())
    }
}

pub(crate) struct Unpacker {
    most: usize,
    decompressor: Decompressor<'static>,
}

impl Unpacker {
    /// Unpacks blocks of at most so many bytes.
    pub(crate) fn of(most: usize) -> Unpacker {
        Unpacker { most, decompressor: Decompressor::default() }
    }

    pub(crate) fn unpack(&mut self, packed: &[u8], plain: &mut Vec<u8>) -> Result<()> {
        let (length, frame) = packed.split_first_chunk().ok_or_else(|| bad("it has no length"))?;
        let length = u32::from_le_bytes(*length) as usize;
        if length > self.most {
            return Err(bad("it is larger than a block may be").found(length));
        }
        plain.clear();
        plain.reserve_exact(length);
        match self.decompressor.decompress_to_buffer(frame, plain) {
            Ok(unpacked) if unpacked == length => Ok(()),
            Ok(unpacked) => Err(bad("it is shorter than it says").expected(length).found(unpacked)),
            Err(cause) => Err(bad(&cause.to_string())),
        }
    }
}

/// Whether `id` is valid in a segment: not empty, not too long, without tab, CR, LF and NUL.
pub(crate) fn is_id(id: &str) -> bool {
    let plain = |byte: &u8| !matches!(byte, b'\t' | b'\r' | b'\n' | 0);
    (1..=MAX_ID_BYTES).contains(&id.len()) && id.as_bytes().iter().all(plain)
}

pub(crate) fn lines(plain: &str, rows: usize, ends: &mut Vec<usize>) -> Result<()> {
    ends.clear();
    ends.extend(memchr::memchr_iter(b'\n', plain.as_bytes()));
    if ends.len() != rows || ends.last().map_or(0, |last| last + 1) != plain.len() {
        return Err(bad("the number of its ids is wrong").expected(rows).found(ends.len()));
    }
    Ok(())
}

/// Little-endian integers as byte planes: the lowest byte of each, then the next byte of each, up to the highest.
pub(crate) fn planes(integers: &[u8]) -> Vec<u8> {
    let (integers, _) = integers.as_chunks::<8>();
    (0..8).flat_map(|byte| integers.iter().map(move |integer| integer[byte])).collect()
}

pub(crate) fn read_planes(plain: &[u8], rows: usize, integers: &mut Vec<u64>) -> Result<()> {
    if plain.len() != 8 * rows {
        return Err(bad("its length is wrong").expected(8 * rows).found(plain.len()));
    }
    integers.clear();
    integers.resize(rows, 0);
    for (shift, plane) in (0..64).step_by(8).zip(plain.chunks_exact(rows.max(1))) {
        for (integer, &byte) in integers.iter_mut().zip(plane) {
            *integer |= u64::from(byte) << shift;
        }
    }
    Ok(())
}

fn bad(what: &str) -> Error {
    damaged(&format!("a packed block cannot be read: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bomb_is_refused_unopened() {
        let mut packed = u32::MAX.to_le_bytes().to_vec();
        packed.extend(zstd::bulk::compress(&vec![0; 1 << 25], LEVEL).unwrap());
        assert!(Unpacker::of(MAX_UNPACKED_BYTES).unpack(&packed, &mut Vec::new()).is_err());
        packed[..4].copy_from_slice(&10u32.to_le_bytes());
        assert!(Unpacker::of(MAX_UNPACKED_BYTES).unpack(&packed, &mut Vec::new()).is_err());
    }
}
