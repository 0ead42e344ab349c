//! A segment that is open: what it says of itself, and its bytes.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use xxhash_rust::xxh3::xxh3_64;

use crate::error::{At, Error, Kind, Result};
use crate::fingerprint::{Fingerprint, Width};
use crate::output::{Sum, has_magic};
use crate::store::damage::damaged;
use crate::store::digest::Digest;

use super::block::{self, Codec, unknown};
use super::directory::{Block, Blocks, Coding, Column, Head, IdKind, read_heads};
use super::metadata::{Counts, MAGIC, Metadata, content_digest};
use super::source::{Placed, Source, TRAILER_BYTES};

/// An open segment. It is read by position, so one can serve many threads; a clone is the same
/// segment.
#[derive(Clone)]
pub struct Segment(pub(super) Arc<Opened>);

pub(super) struct Opened {
    path: PathBuf,
    pub(super) file: File,
    /// The same file for reads past the system's cache, once there were any, or none if it cannot be
    /// read so.
    pub(super) direct: OnceLock<Option<File>>,
    bytes_read: AtomicU64,
    bytes: u64,
    width: Width,
    columns: Vec<Placed>,
    metadata: Metadata,
    digest: Digest,
}

/// What one column takes, for people to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnSize {
    /// Which column.
    pub column: Column,
    /// How it is coded.
    pub coding: Coding,
    /// Its rows.
    pub rows: u64,
    /// The bytes of its blocks.
    pub bytes: u64,
}

impl Segment {
    /// Opens the segment at `path` and checks its header, its trailer, its directory and where all
    /// its blocks stand. What the blocks hold is checked when they are read, or by
    /// [`Segment::verify`].
    ///
    /// # Errors
    /// A missing file is [`Kind::Missing`], anything but a whole segment of this version
    /// [`Kind::BadData`].
    pub fn open(path: impl AsRef<Path>) -> Result<Segment> {
        let path = path.as_ref();
        let file = File::open(path).at(path)?;
        let metadata = file.metadata().at(path)?;
        if !metadata.is_file() {
            return Err(Error::new(Kind::BadData, "this is not a segment")
                .at(path)
                .found("no file"));
        }
        let bytes = metadata.len();
        let source = Source { path, file: &file };
        let width = source.header(bytes)?;
        let (table, metadata, digest) = source.ending(bytes)?;
        let heads = read_heads(&source.read(table.clone())?)
            .map_err(|error| error.at(path).offset(table.start))?;
        let columns = source.place(heads, width, table.start)?;
        let found = content_digest(width, &source.read(table)?, &metadata.stamp);
        if found != digest {
            return Err(damaged("the digest of the contents is wrong")
                .at(path)
                .offset(bytes - TRAILER_BYTES + 32)
                .expected(digest)
                .found(found));
        }
        let path = path.to_path_buf();
        let (direct, bytes_read) = (OnceLock::new(), AtomicU64::new(0));
        let opened =
            Opened { path, file, direct, bytes_read, bytes, width, columns, metadata, digest };
        let segment = Segment(Arc::new(opened));
        segment.blocks(Column::Fingerprints)?;
        Ok(segment)
    }

    /// Whether a file of this format stands at `path`, sound or damaged.
    pub fn stands_at(path: impl AsRef<Path>) -> Result<bool> {
        has_magic(path.as_ref(), &MAGIC[..])
    }

    /// Where it stands.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// The size of the file.
    pub fn bytes(&self) -> u64 {
        self.0.bytes
    }

    /// The width of its fingerprints.
    pub fn width(&self) -> Width {
        self.0.width
    }

    /// The number of its fingerprints.
    pub fn rows(&self) -> u64 {
        self.rows_of(Column::Fingerprints)
    }

    /// The number of documents without a fingerprint.
    pub fn empties(&self) -> u64 {
        self.rows_of(Column::Empties)
    }

    /// The stamp of the recipe that made its fingerprints.
    pub fn stamp(&self) -> &str {
        &self.0.metadata.stamp
    }

    /// What became of the records it was made from.
    pub fn counts(&self) -> Counts {
        self.0.metadata.counts
    }

    /// The list of the records that could not be read, as it was written beside the segment.
    pub fn quarantine(&self) -> Option<&Sum> {
        self.0.metadata.quarantine.as_ref()
    }

    /// The list of the documents whose ids came before, as it was written beside the segment.
    pub fn repeated(&self) -> Option<&Sum> {
        self.0.metadata.repeated.as_ref()
    }

    /// What it was made from, in its maker's words.
    pub fn identity(&self) -> &str {
        &self.0.metadata.identity
    }

    /// The digest of its contents: equal for equal rows of the same recipe.
    pub fn digest(&self) -> Digest {
        self.0.digest
    }

    /// How its rows are named.
    pub fn id_kind(&self) -> IdKind {
        match self.column(Column::Ids).map(|placed| placed.head.coding) {
            Some(Coding::RowNumber) => IdKind::Numbers,
            Some(Coding::Hex) => IdKind::None,
            _ => IdKind::Text,
        }
    }

    /// Whether it keeps the lengths of the texts.
    pub fn has_lengths(&self) -> bool {
        self.column(Column::Lengths).is_some()
    }

    /// Whether it keeps times.
    pub fn has_times(&self) -> bool {
        self.column(Column::Times).is_some()
    }

