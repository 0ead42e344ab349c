//! The columns of a segment that is being written. Each collects rows and writes a block when it is full.

use std::fs::File;
use std::io::{BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_128;

use crate::error::{At, Error, Kind, Result};
use crate::fingerprint::Fingerprint;
use crate::fingerprint::check::{
    ANCHOR_BYTES, ANCHORS, AS_NEEDED, MAX_ANCHORS_BYTES, MAX_SKETCH_BYTES,
};
use crate::output::parent_of;
use crate::progress::{self, Activity};

use super::block::{self, BLOCK_ROWS, Codec};
use super::directory::{
    Coding, Column, ColumnHead, DIGEST_BYTES, LENGTH_BYTES, PACKED_LENGTH_BYTES, is_anchors,
    write_entry,
};
use super::packed::{MAX_PACKED_ROW_BYTES, Packer, planes};
use super::words::bytes_of;

const BUFFER_BYTES: usize = 1 << 18;

pub(crate) struct BlockWriter<W: Write> {
    pub out: BufWriter<W>,
    path: PathBuf,
    pub entries: Vec<u8>,
    bytes: u64,
}

impl<W: Write> BlockWriter<W> {
    pub(crate) fn new(out: W, path: &Path) -> BlockWriter<W> {
        let out = BufWriter::with_capacity(BUFFER_BYTES, out);
        BlockWriter { out, path: path.to_path_buf(), entries: Vec::new(), bytes: 0 }
    }

    pub(crate) fn put(&mut self, block: &[u8], first: &[u8]) -> Result<()> {
        progress::tick(Activity::Writing);
        write_entry(block, first, &mut self.entries);
        self.bytes += block.len() as u64;
        self.out.write_all(block).at(&self.path)
    }

    pub(crate) fn head(&self, column: Column, coding: Coding, rows: u64) -> ColumnHead {
        ColumnHead { column, coding, rows, bytes: self.bytes, entries: xxh3_128(&self.entries) }
    }
}

/// The columns at the end of a segment that is being finished, in the order of their numbers, and its directory.
pub(crate) struct Ending<'a, W> {
    pub out: &'a mut W,
    pub heads: Vec<ColumnHead>,
    pub entries: Vec<u8>,
}

impl<W: Write> Ending<'_, W> {
    pub(crate) fn append(&mut self, column: Option<&mut SpooledColumn>) -> Result<()> {
        let Some(column) = column else { return Ok(()) };
        let (head, entries) = column.append_to(self.out)?;
        self.heads.push(head);
        self.entries.extend(entries);
        Ok(())
    }
}

pub(crate) struct FingerprintColumn<F, W: Write> {
    pub blocks: BlockWriter<W>,
    codec: Codec,
    gathered: Vec<F>,
    block: Vec<u8>,
    pub rows: u64,
}

impl<F: Fingerprint, W: Write> FingerprintColumn<F, W> {
    pub(crate) fn new(out: W, path: &Path, codec: Codec) -> FingerprintColumn<F, W> {
        let gathered = Vec::with_capacity(BLOCK_ROWS);
        let blocks = BlockWriter::new(out, path);
        FingerprintColumn { blocks, codec, gathered, block: Vec::new(), rows: 0 }
    }

