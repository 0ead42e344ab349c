//! Sorted runs: a sort of any size in bounded memory.
//!
//! A [`Sorter`] collects records until they fill its memory. Then it sorts them and writes them to an
//! unnamed temporary file: a *run*. Reading back merges the runs. As soon as a level has 64 runs they
//! are merged into one run of the next level, so open files and read buffers stay few however many
//! records come. For example, with memory for 3 records and merging 2 runs at a time:
//!
//! ```text
//! pushed     5 1 4 | 2 6 0 | 7 3 8 | 9
//! level 0    145     026     378           9 stays in memory
//! level 1    012456                        145 and 026 merged as soon as there were two
//! sorted     merges 9, 378 and 012456:     0 1 2 3 4 5 6 7 8 9
//! ```
//!
//! Each run is a sequence of [frames], so a damaged disk gives an error and never another order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::Write;
use std::iter::{self, Peekable};
use std::marker::PhantomData;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::vec;

use bincode::Options;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{At, Error, Kind, Result};
use crate::frames::{self, FoundFrame, FrameFile, HEAD_BYTES, MOST_BODY_BYTES};
use crate::output;
use crate::progress::{self, Activity};

const FAN_IN: usize = 64;
/// Bytes of records in a frame, the unit that is checksummed and read at once.
const FRAME_BYTES: usize = 256 << 10;

/// A record that can be sorted on disk: it has an order and a form in bytes.
pub trait Record: Ord + Serialize + DeserializeOwned {
    /// The memory of the record in bytes, including what it points to.
    fn bytes(&self) -> usize {
        size_of::<Self>()
    }
}

impl Record for String {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.len()
    }
}

/// About how many bytes a string takes on the heap.
pub fn allocated(text: &str) -> usize {
    text.len().next_multiple_of(16) + 16
}

/// Makes a type a record that points to these texts and nothing else.
#[macro_export]
macro_rules! record {
    ($record:ty $(, $($text:ident).+)+) => {
        impl $crate::runs::Record for $record {
            fn bytes(&self) -> usize {
                size_of::<Self>() $(+ $crate::runs::allocated(&self.$($text).+))+
            }
        }
    };
}

pub use record;

/// The next record, if it is one of these. What cannot be read is an error, whatever it is.
pub fn next_if<R>(
    records: &mut Peekable<impl Iterator<Item = Result<R>>>,
    is: impl FnOnce(&R) -> bool,
) -> Result<Option<R>> {
    records.next_if(|next| next.as_ref().map_or(true, is)).transpose()
}

#[derive(Debug)]
pub struct Sorter<R> {
    folder: PathBuf,
    memory_bytes: usize,
    held: Vec<R>,
    held_bytes: usize,
    /// Runs on disk; those of level `l` are merged from `FAN_IN` of level `l - 1`.
    levels: Vec<Vec<FrameFile>>,
}

#[derive(Clone, Copy, Debug)]
pub struct SortSpace<'a> {
    pub folder: &'a Path,
    pub memory_bytes: usize,
}

impl SortSpace<'_> {
    pub fn sorter<R: Record>(self) -> Sorter<R> {
        Sorter::new(self.folder, self.memory_bytes)
    }
}

impl<R: Record> Sorter<R> {
    /// A sorter that keeps at most about `memory_bytes` of records in memory and writes runs into
    /// `folder`.
    pub fn new(folder: &Path, memory_bytes: usize) -> Sorter<R> {
        let folder = folder.to_path_buf();
        Sorter { folder, memory_bytes, held: Vec::new(), held_bytes: 0, levels: Vec::new() }
    }

    pub fn push(&mut self, record: R) -> Result<()> {
        self.held_bytes += record.bytes();
        self.held.push(record);
        // The sort itself takes half as much memory again.
        if self.held_bytes / 2 * 3 >= self.memory_bytes { self.spill() } else { Ok(()) }
    }

    /// Takes many records. Records that are partly in order are sorted fastest.
    pub fn extend(&mut self, records: impl IntoIterator<Item = R>) -> Result<()> {
        records.into_iter().try_for_each(|record| self.push(record))
    }

