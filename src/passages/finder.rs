//! Finds the passages of pages.
//!
//! ```text
//! words of pages -> windows -> sorted by hash, page, word -> all but the first of each hash
//!                                                                       |
//!       passages <- neighbours are one <- sorted by page, word <--------+
//! ```

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::page_words::PageWords;
use super::windows::Windows;
use crate::error::Result;
use crate::runs::{Record, SortedRecords, Sorter};

/// A longest run of windows of a page that all stood at earlier places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Passage {
    /// The page that has it.
    pub page: u32,
    /// Its first word, counted from 0.
    pub word: u32,
    /// How many words it has.
    pub words: u32,
    /// Where it begins in the text of the page, in bytes.
    pub begin: u32,
    /// Where it ends.
    pub end: u32,
    /// The page where its first window stood first.
    pub of: u32,
    /// Where in that page, in words.
    pub of_word: u32,
    /// Where in that page, in bytes.
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
    sorter: Sorter<Window>,
}

impl PassageFinder {
    /// Finds passages of at least `size` words. Of pages with numbers below `older` none is reported. Windows spill into `folder` when they take
    /// more than `memory_bytes`.
    pub fn new(size: usize, older: u32, folder: &Path, memory_bytes: usize) -> PassageFinder {
        // Windows are read from one sorter and repeated ones put into another.
        let memory_bytes = memory_bytes / 2;
        PassageFinder {
            windows: Windows::new(size),
            older,
            folder: folder.to_path_buf(),
            memory_bytes,
            sorter: Sorter::new(folder, memory_bytes),
        }
    }

    /// Takes a page. Pages may come in any order, each once.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn take(&mut self, page: u32, words: &PageWords) -> Result<()> {
        self.take_some(page, words, |_| true)
    }

    /// As [`PassageFinder::take`], with those windows alone whose hashes are wanted.
    ///
    /// # Errors
    /// Those of the disk.
    pub(super) fn take_some(
        &mut self,
        page: u32,
        words: &PageWords,
        mut is_wanted: impl FnMut(u128) -> bool,
    ) -> Result<()> {
        self.windows.clear();
        let last = self.windows.size() - 1;
        for (at, &word) in words.hashes.iter().enumerate() {
            if let Some(hash) = self.windows.push(word).filter(|&hash| is_wanted(hash)) {
                let word = at - last;
                let (begin, end) = (words.places[word].start, words.places[at].end);
                self.sorter.push(Window { hash, page, word: word as u32, begin, end })?;
            }
        }
        Ok(())
    }

    /// The passages of all pages that are not older, in the order of pages and words.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn finish(self) -> Result<Passages> {
        let PassageFinder { windows, older, folder, memory_bytes, sorter } = self;
        let mut repeated = Sorter::new(&folder, memory_bytes);
        let mut first: Option<Window> = None;
        for window in sorter.sorted()? {
            let window = window?;
            match &first {
                Some(first) if first.hash == window.hash => {
                    if window.page >= older {
                        repeated.push(window.repeats(first, windows.size()))?;
                    }
                }
                _ => first = Some(window),
            }
        }
        Ok(Passages { repeated: repeated.sorted()?, next: None })
    }
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
    repeated: SortedRecords<Passage>,
    next: Option<Passage>,
}

impl Iterator for Passages {
    type Item = Result<Passage>;

    fn next(&mut self) -> Option<Result<Passage>> {
        let first = self.next.take().map(Ok).or_else(|| self.repeated.next())?;
        let mut passage = match first {
            Ok(first) => first,
            Err(error) => return Some(Err(error)),
        };
        let windows = passage.words;
        for window in &mut self.repeated {
            let window = match window {
                Ok(window) => window,
                Err(error) => return Some(Err(error)),
            };
            let follows = window.word + windows == passage.word + passage.words + 1;
            if window.page != passage.page || !follows {
                self.next = Some(window);
                break;
            }
            passage.words += 1;
            passage.end = window.end;
        }
        Some(Ok(passage))
    }
}
