//! A piece of a file in memory, and how it is read.
//!
//! If the cache of the system has the file, it is copied from there. Otherwise it is read directly,
//! bypassing the cache (`O_DIRECT`), so that a scan of a large store does not push out other files.

use std::fs::{File, OpenOptions};
use std::io::IoSliceMut;
use std::num::NonZero;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};

use rustix::fs::{Advice, OFlags, fadvise};
use rustix::io::{Errno, ReadWriteFlags, preadv2};

use crate::error::Result;

use super::open::Segment;

/// The alignment of direct reads, in the file and in memory: the size of a page.
const PAGE: u64 = 4096;

/// Bytes of a segment.
#[derive(Debug, Default)]
pub(crate) struct Piece {
    /// Where in the file they are.
    range: Range<u64>,
    buffer: Vec<u8>,
    /// Where in `buffer` they begin.
    start: usize,
}

impl Piece {
    /// Allocates the memory for reading `range`. The thread that frees a piece should also allocate it:
    /// the memory allocator keeps a part of the heap for each thread, and memory that one thread
    /// allocates and another frees would pile up in the first.
    pub(crate) fn reserve(&mut self, range: &Range<u64>) {
        let bytes = (range.end - range.start + 3 * PAGE) as usize;
        if self.buffer.capacity() < bytes {
            self.buffer = Vec::with_capacity(bytes);
        }
    }

    /// Reads `range`, directly if `direct`.
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

    /// The bytes of `range`, if the piece has them.
    pub(crate) fn get(&self, range: Range<u64>) -> Option<&[u8]> {
        let held = self.range.start <= range.start && range.end <= self.range.end;
        let start = held.then(|| self.start + (range.start - self.range.start) as usize)?;
        Some(&self.buffer[start..start + (range.end - range.start) as usize])
    }

    /// Reads the pages of `range` directly. Returns false if not all came; then the cache must be used.
    fn read_direct(&mut self, segment: &Segment, range: &Range<u64>) -> bool {
        let Some(file) = segment.direct() else { return false };
        let first = range.start / PAGE * PAGE;
        let end = range.end.next_multiple_of(PAGE);
        let bytes = (end - first) as usize;
        self.buffer.resize(bytes + PAGE as usize, 0);
        let margin = self.buffer.as_ptr().align_offset(PAGE as usize);
        let Some(pages) = self.buffer.get_mut(margin..margin + bytes) else { return false };
        self.start = margin + (range.start - first) as usize;
        // The last page of the file may be incomplete.
        let read = file.read_at(pages, first);
        segment.count(read.as_ref().map_or(0, |&read| read as u64));
        matches!(read, Ok(read) if first + read as u64 >= range.end)
    }
}

impl Segment {
    /// Whether the cache of the system has the byte at `offset`, and so most likely the bytes around it.
    /// If not, this call brings its page into the cache. [`Segment::forget`] it afterwards, or the next
    /// caller would believe that the file is cached.
    pub(crate) fn is_cached(&self, offset: u64) -> bool {
        let mut byte = [0];
        let byte = &mut [IoSliceMut::new(&mut byte)];
        preadv2(&self.0.file, byte, offset, ReadWriteFlags::NOWAIT) != Err(Errno::AGAIN)
    }

    /// Tells the system to drop the page at `offset` from its cache.
    pub(crate) fn forget(&self, offset: u64) {
        let _ = fadvise(&self.0.file, offset / PAGE * PAGE, NonZero::new(PAGE), Advice::DontNeed);
    }

    /// The file opened a second time for direct reads, if the file system has them.
    fn direct(&self) -> Option<&File> {
        let open = || {
            let again = format!("/proc/self/fd/{}", self.0.file.as_raw_fd());
            let direct = OFlags::DIRECT.bits() as i32;
            OpenOptions::new().read(true).custom_flags(direct).open(again).ok()
        };
        self.0.direct.get_or_init(open).as_ref()
    }
}
