//! The pairs of a sample that are hardest to decide: those on which methods disagree, and those whose
//! similarity lies next to the least similarity of a check.

use super::Method;
use super::planted::{FoundBy, JoinedPair, PlantedScores};
use crate::progress::{self, Activity};

/// How far the estimate of a check may lie from the least similarity. The estimates of checks of 32 bytes
/// spread by a twentieth, so a pair farther away than three times that is no close call.
const NEAR: f64 = 0.15;

/// How many pairs a page may be in, so that one page with many versions does not take all the questions.
const OF_A_PAGE: usize = 2;

/// How many times as many pairs are ranked as are shown, since pages are in many of them.
const RANKED: usize = 50;

/// A pair that a person should judge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BorderlinePair {
    /// The numbers of the pages, the smaller one first.
    pub pages: (u32, u32),
    /// The Jaccard similarity of their runs of words.
    pub similarity: f64,
    /// How far the similarity by the nearest check lies from its least similarity, from 0.
    pub margin: f64,
    /// The methods that join them.
    pub found_by: FoundBy,
    /// Whether some methods join them and others do not.
    pub is_disputed: bool,
}

/// The borderline pairs among the pages of `scores`, disputed ones first, then by margin; at most `most`, and
/// of each page at most two.
#[must_use]
pub fn borderline(
    scores: &PlantedScores<'_>,
    methods: &[Method],
    most: usize,
) -> Vec<BorderlinePair> {
    let mut pairs = Vec::new();
    let mut joined = scores.joined.iter().peekable();
    let pages = scores.sets.len() as u32;
    for one in 0..pages {
        for another in one + 1..pages {
            let joined = joined.next_if(|pair| pair.pages == (one, another));
            let found_by = joined.map_or(FoundBy::default(), |pair: &JoinedPair| pair.found_by);
            let found = (0..methods.len()).filter(|&method| found_by.contains(method)).count();
            let is_disputed = found > 0 && found < methods.len();
            let margin = margin(scores, methods, one, another);
            if is_disputed || margin <= NEAR {
                pairs.push((is_disputed, margin, (one, another), found_by));
            }
        }
        if pairs.len() > 2 * RANKED * most {
            keep_first(&mut pairs, RANKED * most);
        }
        progress::tick(Activity::Working);
    }
    keep_first(&mut pairs, RANKED * most);
    keep_few_of_a_page(&mut pairs, pages);
    pairs.truncate(most);
    let pair = |(is_disputed, margin, pages, found_by): Ranked| {
        let (one, another) = pages;
        let similarity = scores.sets[one as usize].jaccard(&scores.sets[another as usize]);
        BorderlinePair { pages, similarity, margin, found_by, is_disputed }
    };
    pairs.into_iter().map(pair).collect()
}

/// Keeps the first [`OF_A_PAGE`] pairs of each page.
fn keep_few_of_a_page(pairs: &mut Vec<Ranked>, pages: u32) {
    let mut shown = vec![0; pages as usize];
    pairs.retain(|(_, _, (one, another), _)| {
        let [one, another] = [one, another].map(|page| *page as usize);
        let is_new = shown[one] < OF_A_PAGE && shown[another] < OF_A_PAGE;
        shown[one] += usize::from(is_new);
        shown[another] += usize::from(is_new);
        is_new
    });
}

/// Whether a pair is disputed, its margin, its pages, and the methods that join them.
type Ranked = (bool, f64, (u32, u32), FoundBy);

fn keep_first(pairs: &mut Vec<Ranked>, most: usize) {
    pairs.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
    pairs.truncate(most);
}

/// How far the nearest check's similarity of two pages lies from its least similarity; 1 without a check.
fn margin(scores: &PlantedScores<'_>, methods: &[Method], one: u32, another: u32) -> f64 {
    let margins = methods.iter().enumerate().filter_map(|(at, method)| {
        let similarity = scores.texts.similarity(at, one, another)?;
        Some((similarity - method.near.as_ref()?.confirm?.least).abs())
    });
    margins.fold(1.0, f64::min)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::*;
    use crate::evaluate::planted::PlantedEvaluation;
    use crate::evaluate::{MemoryMeter, Page};
    use crate::fingerprint::Recipe;

    /// Pages that share from none to all of their words.
    fn pages() -> Vec<Page> {
        let word = |at: usize| format!("{}{} ", char::from(97 + (at / 26) as u8), at % 26 + 10);
        let letters = |text: String| text.replace(|c: char| c.is_ascii_digit(), "x");
        let page = |number: usize| -> String {
            let start = 12 * number;
            (start..start + 80).map(|at| letters(word(at)) + &"y".repeat(at % 9)).collect()
        };
        let page = |number| Page { id: format!("{number}").into(), text: page(number).into() };
        (0..30).map(page).collect()
    }

    #[test]
    fn the_pairs_are_disputed_or_near_and_no_page_comes_often() {
        let method = |distance, confirm: Option<&str>| {
            let recipe = Recipe::named("wide", None).unwrap();
            Method::near("", recipe, distance, confirm.map(|text| text.parse().unwrap()))
        };
        let methods = [method(64, Some("word-minhash:0.5")), method(10, None)];
        let pages = pages();
        let done = AtomicU64::new(0);
        let evaluation = PlantedEvaluation {
            pages: &pages,
            methods: &methods,
            seed: 1,
            workers: 2,
            done: &done,
        };
        let scores = evaluation.scores(MemoryMeter::new(1 << 24)).unwrap();
        let found = borderline(&scores, &methods, 20);
        assert!(!found.is_empty() && found.len() <= 20);
        for pair in &found {
            let (one, another) = pair.pages;
            let near = [0, 1].map(|method| scores.texts.is_near(method, one, another));
            assert_eq!(near, [0, 1].map(|method| pair.found_by.contains(method)));
            assert_eq!(pair.is_disputed, near[0] != near[1]);
            let similarity = scores.texts.similarity(0, one, another).unwrap();
            assert_eq!(pair.margin, (similarity - 0.5).abs());
            assert!(pair.is_disputed || pair.margin <= NEAR);
        }
        let order = |pair: &BorderlinePair| (!pair.is_disputed, pair.margin);
        assert!(found.windows(2).all(|two| order(&two[0]) <= order(&two[1])));
        for page in 0..30 {
            let of_page = |pair: &&BorderlinePair| pair.pages.0 == page || pair.pages.1 == page;
            assert!(found.iter().filter(of_page).count() <= OF_A_PAGE);
        }
    }
}