    pub(crate) fn push(&mut self, fingerprint: F) -> Result<()> {
        self.gathered.push(fingerprint);
        self.rows += 1;
        if self.gathered.len() == BLOCK_ROWS { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        let Some(first) = self.gathered.first() else { return Ok(()) };
        block::encode(self.codec, &self.gathered, &mut self.block);
        self.blocks.put(&self.block, &first.to_u128().to_le_bytes()[..bytes_of::<F>()])?;
        self.gathered.clear();
        Ok(())
    }

    pub(crate) fn finish(&mut self) -> Result<ColumnHead> {
        self.flush()?;
        Ok(self.blocks.head(Column::Fingerprints, Coding::Blocks, self.rows))
    }
}

/// A column other than the fingerprints. Its blocks are in an unnamed file until the segment is finished.
pub(crate) struct SpooledColumn {
    column: Column,
    coding: Coding,
    /// The bytes of each row, where they are as many in all rows.
    row_bytes: usize,
    blocks: BlockWriter<File>,
    rows: u64,
    /// The rows of the last block.
    block: Vec<u8>,
    packer: Option<Packer>,
    packed: Vec<u8>,
}

impl SpooledColumn {
    /// An empty column of the segment at `path`. A row has so many `row_bytes`, if segments differ in them.
    pub(crate) fn beside(path: &Path, column: Column, row_bytes: usize) -> Result<SpooledColumn> {
        let coding = if row_bytes == AS_NEEDED { Coding::Sketches } else { column.coding() };
        let file = tempfile::tempfile_in(parent_of(path)).at(path)?;
        Ok(SpooledColumn {
            column,
            coding,
            row_bytes: match column {
                Column::Digests | Column::Keys => DIGEST_BYTES,
                _ => row_bytes,
            },
            blocks: BlockWriter::new(file, path),
            rows: 0,
            block: Vec::new(),
            packer: coding.is_packed().then(Packer::new).transpose().at(path)?,
            packed: Vec::new(),
        })
    }

    pub(crate) fn push_id(&mut self, id: &str) -> Result<()> {
        self.block.extend(id.as_bytes());
        self.block.push(b'\n');
        self.row_added()
    }

    pub(crate) fn push_integer(&mut self, integer: u64) -> Result<()> {
        self.block.extend(integer.to_le_bytes());
        self.row_added()
    }

    pub(crate) fn push_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        let length_bytes = match self.coding {
            Coding::Sketches if bytes.len() <= MAX_SKETCH_BYTES => LENGTH_BYTES,
            Coding::Anchors if is_anchors(bytes.len()) => LENGTH_BYTES,
            Coding::PackedRows if bytes.len() <= MAX_PACKED_ROW_BYTES => PACKED_LENGTH_BYTES,
            Coding::Signatures | Coding::Scanned if bytes.len() == self.row_bytes => 0,
            _ => return Err(self.misfit(bytes.len())),
        };
        self.block.extend(&bytes.len().to_le_bytes()[..length_bytes]);
        self.block.extend(bytes);
        self.row_added()
    }

    fn misfit(&self, found: usize) -> Error {
        let expected = match self.coding {
            Coding::Sketches => format!("at most {MAX_SKETCH_BYTES} bytes"),
            Coding::Anchors => format!("{} to {MAX_ANCHORS_BYTES} bytes", ANCHORS * ANCHOR_BYTES),
            Coding::PackedRows => format!("at most {MAX_PACKED_ROW_BYTES} bytes"),
            _ => format!("{} bytes", self.row_bytes),
        };
        Error::new(Kind::BadData, "a row does not have what its segment keeps of each row")
            .expected(format_args!("{expected} for the column {:?}", self.column))
            .found(found)
    }

    fn row_added(&mut self) -> Result<()> {
        self.rows += 1;
        if self.rows.is_multiple_of(self.coding.block_rows()) { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        if self.coding == Coding::Integers {
            self.block = planes(&self.block);
        }
        let block = match &mut self.packer {
            Some(packer) => {
                packer.pack(&self.block, &mut self.packed).at(&self.blocks.path)?;
                &self.packed
            }
            None => &self.block,
        };
        self.blocks.put(block, &[])?;
        self.block.clear();
        Ok(())
    }

    /// Writes the last block, then all of them to the end of `segment`. Returns the column and the entries of its blocks.
    fn append_to(&mut self, segment: &mut impl Write) -> Result<(ColumnHead, &[u8])> {
        if !self.rows.is_multiple_of(self.coding.block_rows()) {
            self.flush()?;
        }
        let BlockWriter { out, path, bytes, .. } = &mut self.blocks;
        out.flush().at(&*path)?;
        let mut file = out.get_ref();
        file.rewind().at(&*path)?;
        let copied = std::io::copy(&mut file.take(*bytes), segment).at(path)?;
        assert_eq!(copied, *bytes, "an unnamed file keeps what was written");
        Ok((self.blocks.head(self.column, self.coding, self.rows), &self.blocks.entries))
    }
}
