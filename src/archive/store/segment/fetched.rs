//! The coded fingerprints of a segment. A block is read when a search first looks at the block.
//!
//! A block that was read is [kept](crate::hamming::mapped) in a file without a name. The system
//! holds as much of that file in memory as there is room for, and the file is gone when the process
//! ends. From a file, one block is read at a time. From an object store, blocks that follow each
//! other are fetched together, as a piece.

use std::ops::Range;
use std::sync::OnceLock;

use crate::error::{At, Result};
use crate::hamming::mapped::{Keep, KeptBytes};
use crate::hamming::memory::zeroed;
use crate::output::{parent_of, will_need};
use crate::parallel::in_parallel;

use super::open::Segment;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Access {
    /// On disk, as far as memory has no room for the blocks. Ready at once: a search reads a block
    /// when the search first looks at the block.
    #[default]
    OnDisk,
    /// In the memory of the process, read and verified at once.
    Resident,
}

/// The blocks that are fetched together from an object store: about a MB.
const PIECE_BLOCKS: usize = 8;

const AT_ONCE: usize = 8;

const READ_BYTES: usize = 16 << 20;

pub(super) struct Fetched {
    keep: Keep,
    /// The blocks of each piece, but for the last.
    blocks: usize,
    pieces: Vec<OnceLock<KeptBytes>>,
}

impl Fetched {
    /// Those of `segment`. [On disk](Access::OnDisk), nothing is fetched yet.
    pub(super) fn of(segment: &Segment, access: Access) -> Result<Fetched> {
        let all = segment.fingerprint_blocks().all.len();
        let blocks = match (access, segment.file()) {
            (Access::Resident, _) => all.max(1),
            (Access::OnDisk, Some(_)) => 1,
            (Access::OnDisk, None) => PIECE_BLOCKS,
        };
        let pieces = (0..all.div_ceil(blocks)).map(|_| OnceLock::new()).collect();
        let keep = Keep::new(parent_of(segment.path()));
        let fetched = Fetched { keep, blocks, pieces };
        if access == Access::Resident && all > 0 {
            let column = KeptBytes::from(fetched.read(segment, 0)?);
            fetched.pieces[0].get_or_init(|| column);
        }
        Ok(fetched)
    }

    pub(super) fn block(&self, segment: &Segment, at: usize) -> Result<KeptBytes> {
        let piece = at / self.blocks;
        let kept = match self.pieces[piece].get() {
            Some(kept) => kept,
            None => {
                // Two threads may fetch the same piece; the first to have it wins.
                let bytes = self.read(segment, piece)?;
                let kept = self.keep.keep(&bytes).at(parent_of(segment.path()))?;
                self.pieces[piece].get_or_init(|| kept)
            }
        };
        let begin = self.range(segment, piece).start;
        let block = segment.fingerprint_blocks().all[at].range();
        Ok(kept.part((block.start - begin) as usize..(block.end - begin) as usize))
    }

    /// Begins to read these blocks, many at once. What fails is read again when it is looked at.
    pub(super) fn fetch(&self, segment: &Segment, blocks: impl Iterator<Item = usize>) {
        let mut pieces: Vec<usize> = blocks.map(|at| at / self.blocks).collect();
        pieces.retain(|&piece| self.pieces[piece].get().is_none());
        pieces.sort_unstable();
        pieces.dedup();
        match segment.file() {
            Some(file) => pieces.iter().for_each(|&it| will_need(file, self.range(segment, it))),
            None => {
                in_parallel(AT_ONCE, &pieces, |&it| self.block(segment, it * self.blocks).is_ok());
            }
        }
    }

    fn range(&self, segment: &Segment, piece: usize) -> Range<u64> {
        let blocks = &segment.fingerprint_blocks().all;
        let first = piece * self.blocks;
        let last = (first + self.blocks).min(blocks.len()) - 1;
        blocks[first].offset..blocks[last].range().end
    }