    pub fn sorted(mut self) -> Result<SortedRecords<R>> {
        self.held.sort();
        let mut runs: Vec<FrameFile> = self.levels.into_iter().flatten().collect();
        while runs.len() > FAN_IN {
            let first = runs.drain(..FAN_IN).collect();
            runs.push(write_run(&self.folder, SortedRecords::<R>::of(Vec::new(), first)?)?);
        }
        SortedRecords::of(self.held, runs)
    }

    /// Ends the input and returns all records in any order, which need not be the same again.
    pub fn unsorted(self) -> Result<impl Iterator<Item = Result<R>>> {
        let runs = self.levels.into_iter().flatten().map(RecordReader::whole);
        let runs = runs.collect::<Result<Vec<RecordReader<R>>>>()?;
        Ok(runs.into_iter().flatten().chain(self.held.into_iter().map(Ok)))
    }

    fn spill(&mut self) -> Result<()> {
        output::check_free_space(&self.folder, self.held_bytes as u64)?;
        self.held.sort();
        let run = write_run(&self.folder, self.held.drain(..).map(Ok))?;
        self.held_bytes = 0;
        self.add_run(0, run)
    }

    fn add_run(&mut self, level: usize, run: FrameFile) -> Result<()> {
        if self.levels.len() == level {
            self.levels.push(Vec::new());
        }
        self.levels[level].push(run);
        if self.levels[level].len() < FAN_IN {
            return Ok(());
        }
        let full = std::mem::take(&mut self.levels[level]);
        let merged = write_run(&self.folder, SortedRecords::<R>::of(Vec::new(), full)?)?;
        self.add_run(level + 1, merged)
    }
}

/// The records in ascending order. An error ends the sequence.
#[derive(Debug)]
pub struct SortedRecords<R> {
    held: vec::IntoIter<R>,
    runs: Vec<RecordReader<R>>,
    /// The next record of each run, with the run's number. Records in memory count as one more run, the
    /// last. Empty if all records are in memory.
    next: BinaryHeap<Reverse<(R, usize)>>,
}

impl<R: Record> SortedRecords<R> {
    pub fn distinct(self) -> impl Iterator<Item = Result<R>>
    where
        R: Clone,
    {
        let mut last = None;
        self.filter(move |next| match next {
            Ok(next) => last.replace(next.clone()).as_ref() != Some(next),
            Err(_) => true,
        })
    }

    fn of(held: Vec<R>, runs: Vec<FrameFile>) -> Result<SortedRecords<R>> {
        let runs = runs.into_iter().map(RecordReader::whole).collect::<Result<_>>()?;
        let mut sorted = SortedRecords { held: held.into_iter(), runs, next: BinaryHeap::new() };
        if !sorted.runs.is_empty() {
            (0..=sorted.runs.len()).try_for_each(|source| sorted.advance(source))?;
        }
        Ok(sorted)
    }

    fn advance(&mut self, source: usize) -> Result<()> {
        let record = match self.runs.get_mut(source) {
            Some(run) => run.next().transpose()?,
            None => self.held.next(),
        };
        self.next.extend(record.map(|record| Reverse((record, source))));
        Ok(())
    }
}

impl<R: Record> Iterator for SortedRecords<R> {
    type Item = Result<R>;

    fn next(&mut self) -> Option<Result<R>> {
        if self.runs.is_empty() {
            return self.held.next().map(Ok);
        }
        let Reverse((record, source)) = self.next.pop()?;
        if let Err(error) = self.advance(source) {
            self.next.clear();
            return Some(Err(error));
        }
        Some(Ok(record))
    }
}

/// Two ascending sequences as one. Of equal records that of `one` comes first.
pub fn merged<R: Ord>(
    one: impl Iterator<Item = Result<R>>,
    other: impl Iterator<Item = Result<R>>,
) -> impl Iterator<Item = Result<R>> {
    let (mut one, mut other) = (one.peekable(), other.peekable());
    iter::from_fn(move || match (one.peek(), other.peek()) {
        (Some(Ok(first)), Some(Ok(second))) if first <= second => one.next(),
        (Some(Err(_)), _) | (_, None) => one.next(),
        _ => other.next(),
    })
}

