//! The pages of a store that pages of a new day replace, as the table `replaced` of a join lists them, and the slack of those that
//! stay and of the new ones, as the table `slack` lists it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_128;

use super::damage::damaged;
use super::digest::Digest;
use super::manifest::Entry;
use super::slack::{PageSlack, Slack};
use crate::day::Day;
use crate::document::IdSieve;
use crate::error::Error;

/// Pages of a store, each with the page that replaces it. Ids are kept as digests.
#[derive(Clone, Debug)]
pub struct Replacements {
    path: PathBuf,
    /// In order, each page once.
    pub(super) pages: Vec<Replacement>,
    sieve: IdSieve,
    slack: Vec<PageSlack>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Replacement {
    pub(super) id: u128,
    pub(super) day: Day,
    pub(super) by: u128,
    row: u64,
}

impl Replacements {
    pub fn new(path: &Path) -> Replacements {
        let sieve = IdSieve::of([].into_iter());
        Replacements { path: path.to_path_buf(), pages: Vec::new(), sieve, slack: Vec::new() }
    }

    /// Takes the page `id` of `day`, which `by` replaces, in this row of the table. Call [`Replacements::sorted`] after the last.
    pub fn push(&mut self, id: &str, day: Day, by: &str, row: u64) {
        let [id, by] = [id, by].map(|id| xxh3_128(id.as_bytes()));
        self.pages.push(Replacement { id, day, by, row });
    }

    pub fn push_slack(&mut self, id: &str, day: Option<Day>, slack: u32) {
        self.slack.push(PageSlack::new(id, day, slack));
    }

    pub fn replacing_none(self) -> Replacements {
        Replacements { slack: self.slack, ..Replacements::new(&self.path) }
    }

    /// Takes the pages of `others` too. Call [`Replacements::sorted`] after the last.
    pub fn extend(&mut self, others: Replacements) {
        self.pages.extend(others.pages);
    }

    pub fn sorted(mut self) -> Replacements {
        self.pages.sort_unstable();
        self.pages.dedup_by_key(|page| (page.id, page.day));
        self.sieve = IdSieve::of(self.pages.iter().map(|page| page.id));
        self
    }

    pub fn len(&self) -> usize {
        self.pages.len()
    }

    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    pub fn are_of(&self, entry: &Entry) -> bool {
        self.digest() == entry.replaces
    }

    pub(super) fn digest(&self) -> Option<Digest> {
        let bytes = self.pages.iter().flat_map(|page| {
            let [id, by] = [page.id, page.by].map(u128::to_le_bytes);
            [&id[..], &(page.day.number() as u32).to_le_bytes(), &by].concat()
        });
        (!self.is_empty()).then(|| Digest::of(&bytes.collect::<Vec<u8>>()))
    }

    pub(super) fn slack_bytes(&self, day: Day) -> Option<Vec<u8>> {
        Slack::of_pages(&self.slack, day).bytes()
    }

    /// The place of a page in this order, if it is listed. The id is a digest.
    pub(super) fn place(&self, id: u128, day: Day) -> Option<usize> {
        self.pages.binary_search_by_key(&(id, day), |page| (page.id, page.day)).ok()
    }

    /// The digest of an id of which a page of any day is listed.
    pub(super) fn listed(&self, id: &str) -> Option<u128> {
        let id = xxh3_128(id.as_bytes());
        let is_next = || self.pages.get(self.pages.partition_point(|page| page.id < id));
        (self.sieve.may_have(id) && is_next().is_some_and(|page| page.id == id)).then_some(id)
    }

    pub(super) fn successors(&self) -> HashSet<u128> {
        self.pages.iter().map(|page| page.by).collect()
    }

    pub(super) fn wrong(&self, page: &Replacement, what: &str) -> Error {
        damaged(what).at(&self.path).line(page.row)
    }
}
