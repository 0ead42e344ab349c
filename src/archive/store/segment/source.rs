//! A file that may be a segment: reads and checks its first and last bytes.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Error, Kind, Result};
use crate::fingerprint::Width;
use crate::object_storage::Remote;
use crate::progress::{self, Activity};
use crate::store::damage::damaged;
use crate::store::digest::Digest;

use super::directory::{Blocks, COLUMN_BYTES, ColumnHead, u32_at, u64_at};
use super::metadata::{MAGIC, Metadata, VERSION};

const HEADER_BYTES: u64 = 16;

pub(crate) const TRAILER_BYTES: u64 = 56;

const MAX_METADATA_BYTES: u64 = 1 << 24;

const MAX_TABLE_BYTES: u64 = 16 * COLUMN_BYTES as u64;

pub(crate) struct Placed {
    pub head: ColumnHead,
    pub offset: u64,
    pub entries: Range<u64>,
    pub blocks: OnceLock<Blocks>,
}

pub(crate) struct SegmentFile {
    pub path: PathBuf,
    pub file: File,
    /// Where its bytes are, if they are not in the file: in an object store.
    pub(crate) remote: Option<Arc<dyn Remote>>,
}

impl SegmentFile {
    pub(crate) fn read(&self, range: Range<u64>) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.read_into(range, &mut bytes)?;
        Ok(bytes)
    }

    pub(crate) fn read_into(&self, range: Range<u64>, bytes: &mut Vec<u8>) -> Result<()> {
        bytes.resize((range.end - range.start) as usize, 0);
        self.fill(range.start, bytes)
    }

    pub(crate) fn fill(&self, at: u64, bytes: &mut [u8]) -> Result<()> {
        progress::tick(Activity::Reading);
        if let Some(remote) = &self.remote {
            return remote.read_exact_at(bytes, at);
        }
        self.file.read_exact_at(bytes, at).map_err(|cause| match cause.kind() {
            std::io::ErrorKind::UnexpectedEof => {
                damaged("the file is shorter than when it was opened").at(&self.path).offset(at)
            }
            _ => Error::io(&self.path, &cause),
        })
    }

    pub(crate) fn header(&self, bytes: u64) -> Result<Width> {
        let magic = self.read(0..bytes.min(MAGIC.len() as u64))?;
        if magic != MAGIC {
            return Err(Error::new(Kind::BadData, "this is not a segment")
                .at(&self.path)
                .offset(0)
                .expected(MAGIC.escape_ascii())
                .found(magic.escape_ascii())
                .help("make a segment of pages, or correct the path")
                .job("fingerprint"));
        }
        if bytes < HEADER_BYTES + TRAILER_BYTES {
            return Err(damaged("the file is too short for a segment")
                .at(&self.path)
                .expected(format_args!("at least {} bytes", HEADER_BYTES + TRAILER_BYTES))
                .found(bytes));
        }
        let header = self.read(0..HEADER_BYTES)?;
        let version = u32_at(&header, 8);
        if version != VERSION {
            return Err(Error::new(Kind::BadData, "the segment has another format version")
                .called("newer-format")
                .at(&self.path)
                .offset(8)
                .expected(VERSION)
                .found(version)
                .help("read it with the version of dupsieve that wrote it"));
        }
        let bits = u32_at(&header, 12);
        Width::of_bits(bits).ok_or_else(|| {
            let error =
                damaged("the width of the fingerprints is invalid").at(&self.path).offset(12);
            error.expected("64 or 128").found(bits)
        })
    }

    pub(crate) fn ending(&self, bytes: u64) -> Result<(Range<u64>, Metadata, Digest)> {
        let at = bytes - TRAILER_BYTES;
        let trailer = self.read(at..bytes)?;
        if trailer[48..] != MAGIC {
            return Err(damaged(
                "the file does not end as a segment does: it is cut off, or something was added",
            )
            .at(&self.path)
            .offset(bytes - 8)
            .expected(MAGIC.escape_ascii())
            .found(trailer[48..].escape_ascii()));
        }
        let json = self.part(at, &trailer[16..32], MAX_METADATA_BYTES)?;
        let table = self.part(json.start, &trailer[..16], MAX_TABLE_BYTES)?;
        let metadata = serde_json::from_slice(&self.read(json.clone())?).map_err(|cause| {
            damaged(&format!("the metadata is wrong: {cause}")).at(&self.path).offset(json.start)
        })?;
        let digest = u128::from_le_bytes(trailer[32..48].try_into().expect("16 bytes"));
        Ok((table, metadata, Digest(digest)))
    }

    fn part(&self, end: u64, told: &[u8], most: u64) -> Result<Range<u64>> {
        let length = u64_at(told, 0);
        let checksum = u64_at(told, 8);
        let start =
            end.checked_sub(length).filter(|&start| start >= HEADER_BYTES && length <= most);
        let Some(start) = start else {
            let error = damaged("the directory is longer than possible").at(&self.path);
            return Err(error.offset(end).found(format_args!("{length} bytes")));
        };
        let found = xxh3_64(&self.read(start..end)?);
        if found != checksum {
            return Err(damaged("the checksum of the directory is wrong")
                .at(&self.path)
                .offset(start)
                .expected(format_args!("{checksum:016x}"))
                .found(format_args!("{found:016x}")));
        }
        Ok(start..end)
    }

    /// Computes where the columns are: all blocks, then all entries, which end at `end`.
    pub(crate) fn place(
        &self,
        heads: Vec<ColumnHead>,
        width: Width,
        end: u64,
    ) -> Result<Vec<Placed>> {
        let lengths = heads.iter().map(|head| Some(head.bytes));
        let entry_lengths = heads.iter().map(|head| head.entries_bytes(width));
        let mut ends = lengths.chain(entry_lengths).scan(HEADER_BYTES, |at, length| {
            *at = length.and_then(|length| at.checked_add(length)).unwrap_or(u64::MAX);
            Some(*at)
        });
        let block_ends = ends.by_ref().take(heads.len()).collect::<Vec<u64>>();
        let entry_ends = ends.collect::<Vec<u64>>();
        if entry_ends.last() != Some(&end) {
            return Err(damaged("the columns do not fill the file")
                .at(&self.path)
                .expected(format_args!("{end} bytes"))
                .found(format_args!("{entry_ends:?}")));
        }
        let mut entries_at = block_ends[heads.len() - 1];
        let placed =
            heads.iter().zip(block_ends).zip(entry_ends).map(|((&head, end), entry_end)| {
                let entries = entries_at..entry_end;
                entries_at = entry_end;
                Placed { head, offset: end - head.bytes, entries, blocks: OnceLock::new() }
            });
        Ok(placed.collect())
    }
}