/// Records in a file, in the order in which they were written, which any number of readers read at once.
#[derive(Debug)]
pub struct Spool<R> {
    run: FrameFile,
    records: PhantomData<fn() -> R>,
}

impl<R: Record> Spool<R> {
    /// Writes records into a file in `folder` that has no name.
    pub fn write(folder: &Path, records: impl Iterator<Item = Result<R>>) -> Result<Spool<R>> {
        Ok(Spool { run: write_run(folder, records)?, records: PhantomData })
    }

    /// Parts of it, in order, each to be read by itself.
    pub fn parts(&self) -> Result<Vec<Range<u64>>> {
        let mut all = self.all()?;
        let parts = std::iter::from_fn(|| all.skip_frame().transpose());
        parts.collect()
    }

    pub fn all(&self) -> Result<RecordReader<R>> {
        self.read(0..self.run.bytes()?)
    }

    pub fn read(&self, part: Range<u64>) -> Result<RecordReader<R>> {
        let FrameFile { path, file } = &self.run;
        let run = FrameFile { path: path.clone(), file: file.try_clone().at(path)? };
        Ok(RecordReader::open(run, part, damaged_run))
    }
}

/// How records are encoded in a frame: bincode 1 with integers of fixed size and a limit of bytes.
fn encoding(limit: u64) -> impl Options {
    bincode::DefaultOptions::new().with_fixint_encoding().allow_trailing_bytes().with_limit(limit)
}

fn write_run<R: Record>(
    folder: &Path,
    records: impl Iterator<Item = Result<R>>,
) -> Result<FrameFile> {
    let mut file = tempfile::tempfile_in(folder).at(folder)?;
    write_records(&mut file, folder, 0, records)?;
    Ok(FrameFile { path: folder.to_path_buf(), file })
}

/// Writes records as frames to `out`, which is the file at `path` from the offset `at` on.
pub fn write_records<R: Record>(
    out: &mut impl Write,
    path: &Path,
    mut at: u64,
    records: impl Iterator<Item = Result<R>>,
) -> Result<()> {
    let mut frame = Vec::with_capacity(2 * FRAME_BYTES);
    frame.resize(HEAD_BYTES, 0);
    let mut write = |frame: &mut Vec<u8>| {
        progress::tick(Activity::Sorting);
        frames::seal(0, at, frame);
        out.write_all(frame).at(path)?;
        at += frame.len() as u64;
        frame.truncate(HEAD_BYTES);
        Ok::<(), Error>(())
    };
    for record in records {
        let encoding = encoding((MOST_BODY_BYTES - FRAME_BYTES) as u64);
        encoding.serialize_into(&mut frame, &record?).map_err(|cause| {
            Error::new(Kind::Internal, format!("a record cannot be written to disk: {cause}"))
                .at(path)
        })?;
        if frame.len() - HEAD_BYTES >= FRAME_BYTES {
            write(&mut frame)?;
        }
    }
    if frame.len() > HEAD_BYTES { write(&mut frame) } else { Ok(()) }
}

#[derive(Debug)]
pub struct RecordReader<R> {
    run: FrameFile,
    left: Range<u64>,
    frame: Vec<u8>,
    at: usize,
    /// The error for frames that are not as they were written.
    damaged: fn(&str) -> Error,
    records: PhantomData<R>,
}

impl<R: Record> RecordReader<R> {
    fn whole(run: FrameFile) -> Result<RecordReader<R>> {
        let end = run.bytes()?;
        Ok(RecordReader::open(run, 0..end, damaged_run))
    }

    pub fn open(run: FrameFile, part: Range<u64>, damaged: fn(&str) -> Error) -> RecordReader<R> {
        RecordReader { run, left: part, frame: Vec::new(), at: 0, damaged, records: PhantomData }
    }

