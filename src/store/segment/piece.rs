//! A piece of a file in memory, and the way it comes there.
//!
//! A file that the system holds in memory is copied from there. Any other is read past the system's
//! cache (`O_DIRECT`).

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

/// What direct reads begin and end on, in the file and in memory: the size of a page.
const PAGE: u64 = 4096;

/// Bytes of a segment.
#[derive(Debug, Default)]
pub(crate) struct Piece {
    /// Where in the file they stand.
    range: Range<u64>,
    buffer: Vec<u8>,
    /// Where in `buffer` they begin.
    start: usize,
}

impl Piece {
    /// Takes the memory that reading `range` needs. Whoever frees it should be who took it: what
    /// another thread takes comes from that thread's part of the heap, and stays there.
    pub(crate) fn reserve(&mut self, range: &Range<u64>) {
        let bytes = (range.end - range.start + 3 * PAGE) as usize;
        if self.buffer.capacity() < bytes {
            self.buffer = Vec::with_capacity(bytes);
        }
    }

    /// Makes the piece that of `range`, past the system's cache if `direct`.
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

    /// The bytes of `range`, if the piece holds them.
    pub(crate) fn get(&self, range: Range<u64>) -> Option<&[u8]> {
        let held = self.range.start <= range.start && range.end <= self.range.end;
        let start = held.then(|| self.start + (range.start - self.range.start) as usize)?;
        Some(&self.buffer[start..start + (range.end - range.start) as usize])
    }

    /// Reads the pages of `range`, and says whether all of it came: if not, it is read otherwise.
    fn read_direct(&mut self, segment: &Segment, range: &Range<u64>) -> bool {
        let Some(file) = segment.direct() else { return false };
        let (first, end) = (range.start / PAGE * PAGE, range.end.next_multiple_of(PAGE));
        let bytes = (end - first) as usize;
        self.buffer.resize(bytes + PAGE as usize, 0);
        let margin = self.buffer.as_ptr().align_offset(PAGE as usize);
        let Some(pages) = self.buffer.get_mut(margin..margin + bytes) else { return false };
        self.start = margin + (range.start - first) as usize;
        // At the end of the file less than a page may come.
        let read = file.read_at(pages, first);
        segment.count(read.as_ref().map_or(0, |&read| read as u64));
        matches!(read, Ok(read) if first + read as u64 >= range.end)
    }
}

impl Segment {
    /// Whether the system holds the byte at `offset` in memory, and so most likely what is around
    /// it. If not, asking brings its page there: [`Segment::forget`] it, lest the next one to ask
    /// takes it for more.
    pub(crate) fn is_cached(&self, offset: u64) -> bool {
        let (file, mut byte) = (&self.0.file, [0]);
        let byte = &mut [IoSliceMut::new(&mut byte)];
        preadv2(file, byte, offset, ReadWriteFlags::NOWAIT) != Err(Errno::AGAIN)
    }

    /// Has the system let go of the page at `offset`.
    pub(crate) fn forget(&self, offset: u64) {
        let _ = fadvise(&self.0.file, offset / PAGE * PAGE, NonZero::new(PAGE), Advice::DontNeed);
    }

    /// Has the system bring `range` into its memory.
    pub(crate) fn expect(&self, range: Range<u64>) {
        let bytes = NonZero::new(range.end - range.start);
        let _ = fadvise(&self.0.file, range.start, bytes, Advice::WillNeed);
    }

    /// The file opened once more for reads past the system's cache, where there are such.
    fn direct(&self) -> Option<&File> {
        let open = || {
            let again = format!("/proc/self/fd/{}", self.0.file.as_raw_fd());
            let direct = OFlags::DIRECT.bits() as i32;
            OpenOptions::new().read(true).custom_flags(direct).open(again).ok()
        };
        self.0.direct.get_or_init(open).as_ref()
    }
}
