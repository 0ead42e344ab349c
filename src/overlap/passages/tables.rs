//! The table of the passages of a corpus, and what is counted on the way.
//!
//! Pages have numbers while passages are found. Workers read their words twice: a filter meets all windows, and those that it met twice are sorted.
//! Words of hosts are counted while the passages get the ids of their pages, and the pages of each passage while they get those of the first ones.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::finder::{Passage, PassageFinder};
use super::most::{Most, RepeatedPassage};
use super::naming::{self, Name};
use super::page_words::PageWords;
use super::window_filter::WindowFilter;
use crate::document::{Document, Position, host};
use crate::error::{Error, Kind, Result};
use crate::matches::{KeepOrder, Turn};
use crate::output::{Staging, Sum};
use crate::parallel::in_parallel;
use crate::progress::{self, Activity};
use crate::results::ResultFormat;
use crate::runs::{Record, SortSpace, SortedRecords, Spool};

/// A page of a corpus as its words, which is put in keep order. Pages of one id come in the order in which they are read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CorpusPage {
    turn: Turn,
    id: String,
    position: Position,
    /// Its words, as [`PageWords`] writes them.
    words: Vec<u8>,
}

impl Record for CorpusPage {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.id.len() + self.words.len()
    }
}

impl CorpusPage {
    /// The page that this document is, with this text. `words` are a buffer.
    pub fn of(
        position: Position,
        document: &Document<'_>,
        text: &str,
        keep: KeepOrder,
        words: &mut PageWords,
    ) -> Result<CorpusPage> {
        words.take(text)?;
        let mut row = Vec::new();
        words.write(&mut row);
        let turn = keep.turn(document.order.key(), words.hashes.len() as u64);
        Ok(CorpusPage { turn, id: document.id.clone().into_owned(), position, words: row })
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PassagesFound {
    pub passages: u64,
    pub pages: u64,
    pub words: u64,
    pub repeated: u64,
    pub share: f64,
    pub hosts: Vec<HostWords>,
    pub most: Vec<RepeatedPassage>,
    pub files: BTreeMap<String, Sum>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostWords {
    pub host: String,
    pub words: u64,
    pub repeated: u64,
    pub share: f64,
}

const NAMED: usize = 10;

#[derive(Debug)]
pub struct PassageTables<'a> {
    /// How many words a passage has at least.
    pub size: usize,
    pub format: ResultFormat,
    /// Where sorts spill that take more than their part of `memory_bytes`.
    pub folder: &'a Path,
    /// The memory of all sorts together.
    pub memory_bytes: usize,
    pub workers: usize,
}

#[derive(PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct NumberedPage {
    pub(super) page: u32,
    pub(super) words: Vec<u8>,
}

impl Record for NumberedPage {}

impl PassageTables<'_> {
    pub fn write(
        &self,
        pages: SortedRecords<CorpusPage>,
        staging: &Staging,
    ) -> Result<PassagesFound> {
        let space = SortSpace { folder: self.folder, memory_bytes: self.memory_bytes / 12 };
        let mut found = PassagesFound::default();
        let mut hosts = Hosts::default();
        let (mut names, mut first_names) = (space.sorter(), space.sorter());
        let numbered = (0_u64..).zip(pages).map(|(page, corpus_page)| {
            let CorpusPage { id, position, words, .. } = corpus_page?;
            let page = u32::try_from(page).map_err(|_| too_many())?;
            let count = PageWords::count(&words);
            found.words += count;
            hosts.add(&id, [count, 0]);
            let name = Name { page, id, position: Some(position), day: None };
            first_names.push(name.clone())?;
            names.push(name)?;
            Ok(NumberedPage { page, words })
        });
        let numbered = Spool::write(self.folder, numbered)?;
        let finder = self.windows_met_twice(&numbered, found.words)?;
        drop(numbered);
        let mut counted: Option<(u32, u32)> = None;
        let mut most = Most::default();
        let names = [names.sorted()?, first_names.sorted()?];
        let count = |&Passage { page, word, words, .. }: &Passage, name: &Name| {
            // Passages of one page can overlap: words between two of their windows stand in both.
            let last = counted.filter(|&(last, _)| last == page);
            let new = word + words - last.map_or(word, |(_, end)| word.max(end));
            counted = Some((page, word + words));
            found.pages += u64::from(last.is_none());
            found.passages += 1;
            found.repeated += u64::from(new);
            hosts.add(&name.id, [0, new.into()]);
        };
        let take = |passage: &Passage, id: &str, of: &str| most.take(passage, id, of);
        let rows = naming::named(finder.finish()?, names, space, count, take)?;
        found.share = share(found.repeated, found.words);
        found.hosts = hosts.most();
        found.most = most.finish();
        found.files.extend([naming::write_table(rows, self.format, staging)?]);
        Ok(found)
    }

    /// Takes the windows that may be repeated: those that a filter met twice.
    pub(super) fn windows_met_twice(
        &self,
        pages: &Spool<NumberedPage>,
        words: u64,
    ) -> Result<PassageFinder> {
        let memory_bytes = self.memory_bytes / 3 * 2;
        let finder = PassageFinder::new(self.size, 0, self.folder, memory_bytes, self.workers);
        // The memory of the windows that are repeated, which are sorted when the filter is gone.
        let filter = WindowFilter::new(words, memory_bytes / 2);
        self.each_page(pages, |_, words| {
            finder.windows().of(&words.hashes).for_each(|(_, hash)| filter.meet(hash));
            Ok(())
        })?;
        self.each_page(pages, |page, words| {
            finder.take_some(page, words, |hash| filter.was_met_twice(hash))
        })?;
        Ok(finder)
    }

    fn each_page(
        &self,
        pages: &Spool<NumberedPage>,
        take: impl Fn(u32, &PageWords) -> Result<()> + Sync,
    ) -> Result<()> {
        let done = in_parallel(self.workers, &pages.parts()?, |part| {
            let mut words = PageWords::default();
            for page in pages.read(part.clone())? {
                progress::tick(Activity::Working);
                let NumberedPage { page, words: row } = page?;
                words.read(&row)?;
                take(page, &words)?;
            }
            Ok(())
        });
        done.into_iter().collect()
    }
}

fn too_many() -> Error {
    Error::new(Kind::BadData, "the corpus has too many pages to find passages in it")
        .expected("less than 4,294,967,296 pages")
        .help("divide the inputs into several corpora")
}

fn share(part: u64, of: u64) -> f64 {
    (part as f64 / of.max(1) as f64 * 1e4).round() / 1e4
}

/// The words of hosts, and how many of them are repeated.
#[derive(Default)]
struct Hosts(HashMap<String, [u64; 2]>);

impl Hosts {
    fn add(&mut self, id: &str, counts: [u64; 2]) {
        let Some(host) = host(id) else { return };
        let of = match self.0.get_mut(&*host) {
            Some(of) => of,
            None => self.0.entry(host.into_owned()).or_default(),
        };
        of.iter_mut().zip(counts).for_each(|(of, count)| *of += count);
    }

    fn most(self) -> Vec<HostWords> {
        let repeating = self.0.into_iter().filter(|(_, [_, repeated])| *repeated > 0);
        let mut hosts: Vec<HostWords> = repeating
            .map(|(host, [words, repeated])| {
                let share = share(repeated, words);
                HostWords { host, words, repeated, share }
            })
            .collect();
        hosts.sort_by(|one, other| {
            other.repeated.cmp(&one.repeated).then_with(|| one.host.cmp(&other.host))
        });
        hosts.truncate(NAMED);
        hosts
    }
}