    fn read(&self, segment: &Segment, piece: usize) -> Result<Vec<u8>> {
        let range = self.range(segment, piece);
        let mut bytes = zeroed((range.end - range.start) as usize);
        let parts = (range.start..).step_by(READ_BYTES).zip(bytes.chunks_mut(READ_BYTES));
        parts.into_iter().try_for_each(|(at, part)| segment.source().fill(at, part))?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::path::Path;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::{Arc, Mutex};

    use super::super::tests::{documents, numbers, write};
    use super::super::{Access, Codec, Column, Cursor, Expected, IdKind, Ranked, SegmentOptions};
    use super::*;
    use crate::object_storage::Remote;

    struct Object {
        bytes: Vec<u8>,
        asked: Mutex<Vec<Range<u64>>>,
        expected: Mutex<Vec<Range<u64>>>,
        sent: AtomicU64,
    }

    impl Remote for Object {
        fn bytes(&self) -> u64 {
            self.bytes.len() as u64
        }

        fn read_exact_at(&self, bytes: &mut [u8], at: u64) -> Result<()> {
            let end = at + bytes.len() as u64;
            bytes.copy_from_slice(&self.bytes[at as usize..end as usize]);
            self.asked.lock().unwrap().push(at..end);
            self.sent.fetch_add(bytes.len() as u64, Ordering::Relaxed);
            Ok(())
        }

        fn expect(&self, range: Range<u64>) {
            self.expected.lock().unwrap().push(range);
        }
    }

    fn apart(path: &Path) -> (Segment, Arc<Object>) {
        let bytes = fs::read(path).unwrap();
        let note = path.with_extension("apart").join("a.seg");
        fs::create_dir(note.parent().unwrap()).unwrap();
        let (asked, expected, sent) = Default::default();
        let object = Arc::new(Object { bytes, asked, expected, sent });
        let file = File::create(&note).unwrap();
        (Segment::over(&note, file, Some(object.clone())).unwrap(), object)
    }

    #[test]
    fn what_is_fetched_answers_as_the_file_does_and_no_more_is_fetched() {
        for codec in Codec::ALL {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a.seg");
            let pages: Vec<u64> = numbers(3).take(400_000).collect();
            let options = SegmentOptions { codec, ..SegmentOptions::default() };
            let here = write(&path, options, &documents(&pages), &[]).unwrap();
            let (there, object) = apart(&path);
            assert_eq!(there.codecs().unwrap(), here.codecs().unwrap());

            let column: u64 = here.codecs().unwrap().values().sum();
            object.sent.store(0, Ordering::Relaxed);
            object.asked.lock().unwrap().clear();
            let [one, other] =
                [&here, &there].map(|it| Ranked::<u64>::open(it, Access::OnDisk).unwrap());
            let mut cursors = [[Cursor::default()]; 2];
            for key in [pages[7], pages[7] + 1] {
                one.seek(&[key], &mut cursors[0]).unwrap();
                other.seek(&[key], &mut cursors[1]).unwrap();
                let mut read = [Vec::new(), Vec::new()];
                for ((ranked, cursor), read) in
                    [&one, &other].into_iter().zip(cursors).zip(&mut read)
                {
                    ranked.read_to(cursor[0], u64::MAX, 3, |row, it| read.push((row, it))).unwrap();
                }
                assert_eq!(read[0], read[1]);
            }
            let sent = object.sent.load(Ordering::Relaxed);
            assert!(sent < column, "{codec}: {sent} of {column} bytes were fetched for one key");

            for row in (0..here.rows()).step_by(997) {
                assert_eq!(one.get(row).unwrap(), other.get(row).unwrap());
            }
            assert_eq!(fs::read_dir(there.path().parent().unwrap()).unwrap().count(), 1);
            let mut asked = object.asked.lock().unwrap().clone();
            asked.sort_by_key(|range| range.start);
            let are_apart = asked.windows(2).all(|pair| pair[0].end <= pair[1].start);
            assert!(are_apart || codec != Codec::EliasFano, "no piece is fetched twice");
        }
    }

    #[test]
    fn each_block_that_is_looked_up_was_announced_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.seg");
        let pages: Vec<u64> = numbers(5).take(60_000).collect();
        let options = SegmentOptions { ids: IdKind::Text, ..SegmentOptions::default() };
        write(&path, options, &documents(&pages), &[]).unwrap();
        let (there, object) = apart(&path);
        let rows = || (0..there.rows()).step_by(101).chain([59_998, 59_999]);
        let mut expected = Expected::default();
        // A column that the segment lacks has no blocks.
        let columns = [Column::Ids, Column::Checks];
        rows().for_each(|row| expected.announce(&there, &columns, row));
        object.asked.lock().unwrap().clear();
        let mut ids = there.ids();
        rows().for_each(|row| drop(ids.get(row).unwrap().to_owned()));
        let [asked, expected] = [&object.asked, &object.expected].map(|it| it.lock().unwrap());
        assert!(expected.len() > 100 && *asked == *expected);
    }
}
