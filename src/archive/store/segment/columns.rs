//! The columns of a segment that is being written. Each collects rows and writes a block when it is full.

use std::fs::File;
use std::io::{BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_128;

use crate::error::{At, Result};
use crate::fingerprint::Fingerprint;
use crate::output::parent_of;
use crate::progress::{self, Activity};

use super::block::{self, BLOCK_ROWS, Codec};
use super::directory::{Coding, Column, Head, write_entry};
use super::packed::{Packer, write_planes};
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

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn head(&self, column: Column, coding: Coding, rows: u64) -> Head {
        Head { column, coding, rows, bytes: self.bytes, entries: xxh3_128(&self.entries) }
    }
}

/// A column other than the fingerprints. It is in an unnamed file until the segment is finished.
pub(crate) type Spool = BlockWriter<File>;

impl Spool {
    pub(crate) fn beside(path: &Path) -> Result<Spool> {
        let file = tempfile::tempfile_in(parent_of(path)).at(path)?;
        Ok(BlockWriter::new(file, path))
    }

    pub(crate) fn append_to(&mut self, segment: &mut impl Write) -> Result<()> {
        self.out.flush().at(&self.path)?;
        let mut file = self.out.get_ref();
        file.rewind().at(&self.path)?;
        let copied = std::io::copy(&mut file.take(self.bytes), segment).at(&self.path)?;
        assert_eq!(copied, self.bytes, "an unnamed file keeps what was written");
        Ok(())
    }
}

pub(crate) trait Spooled {
    /// Writes the last block, then all of them to the end of `segment`. Returns the column and the entries of its blocks.
    fn append_to(&mut self, segment: &mut impl Write) -> Result<(Head, &[u8])>;
}

/// The columns at the end of a segment that is being finished, in the order of their numbers, and its directory.
pub(crate) struct Ending<'a, W> {
    pub out: &'a mut W,
    pub heads: Vec<Head>,
    pub entries: Vec<u8>,
}

impl<W: Write> Ending<'_, W> {
    pub(crate) fn append(&mut self, column: Option<&mut impl Spooled>) -> Result<()> {
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

    pub(crate) fn finish(&mut self) -> Result<Head> {
        self.flush()?;
        Ok(self.blocks.head(Column::Fingerprints, Coding::Blocks, self.rows))
    }
}

pub(crate) struct PackedColumn<C> {
    column: Column,
    spool: Spool,
    packer: Packer,
    rows: u64,
    gathered: C,
    plain: Vec<u8>,
    packed: Vec<u8>,
}

pub(crate) trait Gather: Default {
    const CODING: Coding;
    fn drain_into(&mut self, plain: &mut Vec<u8>);
}

impl<C: Gather> PackedColumn<C> {
    pub(crate) fn beside(path: &Path, column: Column) -> Result<PackedColumn<C>> {
        Ok(PackedColumn {
            column,
            spool: Spool::beside(path)?,
            packer: Packer::new().at(path)?,
            rows: 0,
            gathered: C::default(),
            plain: Vec::new(),
            packed: Vec::new(),
        })
    }

    fn row_added(&mut self) -> Result<()> {
        self.rows += 1;
        if self.rows.is_multiple_of(C::CODING.block_rows()) { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        self.plain.clear();
        self.gathered.drain_into(&mut self.plain);
        self.packer.pack(&self.plain, &mut self.packed).at(&self.spool.path)?;
        self.spool.put(&self.packed, &[])
    }
}

impl<C: Gather> Spooled for PackedColumn<C> {
    fn append_to(&mut self, segment: &mut impl Write) -> Result<(Head, &[u8])> {
        if !self.rows.is_multiple_of(C::CODING.block_rows()) {
            self.flush()?;
        }
        self.spool.append_to(segment)?;
        Ok((self.spool.head(self.column, C::CODING, self.rows), &self.spool.entries))
    }
}

#[derive(Default)]
pub(crate) struct TextRows(Vec<u8>);

impl Gather for TextRows {
    const CODING: Coding = Coding::Text;

    fn drain_into(&mut self, plain: &mut Vec<u8>) {
        plain.append(&mut self.0);
    }
}

impl PackedColumn<TextRows> {
    pub(crate) fn push(&mut self, id: &str) -> Result<()> {
        self.gathered.0.extend(id.as_bytes());
        self.gathered.0.push(b'\n');
        self.row_added()
    }
}

#[derive(Default)]
pub(crate) struct IntegerRows(Vec<u64>);

impl Gather for IntegerRows {
    const CODING: Coding = Coding::Integers;

    fn drain_into(&mut self, plain: &mut Vec<u8>) {
        write_planes(&self.0, plain);
        self.0.clear();
    }
}

impl PackedColumn<IntegerRows> {
    pub(crate) fn push(&mut self, integer: u64) -> Result<()> {
        self.gathered.0.push(integer);
        self.row_added()
    }
}
