//! A file as a slice: the system reads a page of it when that is first looked at, and keeps it as long as
//! memory allows. So gigabytes are ready at once, and programs that read one file share its pages.
//!
//! ```
//! use std::io::Write;
//!
//! use dupsieve::hamming::mapped::Mapped;
//!
//! let mut file = tempfile::tempfile()?;
//! file.write_all(b"sorted fingerprints")?;
//! let mapped = Mapped::of(&file)?;
//! mapped.fetch(7..19);
//! assert_eq!(&mapped[7..], b"fingerprints");
//! # Ok::<(), std::io::Error>(())
//! ```

use std::fs::File;
use std::io;
use std::ops::{Deref, Range};
use std::ptr::{self, NonNull};
use std::slice;

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, munmap};
use rustix::param::page_size;

/// The bytes of a file that nobody changes. If it is cut off all the same, a look at what is missing ends the
/// process.
#[derive(Debug)]
pub struct Mapped {
    begin: NonNull<u8>,
    length: usize,
}

// SAFETY: the bytes are only read, and they stay where they are until the value is dropped.
unsafe impl Send for Mapped {}
// SAFETY: as above.
unsafe impl Sync for Mapped {}

impl Mapped {
    /// Maps all bytes of `file`. Pages are read one by one, unless they are [fetched](Mapped::fetch).
    ///
    /// # Errors
    /// What the system says, for a file that cannot be mapped or an address space that is too small.
    pub fn of(file: &File) -> io::Result<Mapped> {
        let length = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
        if length == 0 {
            return Ok(Mapped { begin: NonNull::dangling(), length });
        }
        let (anywhere, flags) = (ptr::null_mut(), MapFlags::SHARED);
        // SAFETY: the system chooses a place of its own for the bytes. A reader gives them to nobody who
        // writes, and the files of a store are never changed, only replaced and removed.
        let begin = unsafe { mmap(anywhere, length, ProtFlags::READ, flags, file, 0)? };
        // SAFETY: the advice is for the very bytes that were mapped, and changes none of them.
        unsafe { madvise(begin, length, Advice::Random) }.ok();
        let begin = NonNull::new(begin.cast()).ok_or_else(|| io::Error::other("mapped at 0"))?;
        Ok(Mapped { begin, length })
    }

    /// Begins to read the bytes in `range`, as far as there are such, without waiting for them.
    pub fn fetch(&self, range: Range<usize>) {
        let end = range.end.min(self.length);
        let begin = range.start / page_size() * page_size();
        if begin < end {
            let at = self.begin.as_ptr().wrapping_add(begin);
            // SAFETY: the pages lie within what was mapped, and the advice changes no byte of them.
            unsafe { madvise(at.cast(), end - begin, Advice::WillNeed) }.ok();
        }
    }
}

impl Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: so many bytes were mapped there, or none, and nobody writes to them.
        unsafe { slice::from_raw_parts(self.begin.as_ptr(), self.length) }
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        if self.length > 0 {
            // SAFETY: this was mapped by `of`, and no slice of it outlives the value.
            unsafe { munmap(self.begin.as_ptr().cast(), self.length) }.ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_file_of_any_length_is_its_bytes() {
        for length in [0, 1, 4095, 4096, 4097, 100_000] {
            let bytes: Vec<u8> = (0..length).map(|at| (at % 251) as u8).collect();
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(&bytes).unwrap();
            let mapped = Mapped::of(&file).unwrap();
            drop(file);
            mapped.fetch(length / 2..length + 1);
            mapped.fetch(length + 9..length + 10);
            assert!(*mapped == bytes, "{length}");
        }
    }
}
