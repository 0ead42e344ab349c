//! Methods judged without labels: edited copies are planted beside real pages, and it is known of each
//! whether it should be found.
//!
//! Each page gets one copy of each [edit](Edit). All methods also compare the real pages with each other: what they
//! join there are near-duplicates of the corpus, or mistakes. The true similarity of two pages, and of a page and its copy, is
//! the Jaccard similarity of their runs of words: unrelated pages of one language have many runs of characters in common.

pub mod summary;
#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::in_parts::in_parts;
use super::{MemoryMeter, Method, MethodTexts, NEAR_PAIR_BYTES, Page};
use crate::error::{Error, Kind, Result};
use crate::features::words::han_share;
use crate::fingerprint::ShingleSet;
use crate::fingerprint::check::word_run_set;
use crate::progress::{self, Activity};
use crate::synthetic::Edit;

/// The similarity by words from which two pages are alike: one cannot lend text to the other, since the copy
/// might still be the same page, and methods that join them may be right. Unrelated pages have hardly a run
/// of three words in common, and this is where the lowest of the [bands](super::BANDS) ends.
const ALIKE: f64 = 0.3;

/// How many pages are looked at to find one that can lend text.
const LENDERS: usize = 16;

/// The most methods that are judged at once: one bit for each.
pub const MOST_METHODS: usize = 32;

/// Some methods, each a bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FoundBy(u32);

/// A page and its edited copy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlantedPair {
    /// The number of the page.
    pub page: u32,
    /// What was done to it.
    pub edit: Edit,
    /// How strongly, from 0 to 3.
    pub strength: usize,
    /// The Jaccard similarity of their runs of words.
    pub similarity: f64,
    /// The methods that found it.
    pub found_by: FoundBy,
}

/// Two pages of the sample that a method joins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JoinedPair {
    /// Their numbers, the smaller one first.
    pub pages: (u32, u32),
    /// The Jaccard similarity of their runs of words.
    pub similarity: f64,
    /// The methods that join them.
    pub found_by: FoundBy,
}

/// What is judged.
#[derive(Clone, Copy)]
pub struct PlantedEvaluation<'a> {
    /// The pages.
    pub pages: &'a [Page],
    /// The methods, at most [`MOST_METHODS`].
    pub methods: &'a [Method],
    /// What decides what is edited.
    pub seed: u64,
    /// The threads that compare.
    pub workers: usize,
    /// Counts the pages whose copies are made and compared.
    pub done: &'a AtomicU64,
}

/// What the methods found.
pub struct PlantedScores {
    /// The planted copies, in the order of the pages and of [`Edit::ALL`].
    pub planted: Vec<PlantedPair>,
    /// The pairs of pages that any method joins.
    pub joined: Vec<JoinedPair>,
    /// How many pages there are.
    pub pages: usize,
    /// How many pages have no fingerprint by any method, such as pages without words. They got no copies.
    pub without_fingerprint: u64,
}

impl FoundBy {
    /// Whether this method is one of them.
    #[must_use]
    pub fn contains(self, method: usize) -> bool {
        self.0 >> method & 1 == 1
    }

    fn of(methods: usize, is_near: impl Fn(usize) -> bool) -> FoundBy {
        let bit = |method| u32::from(is_near(method)) << method;
        FoundBy((0..methods).map(bit).sum())
    }

    /// Whether no method is one of them.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl<'a> PlantedEvaluation<'a> {
    /// Plants the copies, and compares them and the pages.
    ///
    /// # Errors
    /// [`Kind::Usage`] if there are too many methods, and before more memory is used than `memory` has left.
    pub fn scores(self, mut memory: MemoryMeter) -> Result<PlantedScores> {
        if self.methods.len() > MOST_METHODS {
            return Err(Error::new(Kind::Usage, "too many methods to judge at once")
                .expected(format!("at most {MOST_METHODS}"))
                .found(self.methods.len()));
        }
        let sets = self.sets(&mut memory)?;
        let pairs = (self.pages.len() * Edit::ALL.len() * size_of::<PlantedPair>()) as u64;
        memory.take(pairs, "the planted copies")?;
        let mut planted = Vec::new();
        let mut texts = MethodTexts::new(self.methods)?;
        memory.take(self.pages.len() as u64 * texts.bytes_each(), "what the methods keep")?;
        for part in in_parts(self.pages.len(), self.workers, |pages| self.plant(pages, &sets))? {
            planted.extend(part.0);
            texts.append(part.1);
        }
        let joined = self.join(&texts, &sets, memory)?;
        let is_without = |&page: &u32| !texts.has_fingerprint(page);
        let without_fingerprint = (0..self.pages.len() as u32).filter(is_without).count() as u64;
        Ok(PlantedScores { planted, joined, pages: self.pages.len(), without_fingerprint })
    }

