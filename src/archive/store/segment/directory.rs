//! The directory of a segment: its columns, and the blocks of each.
//!
//! Everything in a segment directly follows what is before it. So only lengths are stored, and offsets
//! are their sums: blocks of 700, 650 and 120 bytes after the header of 16 bytes begin at 16, 716 and
//! 1366. FORMAT.md specifies the bytes.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use crate::error::Result;
use crate::fingerprint::Width;
use crate::fingerprint::check::{
    ANCHOR_BYTES, ANCHORS, MAX_ANCHORS_BYTES, MAX_SIGNATURE_BYTES, MAX_SKETCH_BYTES,
};
use crate::store::damage::damaged;

use super::block::{self, BLOCK_ROWS};
use super::packed::{
    INTEGER_ROWS, MAX_PACKED_BYTES, MAX_PACKED_ROWS_BYTES, MAX_UNPACKED_BYTES,
    MAX_UNPACKED_ROWS_BYTES, PACKED_ROWS, TEXT_ROWS,
};

pub(crate) const COLUMN_BYTES: usize = 40;

/// Signatures in a block; the last block may have fewer. Few, because single signatures are looked up.
pub(crate) const SIGNATURE_ROWS: usize = 64;

/// What stands before a row that has as many bytes as it needs: fewer where it is not compressed.
pub(crate) const LENGTH_BYTES: usize = 2;
pub(crate) const PACKED_LENGTH_BYTES: usize = 4;

pub(crate) const DIGEST_BYTES: usize = 16;

/// Rows in a block that is read from its beginning to its end; the last block may have fewer.
pub const SCANNED_ROWS: usize = 4096;

/// The columns of a segment. Row `i` of every column but `Empties` describes the same document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Column {
    /// The fingerprints, ascending.
    Fingerprints = 1,
    Ids = 2,
    /// Lengths of the texts, in UTF-8 bytes.
    Lengths = 3,
    /// Times, in seconds since 1970.
    Times = 4,
    Days = 5,
    /// The ids of documents that have no fingerprint, ascending.
    Empties = 6,
    Classes = 7,
    /// Signatures, by which near documents are confirmed.
    Checks = 8,
    /// The keys of the bands in which pages share a bucket.
    Bands = 10,
    Digests = 11,
    /// The anchors, by which pages that share much of their text find each other.
    Anchors = 12,
    /// The words of the texts, by which passages are found.
    Words = 13,
    /// The anchors of passages, by which pages that share a passage find each other.
    PassageAnchors = 14,
    /// Hashes of the keys, by which a page is known as a later version of another one.
    Keys = 15,
    /// What records declare of their pages, by which it is listed.
    Declared = 16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Coding {
    /// Blocks of fingerprints, each with its own codec.
    Blocks = 1,
    /// Lines of text, compressed by zstd.
    Text = 2,
    /// 64-bit integers as byte planes, compressed by zstd.
    Integers = 3,
    /// No blocks: the id is the number of the row in decimal.
    RowNumber = 4,
    /// No blocks: the id is the fingerprint in padded hex.
    Hex = 5,
    /// Bytes of equal length for each row, uncompressed; few rows, because single ones are looked up.
    Signatures = 8,
    /// The same with many rows, because all of them are read.
    Scanned = 9,
    /// Sketches of as many bytes as each needs, uncompressed, each behind its length.
    Sketches = 10,
    /// Bytes of each row, as many as it needs, each behind its length, compressed by zstd.
    PackedRows = 11,
    /// Anchors as sketches, with many rows, because all of them are read.
    Anchors = 12,
}

impl Column {
    const ALL: [Column; 15] = [
        Column::Fingerprints,
        Column::Ids,
        Column::Lengths,
        Column::Times,
        Column::Days,
        Column::Empties,
        Column::Classes,
        Column::Checks,
        Column::Bands,
        Column::Digests,
        Column::Anchors,
        Column::Words,
        Column::PassageAnchors,
        Column::Keys,
        Column::Declared,
    ];

    pub(crate) fn coding(self) -> Coding {
        match self {
            Column::Fingerprints => Coding::Blocks,
            Column::Ids | Column::Empties => Coding::Text,
            Column::Lengths | Column::Times | Column::Days | Column::Classes => Coding::Integers,
            Column::Checks | Column::Digests => Coding::Signatures,
            Column::Bands | Column::Keys => Coding::Scanned,
            Column::Anchors => Coding::Anchors,
            Column::Words | Column::PassageAnchors | Column::Declared => Coding::PackedRows,
        }
    }

