//! A piece of a file in memory, and how the piece is read.
//!
//! If the cache of the system has the file, the bytes are copied from the cache. If not, the bytes
//! are read directly, past the cache (`O_DIRECT`), so that a scan of a large store does not push
//! other files out of the cache.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use crate::error::Result;
use crate::output::{PAGE, forget, is_cached, margin, open_direct};

use super::open::Segment;

#[derive(Debug, Default)]
pub(crate) struct Piece {
    range: Range<u64>,
    buffer: Vec<u8>,
    start: usize,
}

impl Piece {
    /// Allocates the memory for reading `range`. The thread that frees a piece should also allocate
    /// the piece: the memory allocator keeps a part of the heap for each thread, and pieces that a
    /// second thread frees would pile up in the part of the first thread.
    pub(crate) fn reserve(&mut self, range: &Range<u64>) {
        let bytes = (range.end - range.start) as usize + 3 * PAGE;
        if self.buffer.capacity() < bytes {
            self.buffer = Vec::with_capacity(bytes);
        }
    }

    pub(crate) fn read(
        &mut self,
        segment: &Segment,
        range: Range<u64>,
        direct: bool,
    ) -> Result<()> {
        self.range = 0..0;
        if !(direct && self.read_direct(segment, &range)) {
            segment.read(range.clone(), &mut self.buffer)?;
            self.start = 0;
        }
        self.range = range;
        Ok(())
    }

    pub(crate) fn get(&self, range: Range<u64>) -> Option<&[u8]> {
        let held = self.range.start <= range.start && range.end <= self.range.end;
        let start = held.then(|| self.start + (range.start - self.range.start) as usize)?;
        Some(&self.buffer[start..start + (range.end - range.start) as usize])
    }

    /// Reads the pages of `range` directly. Returns false if not all came; then the cache must be used.
    fn read_direct(&mut self, segment: &Segment, range: &Range<u64>) -> bool {
        let Some(file) = segment.direct() else { return false };
        let first = range.start / PAGE as u64 * PAGE as u64;
        let end = range.end.next_multiple_of(PAGE as u64);
        let bytes = (end - first) as usize;
        self.buffer.resize(bytes + PAGE, 0);
        let margin = margin(&self.buffer);
        let Some(pages) = self.buffer.get_mut(margin..margin + bytes) else { return false };
        self.start = margin + (range.start - first) as usize;
        // The last page of the file may be incomplete.
        let read = file.read_at(pages, first);
        segment.count(read.as_ref().map_or(0, |&read| read as u64));
        matches!(read, Ok(read) if first + read as u64 >= range.end)
    }
}

impl Segment {
    /// The file opened a second time for direct reads, if the file system has them.
    fn direct(&self) -> Option<&File> {
        let file = self.file()?;
        self.0.direct.get_or_init(|| open_direct(file, false)).as_ref()
    }

    /// Whether the cache of the system has the byte at `offset`; as [`is_cached`]. It never has what is in an object store.
    pub(crate) fn is_cached(&self, offset: u64) -> bool {
        self.file().is_some_and(|file| is_cached(file, offset))
    }

    /// Lets the memory go that holds what stands before `offset`.
    pub fn forget(&self, offset: u64) {
        if let Some(file) = self.file() {
            forget(file, offset);
        }
    }
}
