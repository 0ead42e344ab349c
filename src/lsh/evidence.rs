//! The evidence of all groups: in memory as far as that is allowed, the rest on disk.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::error::{At, Result};

/// Evidence that is being gathered.
#[derive(Debug)]
pub(super) struct Gathering {
    held: Evidence,
    memory_bytes: usize,
    folder: PathBuf,
    disk: Option<BufWriter<File>>,
}

/// Evidence by number. The first items are in memory, and those after them in an unnamed file.
#[derive(Debug)]
pub(super) struct Evidence {
    memory: Vec<u8>,
    /// Where each item begins, and the end of the last one.
    starts: Vec<u64>,
    /// The bytes of an item, if all have as many.
    stride: Option<usize>,
    disk: Option<(PathBuf, File)>,
}

impl Gathering {
    /// Keeps at most `memory_bytes` in memory, and the rest in `folder`.
    pub(super) fn new(folder: &Path, memory_bytes: usize) -> Gathering {
        let held = Evidence { memory: Vec::new(), starts: vec![0], stride: None, disk: None };
        Gathering { held, memory_bytes, folder: folder.to_path_buf(), disk: None }
    }

    /// Takes the next item.
    pub(super) fn push(&mut self, item: &[u8]) -> Result<()> {
        let Gathering { held, memory_bytes, folder, disk } = self;
        held.starts.push(held.starts[held.starts.len() - 1] + item.len() as u64);
        if disk.is_none() && held.memory.len() + item.len() > *memory_bytes {
            *disk = Some(BufWriter::new(tempfile::tempfile_in(&*folder).at(&*folder)?));
        }
        match disk {
            Some(disk) => disk.write_all(item).at(&*folder),
            None => {
                held.memory.extend_from_slice(item);
                Ok(())
            }
        }
    }

    /// All items, to be looked up.
    pub(super) fn finish(self) -> Result<Evidence> {
        let Gathering { mut held, folder, disk, .. } = self;
        let mut lengths = held.starts.windows(2).map(|pair| (pair[1] - pair[0]) as usize);
        held.stride = lengths.next().filter(|&first| lengths.all(|length| length == first));
        if let Some(disk) = disk {
            let file =
                disk.into_inner().map_err(std::io::IntoInnerError::into_error).at(&folder)?;
            held.disk = Some((folder, file));
        }
        Ok(held)
    }
}

impl Evidence {
    /// All items one after the other, and the bytes of each, if all are in memory and have as many.
    pub(super) fn slab(&self) -> Option<(&[u8], usize)> {
        let stride = self.stride.filter(|_| self.disk.is_none())?;
        Some((&self.memory, stride))
    }

    /// The item of this number. `buffer` holds it if it is on disk.
    pub(super) fn get<'a>(&'a self, number: usize, buffer: &'a mut Vec<u8>) -> Result<&'a [u8]> {
        let [start, end] = [self.starts[number], self.starts[number + 1]];
        let in_memory = self.memory.len() as u64;
        match &self.disk {
            Some((folder, file)) if end > in_memory => {
                buffer.resize((end - start) as usize, 0);
                file.read_exact_at(buffer, start - in_memory).at(folder)?;
                Ok(buffer)
            }
            _ => Ok(&self.memory[start as usize..end as usize]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_item_comes_back(
            items in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..20), 0..30),
            memory_bytes in 0_usize..300,
        ) {
            let mut gathering = Gathering::new(&std::env::temp_dir(), memory_bytes);
            items.iter().for_each(|item| gathering.push(item).unwrap());
            let evidence = gathering.finish().unwrap();
            let mut buffer = vec![7; 40];
            for (number, item) in items.iter().enumerate() {
                prop_assert_eq!(evidence.get(number, &mut buffer).unwrap(), &item[..]);
            }
        }
    }
}