    fn takes(self, coding: Coding) -> bool {
        let is_computed = matches!(coding, Coding::RowNumber | Coding::Hex);
        coding == self.coding()
            || self == Column::Ids && is_computed
            || self == Column::Checks && coding == Coding::Sketches
    }
}

impl Coding {
    const ALL: [Coding; 10] = {
        use Coding::*;
        [Blocks, Text, Integers, RowNumber, Hex, Signatures, Scanned, Sketches, PackedRows, Anchors]
    };

    /// Rows in every block but the last; 0 if there are no blocks.
    pub(crate) fn block_rows(self) -> u64 {
        match self {
            Coding::Blocks => BLOCK_ROWS as u64,
            Coding::Text => TEXT_ROWS as u64,
            Coding::Integers => INTEGER_ROWS as u64,
            Coding::Signatures | Coding::Sketches => SIGNATURE_ROWS as u64,
            Coding::Scanned | Coding::Anchors => SCANNED_ROWS as u64,
            Coding::PackedRows => PACKED_ROWS as u64,
            Coding::RowNumber | Coding::Hex => 0,
        }
    }

    pub(crate) fn is_packed(self) -> bool {
        self.most_unpacked().is_some()
    }

    /// The most bytes of a block before compression; none if blocks are not compressed.
    pub(crate) fn most_unpacked(self) -> Option<usize> {
        match self {
            Coding::Text | Coding::Integers => Some(MAX_UNPACKED_BYTES),
            Coding::PackedRows => Some(MAX_UNPACKED_ROWS_BYTES),
            _ => None,
        }
    }

    fn entry_bytes(self, width: Width) -> u64 {
        match self {
            Coding::Blocks => 12 + u64::from(width.bits() / 8),
            _ => 12,
        }
    }

    fn most_bytes(self, rows: u64, width: Width) -> u64 {
        match self {
            Coding::Blocks => block::most_bytes(rows, width),
            Coding::Signatures | Coding::Scanned => rows * MAX_SIGNATURE_BYTES as u64,
            Coding::Sketches => rows * (LENGTH_BYTES + MAX_SKETCH_BYTES) as u64,
            Coding::Anchors => rows * (LENGTH_BYTES + MAX_ANCHORS_BYTES) as u64,
            Coding::PackedRows => MAX_PACKED_ROWS_BYTES as u64,
            _ => MAX_PACKED_BYTES as u64,
        }
    }
}

