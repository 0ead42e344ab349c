//! The pairs of a sample that are hardest to decide: those on which methods disagree, and those whose
//! similarity lies next to the least similarity of a check.

use super::Method;
use super::planted::{FoundBy, JoinedPair, PlantedScores};
use crate::progress::{self, Activity};

/// How far the estimate of a check may lie from the least similarity. The estimates of checks of 32 bytes
/// spread by a twentieth, so a pair farther away than three times that is no close call.
const NEAR: f64 = 0.15;

/// A pair that a person should judge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BorderlinePair {
    /// The numbers of the pages, the smaller one first.
    pub pages: (u32, u32),
    /// The Jaccard similarity of their sets of shingles.
    pub similarity: f64,
    /// How far the similarity by the nearest check lies from its least similarity, from 0.
    pub margin: f64,
    /// The methods that join them.
    pub found_by: FoundBy,
    /// Whether some methods join them and others do not.
    pub is_disputed: bool,
}

/// The borderline pairs among the pages of `scores`, disputed ones first, then by margin; at most `most`.
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
        if pairs.len() > 2 * most {
            keep_first(&mut pairs, most);
        }
        progress::tick(Activity::Working);
    }
    keep_first(&mut pairs, most);
    let pair = |(is_disputed, margin, pages, found_by): Ranked| {
        let (one, another) = pages;
        let similarity = scores.sets[one as usize].jaccard(&scores.sets[another as usize]);
        BorderlinePair { pages, similarity, margin, found_by, is_disputed }
    };
    pairs.into_iter().map(pair).collect()
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
        Some((similarity - method.confirm?.least).abs())
    });
    margins.fold(1.0, f64::min)
}
