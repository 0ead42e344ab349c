//! The fingerprints of a segment that is in an object store, fetched when they are first looked at.
//!
//! Blocks that follow each other are fetched together, as a piece, into a file without a name, and that is mapped. So
//! the system keeps of them what memory allows, and nothing of them is left when the process ends.

use std::io::Write;
use std::ops::Range;
use std::sync::OnceLock;

use crate::error::{At, Result};
use crate::hamming::mapped::Mapped;
use crate::output::parent_of;
use crate::parallel::in_parallel;

use super::open::Segment;

/// The fewest blocks of a piece: about a MB.
const FEWEST_BLOCKS: usize = 8;

/// The most pieces of a segment: a process has a limited number of mappings. From 134 million rows on, pieces are larger for it.
const MOST_PIECES: usize = 1024;

/// The bytes of a piece that are in memory at a time.
const AT_A_TIME: u64 = 2 << 20;

/// How many pieces are fetched at once.
const AT_ONCE: usize = 8;

/// The pieces of a segment, as far as they were looked at.
pub(super) struct Fetched {
    /// The blocks of each piece, but for the last.
    blocks: usize,
    pieces: Vec<OnceLock<Mapped>>,
}

impl Fetched {
    /// Those of `segment`. Nothing is fetched yet.
    pub(super) fn of(segment: &Segment) -> Fetched {
        let all = segment.fingerprint_blocks().all.len();
        let blocks = all.div_ceil(MOST_PIECES).max(FEWEST_BLOCKS);
        Fetched { blocks, pieces: (0..all.div_ceil(blocks)).map(|_| OnceLock::new()).collect() }
    }

    /// The piece with block `at`, which was fetched; nothing if it was not.
    #[inline]
    pub(super) fn held(&self, at: usize) -> &[u8] {
        self.pieces[at / self.blocks].get().map_or(&[], |mapped| &mapped[..])
    }

    /// The piece with block `at` of `segment`, and where it begins in the file.
    ///
    /// # Errors
    /// Those of the object store, and of the disk that the piece is written to.
    pub(super) fn piece(&self, segment: &Segment, at: usize) -> Result<(&[u8], u64)> {
        let piece = at / self.blocks;
        let range = self.range(segment, piece);
        if self.pieces[piece].get().is_none() {
            // Two threads may fetch the same piece; the first to have it wins.
            let mapped = fetch(segment, &range)?;
            self.pieces[piece].get_or_init(|| mapped);
        }
        Ok((self.held(at), range.start))
    }

    /// Fetches the pieces with these blocks, many at once. What fails is fetched again when it is looked at.
    pub(super) fn fetch(&self, segment: &Segment, blocks: impl Iterator<Item = usize>) {
        let mut pieces: Vec<usize> = blocks.map(|at| at / self.blocks).collect();
        pieces.retain(|&piece| self.pieces[piece].get().is_none());
        pieces.sort_unstable();
        pieces.dedup();
        in_parallel(AT_ONCE, &pieces, |&piece| self.piece(segment, piece * self.blocks).is_ok());
    }

    /// Where a piece is in the file.
    fn range(&self, segment: &Segment, piece: usize) -> Range<u64> {
        let blocks = &segment.fingerprint_blocks().all;
        let first = piece * self.blocks;
        let last = (first + self.blocks).min(blocks.len()) - 1;
        blocks[first].offset..blocks[last].range().end
    }
}

/// Fetches bytes of `segment` into a file without a name, on the disk of the place that stands for it.
fn fetch(segment: &Segment, range: &Range<u64>) -> Result<Mapped> {
    let folder = parent_of(segment.path());
    let mut file = tempfile::tempfile_in(folder).at(folder)?;
    let mut bytes = Vec::new();
    for start in range.clone().step_by(AT_A_TIME as usize) {
        segment.source().read_into(start..range.end.min(start + AT_A_TIME), &mut bytes)?;
        file.write_all(&bytes).at(folder)?;
    }
    Mapped::of(&file).at(folder)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::fs::{self, File};
    use std::path::Path;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::{Arc, Mutex};

    use super::super::tests::{documents, numbers, write};
    use super::super::{Codec, Cursor, KeyRange, Paged, Ranked, SegmentOptions};
    use super::*;
    use crate::storage::{FileNumber, Mounted, Remote, add_mount};
    use crate::store::Access;

    /// An object, which counts what it was asked for.
    struct Object {
        bytes: Vec<u8>,
        asked: Mutex<Vec<Range<u64>>>,
        sent: AtomicU64,
    }

    impl Remote for Object {
        fn read_exact_at(&self, bytes: &mut [u8], at: u64) -> Result<()> {
            let end = at + bytes.len() as u64;
            bytes.copy_from_slice(&self.bytes[at as usize..end as usize]);
            self.asked.lock().unwrap().push(at..end);
            self.sent.fetch_add(bytes.len() as u64, Ordering::Relaxed);
            Ok(())
        }
    }

    /// The segment at `path` as one whose bytes are in an object.
    fn apart(path: &Path) -> (Segment, Arc<Object>) {
        let place = path.with_extension("apart");
        fs::create_dir(&place).unwrap();
        let bytes = fs::read(path).unwrap();
        let stands = place.join("a.seg");
        File::create(&stands).unwrap().set_len(bytes.len() as u64).unwrap();
        let object =
            Arc::new(Object { bytes, asked: Mutex::default(), sent: AtomicU64::default() });
        let number = FileNumber::of(&stands).unwrap();
        let remote: Arc<dyn Remote> = object.clone();
        add_mount(Mounted {
            address: format!("s3://{}", place.display()),
            place,
            remote: HashMap::from([(stands.clone(), (number, remote))]),
        });
        (Segment::open(&stands).unwrap(), object)
    }

    #[test]
    fn what_is_fetched_answers_as_the_file_does_and_no_more_is_fetched() {
        for codec in [Codec::EliasFano, Codec::Dense, Codec::Huffman] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a.seg");
            let pages: Vec<u64> = numbers(3).take(400_000).collect();
            let options = SegmentOptions { codec, ..SegmentOptions::default() };
            let here = write(&path, options, &documents(&pages), &[]).unwrap();
            let (there, object) = apart(&path);
            assert_eq!(there.codecs().unwrap(), here.codecs().unwrap());

            let column: u64 = here.codecs().unwrap().values().sum();
            object.sent.store(0, Ordering::Relaxed);
            let [one, other] =
                [&here, &there].map(|it| Ranked::<u64>::open(it, Access::Mapped).unwrap());
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
        }
    }

    #[test]
    fn no_piece_is_fetched_twice() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.seg");
        let pages: Vec<u64> = numbers(4).take(400_000).collect();
        let options = SegmentOptions { codec: Codec::Huffman, ..SegmentOptions::default() };
        write(&path, options, &documents(&pages), &[]).unwrap();
        let (there, object) = apart(&path);
        let paged = Paged::<u64>::open(&there, Access::Mapped).unwrap();
        object.asked.lock().unwrap().clear();
        let mut near = Vec::new();
        for _ in 0..2 {
            paged.near(KeyRange::all(), pages[0], 0, &mut near).unwrap();
        }
        assert_eq!(near, [pages[0]; 2]);
        let mut asked = object.asked.lock().unwrap().clone();
        asked.sort_by_key(|range| range.start);
        assert!(asked.len() > 1 && asked.windows(2).all(|pair| pair[0].end <= pair[1].start));
    }
}
