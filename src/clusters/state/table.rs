//! A sorted table in a file: keys that ascend, each with a value, in blocks with checksums. FORMAT.md describes it.
//!
//! ```text
//! head   block   block   ...   index: the first key, place and checksum of each block   tail
//! ```
//!
//! Only the index is in memory. A key is looked for in one block, which is read and checked.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::bytes::word;
use crate::error::{At, Error, Kind, Result, named};

/// The first bytes of the file, and the last.
pub(super) const MAGIC: [u8; 8] = *b"DUPSTABL";
/// The version of the format.
pub(super) const VERSION: u32 = 1;
/// The bytes before the first block: magic, version and content.
pub(super) const HEAD: usize = 16;
/// The bytes after the index: its place, how many blocks and rows there are, a checksum, and the magic.
const TAIL: usize = 40;
/// The bytes of a block in the index, before its key: its place, its first row, its checksum, the key's length.
const ENTRY: usize = 28;
/// The most bytes of a block. One ends after about 8 KiB, but its last row may be long.
const LONGEST_BLOCK: u64 = 512 << 10;

/// The least bytes of a row: three numbers.
const LEAST_ROW: u64 = 3;

/// What the rows of a table are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    Pages,
    Groups,
    Links,
}

named!(pub(super) Content { Pages = "pages", Groups = "groups", Links = "links" });

impl Content {
    /// The name of the file in which a layer has these rows.
    pub(super) fn file_of(self, layer: u32) -> String {
        format!("{self}-{layer}.bin")
    }
}

/// A block, as the index has it.
#[derive(Debug)]
struct Block {
    offset: u64,
    first_row: u64,
    checksum: u64,
    /// Where its first key ends in `keys`.
    key_end: usize,
}

/// A table, open for reading.
#[derive(Debug)]
pub(super) struct Table {
    path: PathBuf,
    file: File,
    blocks: Vec<Block>,
    keys: Vec<u8>,
    /// Where the last block ends.
    end: u64,
    rows: u64,
}

impl Table {
    /// Opens the table of a layer and reads its index.
    pub(super) fn open(folder: &Path, layer: u32, content: Content) -> Result<Table> {
        let path = folder.join(content.file_of(layer));
        let file = File::open(&path).at(&path)?;
        let bytes = file.metadata().at(&path)?.len();
        let blocks = Vec::new();
        let mut table = Table { path, file, blocks, keys: Vec::new(), end: 0, rows: 0 };
        table.check_head(content)?;
        let Some(tail_at) = bytes.checked_sub(TAIL as u64) else {
            return Err(table.damaged("the file ends early"));
        };
        let tail: [u8; TAIL] = table.read(tail_at)?;
        let [end, blocks, rows, checksum] =
            [0, 8, 16, 24].map(|at| u64::from_le_bytes(word(&tail, at)));
        if word(&tail, 32) != MAGIC {
            return Err(table.damaged("the file ends early"));
        }
        if end < HEAD as u64 || end > tail_at || blocks > (tail_at - end) / ENTRY as u64 {
            return Err(table.damaged("the place of the index is wrong"));
        }
        let mut index = vec![0; (tail_at - end) as usize];
        table.file.read_exact_at(&mut index, end).at(&table.path)?;
        if index_checksum(&index, end, blocks, rows) != checksum {
            return Err(table.damaged("the checksum of the index is wrong"));
        }
        (table.end, table.rows) = (end, rows);
        match table.take_index(&index, blocks) {
            Some(()) => Ok(table),
            None => Err(table.damaged("the index contradicts itself")),
        }
    }

    fn check_head(&self, content: Content) -> Result<()> {
        let head: [u8; HEAD] = self.read(0)?;
        if word(&head, 0) != MAGIC {
            return Err(self.damaged("this is no table of clusters"));
        }
        let [version, found] = [8, 12].map(|at| u32::from_le_bytes(word(&head, at)));
        if version != VERSION {
            let error = self.damaged("the version of this file is not known");
            return Err(error.expected(VERSION).found(version));
        }
        match found == content as u32 {
            true => Ok(()),
            false => Err(self.damaged("this is another sort of table")),
        }
    }

