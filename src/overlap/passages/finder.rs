//! Finds the passages of pages.
//!
//! ```text
//! words of pages -> windows -> sorted by hash, page, word -> all but the first of each hash
//!                              a part of the hashes each                |
//!       passages <- neighbours are one <- sorted by page, word <--------+
//!                                         a part of the pages each
//! ```
//!
//! Each of the two sorts is done by all workers.

use std::iter::{Flatten, Peekable};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::vec;

use serde::{Deserialize, Serialize};

use super::page_words::PageWords;
use super::parted_sorter::PartedSorter;
use super::windows::Windows;
use crate::error::Result;
use crate::runs::{Record, SortedRecords, next_if};

/// A longest run of windows of a page that all stood at earlier places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Passage {
    pub page: u32,
    /// Its first word, counted from 0.
    pub word: u32,
    pub words: u32,
    /// Where it begins in the text of the page, in bytes.
    pub begin: u32,
    pub end: u32,
    /// The page where its first window stood first.
    pub of: u32,
    pub of_word: u32,
    pub of_begin: u32,
}

impl Record for Passage {}

/// A window of a page. The first of one hash is the earliest.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Window {
    hash: u128,
    page: u32,
    word: u32,
    begin: u32,
    end: u32,
}

impl Record for Window {}

/// Finds the passages of pages, which are taken by their numbers: a lower number is an earlier page.
#[derive(Debug)]
pub struct PassageFinder {
    windows: Windows,
    older: u32,
    folder: PathBuf,
    memory_bytes: usize,
    workers: usize,
    parts: PartedSorter<Window>,
    last_page: AtomicU32,
    taken: AtomicU64,
}

impl PassageFinder {
    /// Finds passages of at least `size` words. Of pages with numbers below `older` none is reported. Windows spill into `folder` when they take
    /// more than `memory_bytes`. So many workers sort them.
    pub fn new(
        size: usize,
        older: u32,
        folder: &Path,
        memory_bytes: usize,
        workers: usize,
    ) -> PassageFinder {
        // Windows are read from one sort and repeated ones put into another.
        let memory_bytes = memory_bytes / 2;
        PassageFinder {
            windows: Windows::new(size),
            older,
            folder: folder.to_path_buf(),
            memory_bytes,
            workers,
            parts: PartedSorter::new(workers, folder, memory_bytes),
            last_page: AtomicU32::new(older),
            taken: AtomicU64::new(0),
        }
    }

    /// Takes a page. Pages may come in any order and from any thread, each once.
    pub fn take(&self, page: u32, words: &PageWords) -> Result<()> {
        self.take_some(page, words, |_| true)
    }

    /// As [`PassageFinder::take`], with those windows alone whose hashes are wanted.
    pub(super) fn take_some(
        &self,
        page: u32,
        words: &PageWords,
        mut is_wanted: impl FnMut(u128) -> bool,
    ) -> Result<()> {
        let windows = self.windows();
        let size = windows.size();
        let mut taker = self.parts.taker();
        let mut taken = 0;
        for (word, hash) in windows.of(&words.hashes).filter(|&(_, hash)| is_wanted(hash)) {
            let (begin, end) = (words.places[word].start, words.places[word + size - 1].end);
            let part = part_of((hash as u32).into(), 1 << 32, taker.parts());
            taker.push(part, Window { hash, page, word: word as u32, begin, end })?;
            taken += 1;
        }
        self.taken.fetch_add(taken, Ordering::Relaxed);
        self.last_page.fetch_max(page, Ordering::Relaxed);
        taker.finish()
    }

    pub(super) fn windows(&self) -> Windows {
        self.windows.clone()
    }

    pub fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    /// The passages of all pages that are not older, in the order of pages and words.
    pub fn finish(self) -> Result<Passages> {
        let PassageFinder { windows, older, folder, memory_bytes, workers, parts, .. } = self;
        let pages = u64::from(self.last_page.into_inner() - older) + 1;
        let repeated = PartedSorter::new(workers, &folder, memory_bytes);
        parts.each_sorted(|of_part| {
            let mut taker = repeated.taker();
            let mut first: Option<Window> = None;
            for window in of_part {
                let window = window?;
                match &first {
                    Some(first) if first.hash == window.hash => {
                        if let Some(page) = window.page.checked_sub(older) {
                            let part = part_of(page.into(), pages, taker.parts());
                            taker.push(part, window.repeats(first, windows.size()))?;
                        }
                    }
                    _ => first = Some(window),
                }
            }
            taker.finish()
        })?;
        let repeated = repeated.each_sorted(Ok)?;
        Ok(Passages { repeated: repeated.into_iter().flatten().peekable() })
    }
}

/// The part of a number below `all`: lower numbers are in lower parts.
fn part_of(number: u64, all: u64, parts: usize) -> usize {
    (u128::from(number) * parts as u128 / u128::from(all)) as usize
}

impl Window {
    /// The passage of this window alone, of so many words, which stood before where `first` stands.
    fn repeats(&self, first: &Window, words: usize) -> Passage {
        let &Window { page, word, begin, end, .. } = self;
        let &Window { page: of, word: of_word, begin: of_begin, .. } = first;
        Passage { page, word, words: words as u32, begin, end, of, of_word, of_begin }
    }
}

/// Passages in the order of pages and words.
#[derive(Debug)]
pub struct Passages {
    /// Those of one window each.
    repeated: Peekable<Flatten<vec::IntoIter<SortedRecords<Passage>>>>,
}

impl Iterator for Passages {
    type Item = Result<Passage>;

    fn next(&mut self) -> Option<Result<Passage>> {
        let mut passage = match self.repeated.next()? {
            Ok(first) => first,
            error => return Some(error),
        };
        let windows = passage.words;
        loop {
            let goes_on = |next: &Passage| {
                let follows = next.word + windows == passage.word + passage.words + 1;
                next.page == passage.page && follows
            };
            match next_if(&mut self.repeated, goes_on) {
                Ok(Some(window)) => {
                    passage.words += 1;
                    passage.end = window.end;
                }
                Ok(None) => return Some(Ok(passage)),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}