    /// Passes a frame and gives its place; none at the end.
    pub fn skip_frame(&mut self) -> Result<Option<Range<u64>>> {
        let Range { start, end } = self.left;
        if start == end {
            return Ok(None);
        }
        let found = self.run.head(start, end)?;
        self.pass(found)?;
        Ok(Some(start..self.left.start))
    }

    fn pass(&mut self, found: FoundFrame) -> Result<()> {
        let what = match found {
            FoundFrame::Frame(head) => {
                self.left.start = head.end(self.left.start);
                return Ok(());
            }
            FoundFrame::Damaged(_) => "a frame's checksum is wrong",
            FoundFrame::NoHead => "the head of a frame is wrong",
            FoundFrame::End => "it ends within a frame",
        };
        Err(self.damaged(what))
    }

    fn read_frame(&mut self) -> Result<()> {
        progress::tick(Activity::Sorting);
        let found = self.run.read(self.left.start, self.left.end, &mut self.frame)?;
        self.at = 0;
        self.pass(found)
    }

    fn read_record(&mut self) -> Result<R> {
        if self.at == self.frame.len() {
            self.read_frame()?;
        }
        let mut rest = &self.frame[self.at..];
        let record = encoding(rest.len() as u64).deserialize_from(&mut rest);
        self.at = self.frame.len() - rest.len();
        record.map_err(|_| self.damaged("a record cannot be read"))
    }

    fn damaged(&self, what: &str) -> Error {
        (self.damaged)(what).at(&self.run.path)
    }
}

fn damaged_run(what: &str) -> Error {
    Error::new(Kind::Io, format!("a sorted run on disk is damaged: {what}"))
        .help("check the disk and try again")
}

impl<R: Record> Iterator for RecordReader<R> {
    type Item = Result<R>;

    fn next(&mut self) -> Option<Result<R>> {
        let more = self.at < self.frame.len() || !self.left.is_empty();
        more.then(|| self.read_record())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;
    use proptest::prelude::*;

    impl Record for u64 {}

    impl Record for (String, u64) {
        fn bytes(&self) -> usize {
            size_of::<Self>() + self.0.len()
        }
    }

    fn sort<R: Record>(records: Vec<R>, memory_bytes: usize) -> Vec<R> {
        let mut sorter = Sorter::new(&std::env::temp_dir(), memory_bytes);
        sorter.extend(records).unwrap();
        sorter.sorted().unwrap().collect::<Result<_>>().unwrap()
    }

    #[test]
    fn many_levels_of_runs_give_every_record_once() {
        let records: Vec<u64> =
            (0..20_000).map(|i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        let mut expected = records.clone();
        expected.sort();
        assert_eq!(sort(records, 3 * size_of::<u64>()), expected);
    }

    #[test]
    fn a_spool_is_read_in_parts() {
        let spool = Spool::write(&std::env::temp_dir(), (0..100_000_u64).map(Ok)).unwrap();
        let parts = spool.parts().unwrap();
        assert!(parts.len() > 2);
        for _ in 0..2 {
            let records = parts.iter().flat_map(|part| spool.read(part.clone()).unwrap());
            assert!(records.map(Result::unwrap).eq(0..100_000));
        }
    }

    #[test]
    fn a_flipped_bit_on_disk_is_an_error() {
        let folder = std::env::temp_dir();
        let run = write_run(&folder, (0..1000_u64).map(Ok)).unwrap();
        run.file.write_all_at(&[0xff], 500).unwrap();
        let end = run.bytes().unwrap();
        let read: Result<Vec<u64>> = RecordReader::open(run, 0..end, damaged_run).collect();
        assert!(read.unwrap_err().to_string().contains("checksum"));
    }

    proptest! {
        #[test]
        fn sorting_in_little_memory_is_sorting(
            records in prop::collection::vec((".{0,12}", any::<u64>()), 0..300),
            memory_bytes in 1_usize..4000,
        ) {
            let mut expected = records.clone();
            expected.sort();
            prop_assert_eq!(sort(records, memory_bytes), expected);
        }
    }
}
