//! The ids that one worker has read, by shards, in memory or on disk.

use std::fs::File;
use std::io::Write;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use super::shard;
use crate::error::{At, Error, Kind, Result};
use crate::matches::numbers::SegmentRow;
use crate::output;
use crate::progress::{self, Activity};
use crate::store::Ids;

#[derive(Debug)]
pub(super) struct Share {
    folder: PathBuf,
    memory_bytes: usize,
    parts: Vec<Part>,
    held_bytes: usize,
    /// The bytes of all ids that it has read.
    pub(super) read_bytes: u64,
    /// The parts that did not fit into memory.
    spilled: Option<File>,
    spilled_bytes: u64,
}

#[derive(Debug, Default)]
struct Part {
    count: u32,
    held: Vec<u8>,
    spilled: Vec<Piece>,
}

#[derive(Clone, Copy, Debug)]
struct Piece {
    offset: u64,
    length: usize,
    checksum: u64,
}

impl Share {
    /// Nothing of so many `shards` yet. What exceeds `memory_bytes` goes into an unnamed file in `folder`.
    pub(super) fn new(folder: &Path, memory_bytes: usize, shards: usize) -> Share {
        let parts = std::iter::repeat_with(Part::default).take(shards).collect();
        let folder = folder.to_path_buf();
        let (held_bytes, read_bytes, spilled_bytes) = (0, 0, 0);
        Share { folder, memory_bytes, parts, held_bytes, read_bytes, spilled: None, spilled_bytes }
    }

    /// Reads the ids of these rows, each into the shard that the `bounds` say.
    pub(super) fn read(&mut self, mut ids: Ids, rows: Range<u64>, bounds: &[String]) -> Result<()> {
        for row in rows {
            let id = ids.get(row)?;
            let part = &mut self.parts[bounds.partition_point(|bound| bound.as_str() <= id)];
            shard::push(&mut part.held, SegmentRow::from(row as u32), id);
            part.count += 1;
            self.read_bytes += id.len() as u64;
            self.held_bytes += shard::bytes_of(id);
            if self.held_bytes >= self.memory_bytes {
                self.spill()?;
            }
        }
        Ok(())
    }

    fn spill(&mut self) -> Result<()> {
        output::check_free_space(&self.folder, self.held_bytes as u64)?;
        let file = match &mut self.spilled {
            Some(file) => file,
            none => none.insert(tempfile::tempfile_in(&self.folder).at(&self.folder)?),
        };
        for part in self.parts.iter_mut().filter(|part| !part.held.is_empty()) {
            progress::tick(Activity::Sorting);
            let (offset, length) = (self.spilled_bytes, part.held.len());
            part.spilled.push(Piece { offset, length, checksum: xxh3_64(&part.held) });
            file.write_all(&part.held).at(&self.folder)?;
            self.spilled_bytes += length as u64;
            part.held.clear();
        }
        self.held_bytes = 0;
        Ok(())
    }

    pub(super) fn load(&self, shard: usize, bytes: &mut Vec<u8>) -> Result<()> {
        let Part { held, spilled, .. } = &self.parts[shard];
        if let Some(file) = &self.spilled {
            spilled.iter().try_for_each(|piece| self.load_piece(file, piece, bytes))?;
        }
        bytes.extend(held);
        Ok(())
    }

    fn load_piece(&self, file: &File, piece: &Piece, bytes: &mut Vec<u8>) -> Result<()> {
        let start = bytes.len();
        bytes.resize(start + piece.length, 0);
        file.read_exact_at(&mut bytes[start..], piece.offset).at(&self.folder)?;
        if xxh3_64(&bytes[start..]) == piece.checksum {
            return Ok(());
        }
        Err(Error::new(Kind::Io, "ids that were written to disk are damaged")
            .at(&self.folder)
            .help("check the disk and try again"))
    }

    pub(super) fn count(&self, shard: usize) -> u32 {
        self.parts[shard].count
    }
}
