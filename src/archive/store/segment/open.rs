//! An open segment: what it says about itself, and its bytes.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use xxhash_rust::xxh3::xxh3_64;

use crate::error::{At, Error, Kind, Named, Result};
use crate::fingerprint::check::AS_NEEDED;
use crate::fingerprint::{Fingerprint, Width};
use crate::object_storage::{Remote, far};
use crate::output::{Sum, has_magic};
use crate::parallel::in_parallel;
use crate::store::damage::damaged;
use crate::store::digest::Digest;

use super::block::{self, Codec, unknown};
use super::directory::{Block, Blocks, Coding, Column, ColumnHead, IdKind, read_heads};
use super::metadata::{MAGIC, Metadata, RecordCounts, content_digest};
use super::source::{Placed, SegmentFile, TRAILER_BYTES};

const ASKED_AT_ONCE: usize = 32;

/// An open segment. Reads do not move a file position, so many threads can share it. A clone is the same
/// open file.
#[derive(Clone)]
pub struct Segment(pub(super) Arc<Opened>);

pub(super) struct Opened {
    pub(super) source: SegmentFile,
    /// The file opened for direct reads, which bypass the cache of the system, after the first such read.
    /// `None` inside if the file system has no direct reads.
    pub(super) direct: OnceLock<Option<File>>,
    bytes_read: AtomicU64,
    bytes: u64,
    width: Width,
    columns: Vec<Placed>,
    metadata: Metadata,
    digest: Digest,
}

impl Segment {
    /// Opens the segment at `path` and checks its header, its trailer and the directory of its blocks. The
    /// blocks themselves are checked when they are read, or by [`Segment::verify`].
    ///
    /// # Errors
    /// A missing file is [`Kind::Missing`]; anything but a complete segment of this format version is
    /// [`Kind::BadData`].
    pub fn open(path: impl AsRef<Path>) -> Result<Segment> {
        let path = path.as_ref();
        Segment::over(path, File::open(path).at(path)?, far(path)?)
    }

    /// Opens the segment of `file`, which is at `path`, or of the bytes that are `remote`.
    pub(super) fn over(
        path: &Path,
        file: File,
        remote: Option<Arc<dyn Remote>>,
    ) -> Result<Segment> {
        let metadata = file.metadata().at(path)?;
        if !metadata.is_file() {
            return Err(Error::new(Kind::BadData, "this is not a segment")
                .at(path)
                .found("a folder or a device"));
        }
        let bytes = remote.as_ref().map_or(metadata.len(), |remote| remote.bytes());
        let source = SegmentFile { path: path.to_path_buf(), file, remote };
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
        let segment = Segment(Arc::new(Opened {
            source,
            direct: OnceLock::new(),
            bytes_read: AtomicU64::new(0),
            bytes,
            width,
            columns,
            metadata,
            digest,
        }));
        segment.blocks(Column::Fingerprints)?;
        Ok(segment)
    }

    /// Whether the file at `path` is a segment, sound or damaged.
    pub fn is_segment(path: impl AsRef<Path>) -> Result<bool> {
        has_magic(path.as_ref(), &MAGIC[..])
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.0.source.path
    }