/// Whether a page can have so many bytes of anchors.
pub(crate) fn is_anchors(bytes: usize) -> bool {
    (ANCHORS * ANCHOR_BYTES..=MAX_ANCHORS_BYTES).contains(&bytes)
        && bytes.is_multiple_of(ANCHOR_BYTES)
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IdKind {
    /// A text, stored in a column.
    #[default]
    Text,
    /// The number of the row in decimal. It takes no space. No fingerprint may occur twice (with days: not
    /// twice on one day).
    Numbers,
    /// The fingerprint in padded hex. It takes no space. No fingerprint may occur twice (with days: not
    /// twice on one day).
    None,
}

impl IdKind {
    pub(crate) fn coding(self) -> Coding {
        match self {
            IdKind::Text => Coding::Text,
            IdKind::Numbers => Coding::RowNumber,
            IdKind::None => Coding::Hex,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnHead {
    pub column: Column,
    pub coding: Coding,
    pub rows: u64,
    pub bytes: u64,
    /// The XXH3-128 of the entries of its blocks.
    pub entries: u128,
}

impl ColumnHead {
    pub(crate) fn blocks(&self) -> u64 {
        match self.coding.block_rows() {
            0 => 0,
            rows => self.rows.div_ceil(rows),
        }
    }

    pub(crate) fn entries_bytes(&self, width: Width) -> Option<u64> {
        self.blocks().checked_mul(self.coding.entry_bytes(width))
    }

    pub(crate) fn rows_of(&self, index: u64) -> u64 {
        let before = index * self.coding.block_rows();
        self.coding.block_rows().min(self.rows - before)
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend([self.column as u8, self.coding as u8, 0, 0]);
        out.extend((self.coding.block_rows() as u32).to_le_bytes());
        out.extend(self.rows.to_le_bytes());
        out.extend(self.bytes.to_le_bytes());
        out.extend(self.entries.to_le_bytes());
    }

    fn read(bytes: &[u8; COLUMN_BYTES]) -> Result<ColumnHead> {
        let column = Column::ALL.into_iter().find(|column| *column as u8 == bytes[0]);
        let coding = Coding::ALL.into_iter().find(|coding| *coding as u8 == bytes[1]);
        let (Some(column), Some(coding)) = (column, coding) else {
            return Err(damaged("the segment has an unknown column")
                .found(format_args!("column {}, coding {}", bytes[0], bytes[1]))
                .help("read it with the version of dupsieve that wrote it"));
        };
        let head = ColumnHead {
            column,
            coding,
            rows: u64_at(bytes, 8),
            bytes: u64_at(bytes, 16),
            entries: u128::from_le_bytes(bytes[24..40].try_into().expect("16 bytes")),
        };
        let block_rows = u64::from(u32_at(bytes, 4));
        if !column.takes(coding) || block_rows != coding.block_rows() || bytes[2..4] != [0; 2] {
            return Err(
                damaged("a column in the directory is invalid").found(format_args!("{head:?}"))
            );
        }
        Ok(head)
    }
}

/// Reads the table of columns and checks it: each column once, in order, with fingerprints and ids, all
/// with the same number of rows.
pub(crate) fn read_heads(table: &[u8]) -> Result<Vec<ColumnHead>> {
    let (columns, rest) = table.as_chunks::<COLUMN_BYTES>();
    let heads = columns.iter().map(ColumnHead::read).collect::<Result<Vec<ColumnHead>>>()?;
    let rows = heads.first().map_or(0, |head| head.rows);
    let alike = heads.iter().all(|head| head.rows == rows || head.column == Column::Empties);
    let ordered = heads.is_sorted_by(|a, b| a.column < b.column);
    let has = |column| heads.iter().any(|head| head.column == column);
    let complete = has(Column::Fingerprints) && has(Column::Ids);
    if !rest.is_empty() || !alike || !ordered || !complete {
        let error = damaged("the columns do not make a segment");
        return Err(error.found(format_args!("{heads:?}")));
    }
    Ok(heads)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    pub offset: u64,
    pub bytes: u32,
    pub checksum: u64,
}

impl Block {
    pub fn range(&self) -> Range<u64> {
        self.offset..self.offset + u64::from(self.bytes)
    }
}

#[derive(Debug, Default)]
pub struct Blocks {
    pub all: Vec<Block>,
    /// The first fingerprint of each block; empty for other columns.
    pub firsts: Vec<u128>,
}

impl Blocks {
    /// Reads the entries of column `head`, whose first block is at `offset`.
    pub(crate) fn read(
        head: &ColumnHead,
        width: Width,
        offset: u64,
        entries: &[u8],
    ) -> Result<Blocks> {
        if xxh3_128(entries) != head.entries {
            return Err(damaged("the checksum of a column's directory is wrong")
                .expected(format_args!("{:032x}", head.entries))
                .found(format_args!("{:032x}", xxh3_128(entries))));
        }
        let mut blocks = Blocks::default();
        let mut offset = offset;
        for entry in entries.chunks_exact(head.coding.entry_bytes(width) as usize) {
            let index = blocks.all.len() as u64;
            let block = Block { offset, bytes: u32_at(entry, 0), checksum: u64_at(entry, 4) };
            if u64::from(block.bytes) > head.coding.most_bytes(head.rows_of(index), width) {
                return Err(damaged("a block is longer than possible").found(block.bytes));
            }
            offset = block.range().end;
            blocks.all.push(block);
            if head.coding == Coding::Blocks {
                blocks.firsts.push(little_endian(&entry[12..]));
            }
        }
        let bytes = blocks.all.iter().map(|block| u64::from(block.bytes)).sum::<u64>();
        if bytes != head.bytes || !blocks.firsts.is_sorted() {
            return Err(damaged("the blocks of a column do not follow each other"));
        }
        Ok(blocks)
    }
}

/// Appends the directory entry of a block. `first` is its first fingerprint in bytes, or empty.
pub(crate) fn write_entry(block: &[u8], first: &[u8], out: &mut Vec<u8>) {
    out.extend((block.len() as u32).to_le_bytes());
    out.extend(xxh3_64(block).to_le_bytes());
    out.extend(first);
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    little_endian(&bytes[at..at + 4]) as u32
}

pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    little_endian(&bytes[at..at + 8]) as u64
}

fn little_endian(bytes: &[u8]) -> u128 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u128::from(byte))
}