    /// Takes the entries of the index, if the entries agree with each other and with the length of
    /// the file.
    fn take_index(&mut self, mut index: &[u8], blocks: u64) -> Option<()> {
        self.blocks.reserve_exact(blocks as usize);
        for _ in 0..blocks {
            let (entry, rest) = index.split_at_checked(ENTRY)?;
            let [offset, first_row, checksum] =
                [0, 8, 16].map(|at| u64::from_le_bytes(word(entry, at)));
            let (key, rest) = rest.split_at_checked(u32::from_le_bytes(word(entry, 24)) as usize)?;
            index = rest;
            let follows = match self.blocks.last() {
                None => offset == HEAD as u64 && first_row == 0,
                Some(last) => {
                    fits(last, offset, first_row) && key > self.key(self.blocks.len() - 1)
                }
            };
            if !follows {
                return None;
            }
            self.keys.extend_from_slice(key);
            let key_end = self.keys.len();
            self.blocks.push(Block { offset, first_row, checksum, key_end });
        }
        let ends = match self.blocks.last() {
            Some(last) => fits(last, self.end, self.rows),
            None => self.end == HEAD as u64 && self.rows == 0,
        };
        (ends && index.is_empty()).then_some(())
    }

    /// Reads some bytes.
    fn read<const N: usize>(&self, offset: u64) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        match self.file.read_exact_at(&mut bytes, offset) {
            Err(cause) if cause.kind() == std::io::ErrorKind::UnexpectedEof => {
                Err(self.damaged("the file ends early"))
            }
            read => read.at(&self.path).map(|()| bytes),
        }
    }

    /// Reads a block into `bytes`, and returns the numbers of its first row and of the first row after it.
    pub(super) fn read_block(&self, number: usize, bytes: &mut Vec<u8>) -> Result<(u64, u64)> {
        let block = &self.blocks[number];
        let next = self.blocks.get(number + 1);
        let (end, end_row) = next.map_or((self.end, self.rows), |it| (it.offset, it.first_row));
        bytes.resize((end - block.offset) as usize, 0);
        self.file.read_exact_at(bytes, block.offset).at(&self.path)?;
        if xxh3_64(bytes) != block.checksum {
            return Err(self.damaged("the checksum of a block is wrong").offset(block.offset));
        }
        Ok((block.first_row, end_row))
    }

    /// How many blocks there are.
    pub(super) fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// How many rows there are.
    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// The first key of a block.
    pub(super) fn key(&self, block: usize) -> &[u8] {
        let start = block.checked_sub(1).map_or(0, |before| self.blocks[before].key_end);
        &self.keys[start..self.blocks[block].key_end]
    }

    /// The first row of a block.
    pub(super) fn first_row(&self, block: usize) -> u64 {
        self.blocks[block].first_row
    }

    /// The folder of the file.
    pub(super) fn folder(&self) -> Option<&Path> {
        self.path.parent()
    }

    /// The error for a file that is not as it was written.
    pub(super) fn damaged(&self, what: &str) -> Error {
        Error::new(Kind::BadData, what).at(&self.path).help("make the clusters again, from nothing")
    }
}

/// Whether a block can end at this offset and before this row: the block has at least one row,
/// enough bytes for its rows, and not too many.
fn fits(block: &Block, end: u64, end_row: u64) -> bool {
    let Some(bytes) = end.checked_sub(block.offset) else { return false };
    let rows = end_row.saturating_sub(block.first_row);
    rows > 0 && bytes <= LONGEST_BLOCK && rows <= bytes / LEAST_ROW
}

/// The checksum of an index and of the numbers after it.
pub(super) fn index_checksum(index: &[u8], end: u64, blocks: u64, rows: u64) -> u64 {
    let mut hash = Xxh3::new();
    hash.update(index);
    [end, blocks, rows].iter().for_each(|number| hash.update(&number.to_le_bytes()));
    hash.digest()
}