    /// Whether the file lies on this machine.
    pub fn is_here(&self) -> bool {
        self.0.source.remote.is_none()
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

    /// The counts of the records it was made from.
    pub fn counts(&self) -> RecordCounts {
        self.0.metadata.counts
    }

    /// Length and hash of the list of unreadable records that was written beside the segment.
    pub fn quarantine(&self) -> Option<&Sum> {
        self.0.metadata.quarantine.as_ref()
    }

    /// Length and hash of the list of repeated ids that was written beside the segment.
    pub fn repeated(&self) -> Option<&Sum> {
        self.0.metadata.repeated.as_ref()
    }

    /// What the segment was made from, in the words of the program that made the segment.
    pub fn identity(&self) -> &str {
        &self.0.metadata.identity
    }

    /// The digest of its contents, which is equal for equal rows of the same recipe.
    pub fn digest(&self) -> Digest {
        self.0.digest
    }

    /// What kind of ids its rows have.
    pub fn id_kind(&self) -> IdKind {
        match self.column(Column::Ids).map(|placed| placed.head.coding) {
            Some(Coding::RowNumber) => IdKind::Numbers,
            Some(Coding::Hex) => IdKind::None,
            _ => IdKind::Text,
        }
    }

    /// The field whose keys stand in the column of times, if they are not times: `score:max`, for example.
    pub fn order(&self) -> Option<&str> {
        self.0.metadata.order.as_deref()
    }

    /// The codecs of its fingerprint blocks, with the bytes in each.
    pub fn codecs(&self) -> Result<BTreeMap<Codec, u64>> {
        let blocks = &self.fingerprint_blocks().all;
        let threads = if self.is_here() { 1 } else { ASKED_AT_ONCE };
        let mut codecs = BTreeMap::new();
        for (block, codec) in blocks.iter().zip(in_parallel(threads, blocks, |it| self.codec(it))) {
            *codecs.entry(codec?).or_default() += u64::from(block.bytes);
        }
        Ok(codecs)
    }

    fn codec(&self, block: &Block) -> Result<Codec> {
        let mut number = Vec::new();
        self.read(block.offset..block.offset + 1, &mut number)?;
        Codec::of(number[0]).ok_or_else(|| unknown(number[0]).at(self.path()).offset(block.offset))
    }

    /// Bytes of a row in the column, on average.
    pub fn mean_row_bytes(&self, column: Column) -> usize {
        let rows_and_bytes = self.column(column).map(|it| (it.head.rows, it.head.bytes));
        rows_and_bytes.map_or(0, |(rows, bytes)| bytes.div_ceil(rows.max(1)) as usize)
    }

    /// Whether it has the digests of the texts.
    pub fn has_digests(&self) -> bool {
        self.column(Column::Digests).is_some()
    }

    /// Blocks of the column.
    pub fn blocks_of(&self, column: Column) -> usize {
        self.column(column).map_or(0, |placed| placed.head.blocks() as usize)
    }

    /// The bytes of each row in a column where all rows have as many; 0 without the column, and [`AS_NEEDED`] where they differ.
    pub fn row_bytes(&self, column: Column) -> usize {
        self.column(column).map_or(0, |Placed { head, .. }| match head.coding {
            Coding::Sketches | Coding::Anchors | Coding::PackedRows => AS_NEEDED,
            _ => head.bytes.checked_div(head.rows).unwrap_or(0) as usize,
        })
    }

    /// Its columns and their sizes.
    pub fn columns(&self) -> impl Iterator<Item = &ColumnHead> {
        self.0.columns.iter().map(|placed| &placed.head)
    }

    /// The first fingerprint and the number of bytes of each fingerprint block, in order.
    pub fn cuts(&self) -> impl Iterator<Item = (u128, u64)> {
        let blocks = self.fingerprint_blocks();
        let bytes = blocks.all.iter().map(|block| u64::from(block.bytes));
        blocks.firsts.iter().copied().zip(bytes)
    }

    /// The blocks of the fingerprint column. They were read when the segment was opened.
    pub(crate) fn fingerprint_blocks(&self) -> &Blocks {
        self.blocks(Column::Fingerprints).expect("an open segment has read its fingerprint blocks")
    }

    pub(crate) fn rows_in(&self, column: Column, index: usize) -> usize {
        self.column(column).map_or(0, |placed| placed.head.rows_of(index as u64) as usize)
    }

    /// The directory of the blocks of the column.
    pub fn blocks(&self, column: Column) -> Result<&Blocks> {
        let Some(placed) = self.column(column) else {
            return Err(damaged("the segment lacks a column")
                .at(self.path())
                .expected(format!("{column:?}").to_lowercase()));
        };
        if let Some(blocks) = placed.blocks.get() {
            return Ok(blocks);
        }
        let entries = self.source().read(placed.entries.clone())?;
        let blocks = Blocks::read(&placed.head, self.width(), placed.offset, &entries)
            .map_err(|error| error.at(self.path()).offset(placed.entries.start))?;
        Ok(placed.blocks.get_or_init(|| blocks))
    }

    /// The bytes of its blocks that were read since it was opened, by all threads.
    pub fn bytes_read(&self) -> u64 {
        self.0.bytes_read.load(Ordering::Relaxed)
    }

    /// Counts bytes that were read.
    pub fn count(&self, bytes: u64) {
        self.0.bytes_read.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(super) fn file(&self) -> Option<&File> {
        self.is_here().then_some(&self.source().file)
    }

    /// The object that has its bytes, if it is in no file here.
    pub(super) fn remote(&self) -> Option<&dyn Remote> {
        self.source().remote.as_deref()
    }

    pub(super) fn source(&self) -> &SegmentFile {
        &self.0.source
    }

    /// Reads these bytes of the file.
    pub fn read(&self, range: Range<u64>, bytes: &mut Vec<u8>) -> Result<()> {
        self.count(range.end - range.start);
        self.source().read_into(range, bytes)
    }

    /// Whether the bytes of a block have its checksum.
    pub fn check(&self, block: &Block, bytes: &[u8]) -> Result<()> {
        let found = xxh3_64(bytes);
        if found != block.checksum {
            return Err(damaged("the checksum of a block is wrong")
                .at(self.path())
                .offset(block.offset)
                .expected(format_args!("{:016x}", block.checksum))
                .found(format_args!("{found:016x}")));
        }
        Ok(())
    }

    pub(crate) fn decode<F: Fingerprint>(
        &self,
        index: usize,
        bytes: &[u8],
        out: &mut [F],
    ) -> Result<()> {
        let blocks = self.fingerprint_blocks();
        let decoded = block::decode(bytes, F::from_u128(blocks.firsts[index]), out);
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
        write!(f, "Segment({}, {})", self.path().named(), self.digest())
    }
}