    /// Whether it keeps classes; without them all rows are of one.
    pub fn has_classes(&self) -> bool {
        self.column(Column::Classes).is_some()
    }

    /// The codecs of its fingerprint blocks, and the bytes of these.
    ///
    /// # Errors
    /// A codec that is not known is [`Kind::BadData`].
    pub fn codecs(&self) -> Result<BTreeMap<Codec, u64>> {
        let (mut codecs, mut number) = (BTreeMap::new(), Vec::new());
        for block in &self.fingerprint_blocks().all {
            self.read(block.offset..block.offset + 1, &mut number)?;
            let codec = Codec::of(number[0])
                .ok_or_else(|| unknown(number[0]).at(self.path()).offset(block.offset))?;
            *codecs.entry(codec).or_default() += u64::from(block.bytes);
        }
        Ok(codecs)
    }

    /// Whether it keeps the day of each row.
    pub fn has_days(&self) -> bool {
        self.column(Column::Days).is_some()
    }

    /// The bytes of the signature of each row, 0 where it keeps none.
    pub fn check_bytes(&self) -> usize {
        let column = self.column(Column::Checks);
        column.map_or(0, |placed| {
            placed.head.bytes.checked_div(placed.head.rows).unwrap_or(0) as usize
        })
    }

    /// Its columns and their sizes.
    pub fn columns(&self) -> impl Iterator<Item = ColumnSize> {
        self.0.columns.iter().map(|Placed { head, .. }| {
            let Head { column, coding, rows, bytes, .. } = *head;
            ColumnSize { column, coding, rows, bytes }
        })
    }

    /// The first fingerprint and the bytes of each of its fingerprint blocks, in order.
    pub fn cuts(&self) -> impl Iterator<Item = (u128, u64)> {
        let blocks = self.fingerprint_blocks();
        let bytes = blocks.all.iter().map(|block| u64::from(block.bytes));
        blocks.firsts.iter().copied().zip(bytes)
    }

    /// The blocks of the fingerprint column, which are read when the segment is opened.
    pub(crate) fn fingerprint_blocks(&self) -> &Blocks {
        self.blocks(Column::Fingerprints).expect("an open segment has read its fingerprint blocks")
    }

    /// The rows in block `index` of `column`.
    pub(crate) fn rows_in(&self, column: Column, index: usize) -> usize {
        self.column(column).map_or(0, |placed| placed.head.rows_of(index as u64) as usize)
    }

    /// The blocks of `column`.
    pub(crate) fn blocks(&self, column: Column) -> Result<&Blocks> {
        let Some(placed) = self.column(column) else {
            return Err(damaged("the segment lacks a column")
                .at(self.path())
                .expected(column_name(column)));
        };
        if let Some(blocks) = placed.blocks.get() {
            return Ok(blocks);
        }
        let source = Source { path: &self.0.path, file: &self.0.file };
        let entries = source.read(placed.entries.clone())?;
        let blocks = Blocks::read(&placed.head, self.width(), placed.offset, &entries)
            .map_err(|error| error.at(self.path()).offset(placed.entries.start))?;
        Ok(placed.blocks.get_or_init(|| blocks))
    }

    /// How many bytes of its blocks have been read since it was opened, by whomever.
    pub fn bytes_read(&self) -> u64 {
        self.0.bytes_read.load(Ordering::Relaxed)
    }

    /// Counts what was read.
    pub(crate) fn count(&self, bytes: u64) {
        self.0.bytes_read.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Makes `bytes` those of the file in `range`.
    pub(crate) fn read(&self, range: Range<u64>, bytes: &mut Vec<u8>) -> Result<()> {
        self.count(range.end - range.start);
        Source { path: &self.0.path, file: &self.0.file }.read_into(range, bytes)
    }

    /// Fails unless `bytes` are those that `block` was written with.
    pub(crate) fn check(&self, block: &Block, bytes: &[u8]) -> Result<()> {
        match xxh3_64(bytes) {
            found if found == block.checksum => Ok(()),
            found => Err(damaged("the checksum of a block is wrong")
                .at(self.path())
                .offset(block.offset)
                .expected(format_args!("{:016x}", block.checksum))
                .found(format_args!("{found:016x}"))),
        }
    }

    /// Makes `out` the fingerprints of fingerprint block `index`, whose bytes these are; of a segment
    /// that [is split](Segment::is_split) their cold bits are zeros.
    pub(crate) fn decode<F: Fingerprint>(
        &self,
        index: usize,
        bytes: &[u8],
        out: &mut [F],
    ) -> Result<()> {
        let blocks = self.fingerprint_blocks();
        let split = bytes.first().copied().and_then(Codec::of) == Some(Codec::HotCold);
        let decoded = match split == self.is_split() {
            true => block::decode(bytes, F::from_u128(blocks.firsts[index]), out),
            false => Err(damaged("cold bits are where they should not be, or nowhere")),
        };
        decoded.map_err(|error| error.at(self.path()).offset(blocks.all[index].offset))
    }

    pub(super) fn column(&self, column: Column) -> Option<&Placed> {
        self.0.columns.iter().find(|placed| placed.head.column == column)
    }

    fn rows_of(&self, column: Column) -> u64 {
        self.column(column).map_or(0, |placed| placed.head.rows)
    }
}

impl fmt::Debug for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Segment({}, {})", self.path().display(), self.digest())
    }
}

fn column_name(column: Column) -> String {
    format!("{column:?}").to_lowercase()
}
