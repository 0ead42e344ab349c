//! Methods judged without labels: by what is lost with the pages that they drop, of a sample of real pages, and of edited
//! copies that are planted beside them.
//!
//! Each page gets one copy of each [edit](Edit). Of a page and its copy, how much of each text the other one has is known
//! exactly, and so is whether one of both can go without loss. All methods also judge the real pages among each other.

pub mod summary;
#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::loss::{Loss, WHOLE, in_parts, losses, run_sets};
use super::{MemoryMeter, MethodTexts, NearMethod, SampledPage};
use crate::error::Result;
use crate::features::words::han_share;
use crate::fingerprint::ShingleSet;
use crate::fingerprint::check::word_shingles;
use crate::matches::Coverages;
use crate::progress::{self, Activity};
use crate::synthetic::Edit;

/// The similarity by words from which two pages are alike: one cannot lend text to the other, since the copy
/// might still be the same page. Unrelated pages have hardly a run of three words in common.
const ALIKE: f64 = 0.3;

const LENDERS: usize = 16;

#[derive(Clone, Debug, PartialEq)]
pub struct PlantedPair {
    pub page: u32,
    pub edit: Edit,
    /// How strongly, from 0 to 3.
    pub strength: usize,
    /// The share of one of both that the other one has; the greater of both shares.
    pub containment: f64,
    /// For each method, the share of the one that goes that the other one has; none if both stay.
    pub goes: Vec<Option<f64>>,
}

impl PlantedPair {
    pub fn can_go(&self) -> bool {
        self.containment >= WHOLE
    }

    pub fn is_found_by(&self, method: usize) -> bool {
        self.goes[method].is_some()
    }

    /// Whether one goes of which the other one lacks more than a tenth.
    pub fn is_lost_by(&self, method: usize) -> bool {
        self.goes[method].is_some_and(|containment| containment < WHOLE)
    }
}

#[derive(Clone, Copy)]
pub struct PlantedEvaluation<'a> {
    pub pages: &'a [SampledPage],
    pub methods: &'a [NearMethod],
    pub seed: u64,
    pub workers: usize,
    pub done: &'a AtomicU64,
}

pub struct PlantedScores {
    pub planted: Vec<PlantedPair>,
    pub losses: Vec<Loss>,
    pub pages: usize,
    /// How many pages have no fingerprint by any method, such as pages without words. They got no copies.
    pub without_fingerprint: u64,
}

impl<'a> PlantedEvaluation<'a> {
    pub fn scores(self, mut memory: MemoryMeter) -> Result<PlantedScores> {
        let sets = run_sets(self.pages, self.workers, &mut memory)?;
        let pair = size_of::<PlantedPair>() + self.methods.len() * size_of::<Option<f64>>();
        memory.take((self.pages.len() * Edit::ALL.len() * pair) as u64, "the planted copies")?;
        let mut planted = Vec::new();
        let mut texts = MethodTexts::new(self.methods)?;
        memory.take(self.pages.len() as u64 * texts.bytes_each(), "what the methods keep")?;
        for part in in_parts(self.pages.len(), self.workers, |pages| self.plant(pages, &sets))? {
            planted.extend(part.0);
            texts.append(part.1);
        }
        let losses = losses(&texts, self.methods.len(), &sets, self.workers, memory)?;
        let is_without = |&page: &u32| !texts.has_fingerprint(page);
        let without_fingerprint = (0..self.pages.len() as u32).filter(is_without).count() as u64;
        Ok(PlantedScores { planted, losses, pages: self.pages.len(), without_fingerprint })
    }

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
                let [of_page, of_copy] = containment(&sets[at], &word_shingles(&copy));
                let goes = (0..self.methods.len())
                    .map(|method| match texts.coverages(method, 0, 1) {
                        Coverages { of_first: None, of_second: None } => None,
                        Coverages { of_first: Some(_), of_second: None } => Some(of_page),
                        Coverages { of_first: None, of_second: Some(_) } => Some(of_copy),
                        // Each can cover the other one: the shorter one goes, or without lengths the one that came later.
                        _ if texts.has_direction(method) => Some(of_page.max(of_copy)),
                        _ => Some(of_copy),
                    })
                    .collect();
                let (page, containment) = (at as u32, of_page.max(of_copy));
                planted.push(PlantedPair { page, edit, strength, containment, goes });
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
}

fn containment(one: &ShingleSet, another: &ShingleSet) -> [f64; 2] {
    let shared = one.shared(another) as f64;
    [one, another].map(|set| shared / set.len().max(1) as f64)
}
