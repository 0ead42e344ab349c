//! Bytes that were read once, in a file without a name, which the system holds in memory only as far as it has room.
//!
//! A slice over a file that somebody else can change or cut off is undefined behaviour. So no file of a store is mapped:
//! what was looked at is copied into a file that no path leads to, whose handle never leaves [`Keep`], and which is
//! written once:
//!
//! ```text
//! file of a store --read--> bytes --keep--> [ kept | kept | kept |   room for more   ]   a mapped file without a name
//! ```

use std::fs::File;
use std::io;
use std::ops::{Deref, Range};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::{Arc, Mutex};

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use crate::parallel::lock;

/// The bytes of a file, unless one slice has more.
const FILE_BYTES: usize = 64 << 20;

/// What is kept begins at a multiple of this: a line of the processor's cache.
const LINE: usize = 64;

#[derive(Debug)]
pub struct Keep {
    folder: PathBuf,
    open: Mutex<Option<Open>>,
}

#[derive(Debug)]
struct Open {
    file: Arc<File>,
    mapping: Arc<Mapping>,
    used: usize,
}

impl Keep {
    /// Keeps bytes on the disk of `folder`, or, if no file can be made there, on that of the temporary files. No file is
    /// made before bytes are kept.
    pub fn new(folder: &Path) -> Keep {
        Keep { folder: folder.to_owned(), open: Mutex::default() }
    }

    /// Keeps a copy of `bytes` for as long as the result lives.
    pub fn keep(&self, bytes: &[u8]) -> io::Result<KeptBytes> {
        if bytes.is_empty() {
            return Ok(KeptBytes::from(Vec::new()));
        }
        let (file, mapping, at) = self.room_for(bytes.len())?;
        file.write_all_at(bytes, at as u64)?;
        let begin = mapping.at(at..at + bytes.len());
        Ok(KeptBytes { begin, length: bytes.len(), _owner: mapping })
    }

    /// A place for so many bytes that nobody else is given.
    fn room_for(&self, length: usize) -> io::Result<(Arc<File>, Arc<Mapping>, usize)> {
        let mut open = lock(&self.open);
        if open.as_ref().is_none_or(|open| open.mapping.length - open.used < length) {
            let file = tempfile::tempfile_in(&self.folder).or_else(|_| tempfile::tempfile())?;
            let mapping = Mapping::of(&file, FILE_BYTES.max(length.next_multiple_of(LINE)))?;
            *open = Some(Open { file: Arc::new(file), mapping: Arc::new(mapping), used: 0 });
        }
        let open = open.as_mut().expect("a file was opened");
        let at = open.used;
        open.used += length.next_multiple_of(LINE);
        Ok((Arc::clone(&open.file), Arc::clone(&open.mapping), at))
    }
}

pub struct KeptBytes {
    begin: NonNull<u8>,
    length: usize,
    /// What the bytes belong to: a mapping, or memory.
    _owner: Arc<dyn Send + Sync>,
}

// SAFETY: the bytes are only read, and they stay where they are until their owner is dropped, which any thread may do.
unsafe impl Send for KeptBytes {}
// SAFETY: as above.
unsafe impl Sync for KeptBytes {}

impl KeptBytes {
    pub fn part(&self, range: Range<usize>) -> KeptBytes {
        let part = &self[range];
        KeptBytes {
            begin: NonNull::from(part).cast(),
            length: part.len(),
            _owner: Arc::clone(&self._owner),
        }
    }
}

impl From<Vec<u8>> for KeptBytes {
    fn from(bytes: Vec<u8>) -> KeptBytes {
        let owner = Arc::new(bytes);
        KeptBytes { begin: NonNull::from(&owner[..]).cast(), length: owner.len(), _owner: owner }
    }
}

impl Deref for KeptBytes {
    type Target = [u8];

    #[inline(always)]
    fn deref(&self) -> &[u8] {
        // SAFETY: so many bytes were written there before the value was made, nobody writes to them again, and they
        // live as long as their owner.
        unsafe { slice::from_raw_parts(self.begin.as_ptr(), self.length) }
    }
}

/// A file without a name, as memory. Nothing behind its end is looked at.
#[derive(Debug)]
struct Mapping {
    begin: NonNull<u8>,
    length: usize,
}

// SAFETY: the value is an address; what is there is looked at through `KeptBytes` alone.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps `length` bytes of `file`, which may be shorter for now.
    fn of(file: &File, length: usize) -> io::Result<Mapping> {
        let (anywhere, flags) = (ptr::null_mut(), MapFlags::SHARED);
        // SAFETY: the system chooses a place of its own for the bytes.
        let begin = unsafe { mmap(anywhere, length, ProtFlags::READ, flags, file, 0)? };
        let begin = NonNull::new(begin.cast()).ok_or_else(|| io::Error::other("mapped at 0"))?;
        Ok(Mapping { begin, length })
    }

    fn at(&self, range: Range<usize>) -> NonNull<u8> {
        assert!(range.end <= self.length, "the bytes were written within what is mapped");
        // SAFETY: the place is within what was mapped.
        unsafe { self.begin.add(range.start) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: this was mapped by `of`, and whoever has a slice of it owns a part of the value.
        unsafe { munmap(self.begin.as_ptr().cast(), self.length) }.ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(length: usize) -> Vec<u8> {
        (0..length).map(|at| (at % 251) as u8).collect()
    }

    #[test]
    fn bytes_of_any_length_are_kept_and_outlive_what_keeps_them() {
        let folder = tempfile::tempdir().unwrap();
        let keep = Keep::new(folder.path());
        let lengths = [0, 1, 63, 64, 65, 4095, 4097, FILE_BYTES - 8192, FILE_BYTES + 1, 7];
        let kept = lengths.map(|length| keep.keep(&bytes(length)).unwrap());
        drop(keep);
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
        for (length, kept) in lengths.into_iter().zip(&kept) {
            assert!(**kept == bytes(length), "{length}");
        }
        let part = kept[4].part(3..65);
        drop(kept);
        assert_eq!(*part, bytes(65)[3..]);
        assert_eq!(*KeptBytes::from(bytes(9)).part(2..4), [2, 3]);
    }

    #[test]
    fn many_threads_keep_bytes_at_once() {
        let keep = Keep::new(Path::new("there is no such folder"));
        let of = |number: usize| vec![number as u8; 1000 * (number + 1)];
        let kept: Vec<KeptBytes> = std::thread::scope(|scope| {
            let keep = |number| keep.keep(&of(number)).unwrap();
            let threads: Vec<_> = (0..8).map(|number| scope.spawn(move || keep(number))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        for (number, kept) in kept.iter().enumerate() {
            assert!(**kept == of(number));
        }
    }
}
