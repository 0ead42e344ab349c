//! A sorted table, being written.

use xxhash_rust::xxh3::xxh3_64;

use super::bytes::{push_number, shared};
use super::table::{Content, HEAD, MAGIC, VERSION, index_checksum};
use crate::error::{Error, Kind, Result};
use crate::output::{OutputFile, Staging, Sum};
use crate::progress::{self, Activity};

/// A block ends once it has so many bytes.
const BLOCK: usize = 8 << 10;

/// A file of a state: its name and its sum.
pub(in crate::rooms::clusters) type Named = (String, Sum);

/// A table that is written row by row.
pub(super) struct TableWriter {
    name: String,
    file: OutputFile,
    block: Vec<u8>,
    /// Where the block begins, and its first row.
    offset: u64,
    first_row: u64,
    first_key: Vec<u8>,
    last_key: Vec<u8>,
    index: Vec<u8>,
    blocks: u64,
    rows: u64,
}

impl TableWriter {
    pub(super) fn create(staging: &Staging, layer: u32, content: Content) -> Result<TableWriter> {
        let name = content.file_of(layer);
        let mut file = staging.create(&name)?;
        file.write(|out| {
            out.write_all(&MAGIC)?;
            out.write_all(&VERSION.to_le_bytes())?;
            out.write_all(&(content as u32).to_le_bytes())
        })?;
        Ok(TableWriter {
            name,
            file,
            block: Vec::new(),
            offset: HEAD as u64,
            first_row: 0,
            first_key: Vec::new(),
            last_key: Vec::new(),
            index: Vec::new(),
            blocks: 0,
            rows: 0,
        })
    }

    /// How many rows were written.
    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// Writes the next row.
    ///
    /// # Errors
    /// [`Kind::BadData`] if its key is not larger than the last: what it was made from is damaged.
    pub(super) fn push(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        if self.rows > 0 && self.last_key.as_slice() >= key {
            return Err(Error::new(Kind::BadData, "the rows of the clusters are not in order")
                .help("the state is damaged: make the clusters again, from nothing"));
        }
        if self.block.len() >= BLOCK {
            self.end_block()?;
        }
        let mut same = shared(&self.last_key, key);
        if self.block.is_empty() {
            self.first_key = key.to_vec();
            same = 0;
        }
        for number in [same, key.len() - same, value.len()] {
            push_number(&mut self.block, number as u64);
        }
        self.block.extend_from_slice(&key[same..]);
        self.block.extend_from_slice(value);
        self.last_key.truncate(same);
        self.last_key.extend_from_slice(&key[same..]);
        self.rows += 1;
        Ok(())
    }

    fn end_block(&mut self) -> Result<()> {
        progress::tick(Activity::Writing);
        let checksum = xxh3_64(&self.block);
        for number in [self.offset, self.first_row, checksum] {
            self.index.extend_from_slice(&number.to_le_bytes());
        }
        self.index.extend_from_slice(&(self.first_key.len() as u32).to_le_bytes());
        self.index.extend_from_slice(&self.first_key);
        self.file.write(|out| out.write_all(&self.block))?;
        self.blocks += 1;
        self.offset += self.block.len() as u64;
        self.first_row = self.rows;
        self.block.clear();
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Named> {
        if !self.block.is_empty() {
            self.end_block()?;
        }
        let TableWriter { name, mut file, index, offset, blocks, rows, .. } = self;
        let checksum = index_checksum(&index, offset, blocks, rows);
        file.write(|out| {
            out.write_all(&index)?;
            let numbers = [offset, blocks, rows, checksum];
            numbers.iter().try_for_each(|number| out.write_all(&number.to_le_bytes()))?;
            out.write_all(&MAGIC)
        })?;
        Ok((name, file.finish()?))
    }
}
