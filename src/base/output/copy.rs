//! Copies a whole file: at the speed of the disk, or in no time where the file system lets two files share
//! their blocks.

use std::fs::File;
use std::io::{ErrorKind, Result};
use std::os::unix::fs::FileExt;

use rustix::fs::{FallocateFlags, fallocate, ioctl_ficlone};
use rustix::io::Errno;

use super::direct::{PAGE, aligned, forget, is_cached, open_direct};
use crate::parallel::in_parallel;
use crate::progress::{self, Activity};

const SLAB: usize = 4 << 20;
/// How many slabs are on their way at once, so that the disk reads and writes at the same time.
const LANES: u64 = 4;

/// Makes `target`, which is empty, a copy of `source`. On file systems such as XFS and Btrfs the two files
/// share their blocks until one of them is changed. A source that becomes shorter meanwhile is an error.
pub(super) fn copy(source: &File, target: &File) -> Result<()> {
    if ioctl_ficlone(target, source).is_ok() {
        return Ok(());
    }
    let bytes = source.metadata()?.len();
    reserve(target, bytes)?;
    let copying = Copying {
        source,
        target,
        direct_source: open_direct(source, false),
        direct_target: open_direct(target, true),
        bytes,
    };
    let lanes: Vec<u64> = (0..LANES.min(bytes.div_ceil(SLAB as u64))).collect();
    in_parallel(lanes.len(), &lanes, |&lane| copying.lane(lane)).into_iter().collect()
}

/// Makes `file` so long, and takes the space for it if the file system can do that beforehand.
fn reserve(file: &File, bytes: u64) -> Result<()> {
    match fallocate(file, FallocateFlags::empty(), 0, bytes.max(1)) {
        Err(full @ (Errno::NOSPC | Errno::DQUOT)) => Err(full.into()),
        _ => file.set_len(bytes),
    }
}

struct Copying<'a> {
    source: &'a File,
    target: &'a File,
    direct_source: Option<File>,
    direct_target: Option<File>,
    bytes: u64,
}

impl Copying<'_> {
    fn lane(&self, lane: u64) -> Result<()> {
        let mut buffer = vec![0; SLAB + PAGE];
        let pages = &mut aligned(&mut buffer)[..SLAB];
        for offset in (lane * SLAB as u64..self.bytes).step_by(LANES as usize * SLAB) {
            progress::tick(Activity::Writing);
            let bytes = (self.bytes - offset).min(SLAB as u64) as usize;
            self.read(pages, bytes, offset)?;
            self.write(&pages[..bytes], offset)?;
        }
        Ok(())
    }

    /// Reads `bytes` into `pages`, which are at least as many: directly, unless the cache has them.
    fn read(&self, pages: &mut [u8], bytes: usize, offset: u64) -> Result<()> {
        if let Some(direct) =
            self.direct_source.as_ref().filter(|_| !is_cached(self.source, offset))
        {
            forget(self.source, offset);
            if direct.read_at(pages, offset).is_ok_and(|read| read >= bytes) {
                return Ok(());
            }
        }
        self.source.read_exact_at(&mut pages[..bytes], offset)
    }

    fn write(&self, pages: &[u8], offset: u64) -> Result<()> {
        let (whole, rest) = pages.split_at(pages.len() / PAGE * PAGE);
        self.write_whole(whole, offset)?;
        self.target.write_all_at(rest, offset + whole.len() as u64)
    }

    fn write_whole(&self, pages: &[u8], offset: u64) -> Result<()> {
        let written = self.direct_target.as_ref().map(|direct| direct.write_all_at(pages, offset));
        match written {
            // What a file system says that has direct writes in name only.
            Some(Err(refused)) if refused.kind() == ErrorKind::InvalidInput => {}
            Some(written) => return written,
            None => {}
        }
        self.target.write_all_at(pages, offset)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;

    use super::*;

    #[test]
    fn a_copy_has_the_same_bytes() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let lanes = SLAB * LANES as usize;
        for bytes in [0, 1, PAGE - 1, PAGE, PAGE + 1, SLAB - 1, SLAB, SLAB + 1, lanes + PAGE + 7] {
            let content: Vec<u8> = (0..bytes as u64).map(|at| ((at * at) >> 7) as u8).collect();
            let mut source = tempfile::tempfile_in(&folder)?;
            source.write_all(&content)?;
            for cached in [true, false] {
                if !cached {
                    source.sync_all()?;
                    (0..bytes as u64).step_by(PAGE).for_each(|offset| forget(&source, offset));
                }
                let target = folder.path().join("target");
                copy(&source, &File::create_new(&target)?)?;
                assert!(fs::read(&target)? == content, "{bytes} bytes, cached: {cached}");
                fs::remove_file(&target)?;
            }
        }
        Ok(())
    }
}