    fn sets(self, memory: &mut MemoryMeter) -> Result<Vec<ShingleSet>> {
        let parts = in_parts(self.pages.len(), self.workers, |pages| {
            let set = |page: &Page| {
                progress::tick(Activity::Working);
                word_run_set(&page.text)
            };
            Ok(self.pages[pages].iter().map(set).collect::<Vec<_>>())
        })?;
        let sets: Vec<ShingleSet> = parts.into_iter().flatten().collect();
        memory.take(sets.iter().map(ShingleSet::bytes).sum(), "the runs of words of the pages")?;
        Ok(sets)
    }

    /// The copies of some pages, and what the methods keep of the pages.
    fn plant(
        self,
        pages: Range<usize>,
        sets: &[ShingleSet],
    ) -> Result<(Vec<PlantedPair>, MethodTexts<'a>)> {
        let mut planted = Vec::new();
        let mut kept = MethodTexts::new(self.methods)?;
        let mut texts = MethodTexts::new(self.methods)?;
        for at in pages {
            let page = &self.pages[at];
            kept.add(&page.text)?;
            texts.truncate(0);
            texts.add(&page.text)?;
            if !texts.has_fingerprint(0) {
                self.done.fetch_add(1, Ordering::Relaxed);
                continue;
            }
            let lender = self.lender(at, sets).map_or("", |lender| &*self.pages[lender].text);
            for (place, edit) in Edit::ALL.into_iter().enumerate() {
                let strength = (at + place) % Edit::STRENGTHS;
                let seed = xxh3_64_with_seed(page.id.as_bytes(), self.seed ^ (place as u64 + 1));
                let mut random = ChaCha8Rng::seed_from_u64(seed);
                let Some(copy) = edit.plant(strength, &page.text, lender, &mut random) else {
                    continue;
                };
                texts.truncate(1);
                texts.add(&copy)?;
                let similarity = sets[at].jaccard(&word_run_set(&copy));
                let found_by =
                    FoundBy::of(self.methods.len(), |method| texts.is_near(method, 0, 1));
                let page = at as u32;
                planted.push(PlantedPair { page, edit, strength, similarity, found_by });
                progress::tick(Activity::Working);
            }
            self.done.fetch_add(1, Ordering::Relaxed);
        }
        Ok((planted, kept))
    }

    /// The next page that has little in common with this one and is at least half as long, of the same
    /// language if there is one.
    fn lender(self, at: usize, sets: &[ShingleSet]) -> Option<usize> {
        let text = |page: usize| &*self.pages[page].text;
        let is_han = |page: usize| han_share(text(page)) >= 0.5;
        let count = self.pages.len();
        let others = (1..count).take(LENDERS).map(|step| (at + step) % count);
        let can_lend = |&other: &usize| {
            2 * text(other).len() >= text(at).len() && sets[at].jaccard(&sets[other]) < ALIKE
        };
        let mut others = others.filter(can_lend);
        let first = others.next()?;
        let own = is_han(at);
        if is_han(first) == own {
            return Some(first);
        }
        Some(others.find(|&other| is_han(other) == own).unwrap_or(first))
    }

    /// The pairs of pages that any method joins.
    fn join(
        self,
        texts: &MethodTexts<'_>,
        sets: &[ShingleSet],
        memory: MemoryMeter,
    ) -> Result<Vec<JoinedPair>> {
        let most = memory.fits(NEAR_PAIR_BYTES);
        let mut joined = Vec::new();
        for one in 0..self.pages.len() as u32 {
            for another in one + 1..self.pages.len() as u32 {
                let found_by =
                    FoundBy::of(self.methods.len(), |method| texts.is_near(method, one, another));
                if !found_by.is_empty() {
                    let similarity = sets[one as usize].jaccard(&sets[another as usize]);
                    joined.push(JoinedPair { pages: (one, another), similarity, found_by });
                }
            }
            progress::tick(Activity::Working);
            if joined.len() as u64 > most {
                return Err(memory.exceeded("the near pairs of the sample"));
            }
        }
        Ok(joined)
    }
}
