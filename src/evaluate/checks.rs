//! Recipes judged together with checks, at every distance. One half of the labelled clusters chooses
//! the least similarity that a check must find; the other half judges the choice.
//!
//! ```
//! use dupsieve::evaluate::checks::CheckEvaluation;
//! use dupsieve::evaluate::{Labels, Measure, MemoryMeter};
//!
//! let mut labels = Labels::default();
//! let mut texts = Vec::new();
//! for document in 0..20 {
//!     let cluster = document / 2;
//!     labels.add(&document.to_string(), &cluster.to_string())?;
//!     texts.push(Some(format!("page {cluster} of twenty, about topic {}", cluster * 7919)));
//! }
//! let evaluation = CheckEvaluation {
//!     checks: &[Measure::Jaccard],
//!     recipes: Vec::new(),
//!     texts: &texts,
//!     labels: &labels,
//!     seed: 1,
//!     max_distance: 3,
//!     workers: 1,
//! };
//! let scores = evaluation.scores(MemoryMeter::new(1 << 20))?;
//! assert_eq!(scores[0].recipe, "all pairs");
//! assert_eq!(scores[0].halves[1].f1, Some(1.0));
//! # Ok::<(), dupsieve::Error>(())
//! ```

use super::all_pairs::{self, AllPairs};
use super::sweep::by_distance;
use super::{Labels, Measure, MeasuredTexts, MemoryMeter, NEAR_PAIR_BYTES, Scores, Step};
use crate::error::Result;
use crate::progress::{self, Activity};

/// Two documents that are near: their distance, their numbers, and how alike they are.
type Near = (u32, u32, u32, Step);

/// The fingerprints of the labelled documents by one recipe; none for a document that has none.
pub struct RecipeFingerprints<'a> {
    /// The name of the recipe.
    pub name: &'a str,
    /// One for each document.
    pub fingerprints: &'a [Option<u128>],
}

/// What is judged, and by what.
pub struct CheckEvaluation<'a> {
    /// The checks.
    pub checks: &'a [Measure],
    /// The recipes.
    pub recipes: Vec<RecipeFingerprints<'a>>,
    /// The texts of the labelled documents; none for a document that the inputs lack.
    pub texts: &'a [Option<String>],
    /// Which documents belong together.
    pub labels: &'a Labels,
    /// What decides which clusters fall into which half.
    pub seed: u64,
    /// The largest distance.
    pub max_distance: u32,
    /// The threads that compare texts.
    pub workers: usize,
}

/// The least similarity that the first half chooses, and how it scores on both halves.
pub struct CheckScores {
    /// The check.
    pub check: Measure,
    /// The name of the recipe; `all pairs` if no recipe chose the pairs, `any of these` if each did.
    pub recipe: String,
    /// The largest distance; none for all pairs.
    pub k: Option<u32>,
    /// How many pairs are within it.
    pub pairs: usize,
    /// The least similarity of a pair that matches.
    pub least: Step,
    /// The scores on the half that chose, and on the half that judges.
    pub halves: [Scores; 2],
}

impl CheckEvaluation<'_> {
    /// For each check: what it reaches over all pairs of documents, then over the near pairs of each
    /// recipe for every k, and over the near pairs of any recipe.
    ///
    /// # Errors
    /// [`Kind::Usage`](crate::Kind::Usage) before more memory is used than `memory` has left.
    pub fn scores(&self, mut memory: MemoryMeter) -> Result<Vec<CheckScores>> {
        let mut scores = Vec::new();
        let present = (0..).zip(self.texts).filter(|(_, text)| text.is_some());
        let present: Vec<u32> = present.map(|(at, _)| at).collect();
        let all_pairs = all_pairs::count(present.len() as u64);
        memory.take(all_pairs, "all pairs of the documents, a byte each,")?;
        for check in self.checks {
            let mut memory = memory;
            let texts = self.measure(*check, &mut memory)?;
            let all = AllPairs::compare(present.clone(), self.workers, |one, two| {
                texts.similarity(one, two)
            });
            scores.push(self.judge(*check, "all pairs", None, all.iter()));
            drop(all);
            let mut joined: Vec<Near> = Vec::new();
            for recipe in &self.recipes {
                let pairs = self.near(recipe, &texts, memory)?;
                self.judge_each(*check, recipe.name, &pairs, &mut scores);
                memory
                    .take(pairs.len() as u64 * NEAR_PAIR_BYTES, "the near pairs of all recipes")?;
                joined.extend(pairs);
            }
            if self.recipes.len() > 1 {
                joined.sort_unstable_by_key(|&(k, one, two, _)| (one, two, k));
                joined.dedup_by_key(|&mut (_, one, two, _)| (one, two));
                self.judge_each(*check, "any of these", &joined, &mut scores);
            }
        }
        Ok(scores)
    }

    /// What `check` keeps of the texts.
    fn measure(&self, check: Measure, memory: &mut MemoryMeter) -> Result<MeasuredTexts> {
        let mut texts = check.texts();
        for text in self.texts {
            let bytes = texts.add(text.as_deref().unwrap_or_default())?;
            memory.take(bytes, "what the check keeps of the documents")?;
            progress::tick(Activity::Working);
        }
        Ok(texts)
    }

    /// The pairs that are near by a recipe.
    fn near(
        &self,
        recipe: &RecipeFingerprints<'_>,
        texts: &MeasuredTexts,
        memory: MemoryMeter,
    ) -> Result<Vec<Near>> {
        let most_pairs = memory.fits(NEAR_PAIR_BYTES);
        let near = by_distance(recipe.fingerprints, self.max_distance, most_pairs)
            .ok_or_else(|| memory.exceeded("the near pairs of a recipe"))?;
        let mut pairs = Vec::with_capacity(near.iter().map(Vec::len).sum());
        for (k, near) in (0..).zip(near) {
            for (one, two) in near {
                pairs.push((k, one, two, Step::of(texts.similarity(one, two))));
            }
            progress::tick(Activity::Working);
        }
        Ok(pairs)
    }

    /// Adds the scores for each k.
    fn judge_each(
        &self,
        check: Measure,
        recipe: &str,
        pairs: &[Near],
        scores: &mut Vec<CheckScores>,
    ) {
        scores.extend((1..=self.max_distance).map(|most| {
            let near = pairs.iter().filter(|pair| pair.0 <= most);
            let near = near.map(|&(_, one, two, step)| (one, two, step));
            self.judge(check, recipe, Some(most), near)
        }));
    }

    fn judge(
        &self,
        check: Measure,
        recipe: &str,
        k: Option<u32>,
        pairs: impl Iterator<Item = (u32, u32, Step)> + Clone,
    ) -> CheckScores {
        let count = pairs.clone().count();
        let (least, halves) = choose(pairs, self.labels, self.seed);
        CheckScores { check, recipe: recipe.to_owned(), k, pairs: count, least, halves }
    }
}

/// The least similarity that one half of the clusters chooses, and the scores on both halves. Each pair
/// of documents comes once.
fn choose(
    pairs: impl Iterator<Item = (u32, u32, Step)> + Clone,
    labels: &Labels,
    seed: u64,
) -> (Step, [Scores; 2]) {
    let choosing = labels.halves(seed);
    let judging: Vec<bool> = choosing.iter().map(|choosing| !choosing).collect();
    let halves = [choosing, judging].map(|half| labels.restrict(&half));
    let least = Step::best(within(pairs.clone(), &halves[0].1), &halves[0].0);
    let halves = halves.each_ref().map(|(labels, numbers)| {
        progress::tick(Activity::Working);
        let alike = within(pairs.clone(), numbers).filter(|pair| pair.2 >= least);
        Scores::of_each(alike.map(|(one, two, _)| (one, two)), labels)
    });
    (least, halves)
}

/// The pairs of documents that both have a number, by these numbers.
fn within(
    pairs: impl Iterator<Item = (u32, u32, Step)>,
    numbers: &[Option<u32>],
) -> impl Iterator<Item = (u32, u32, Step)> {
    let number = |document: u32| numbers[document as usize];
    pairs.filter_map(move |(one, two, step)| Some((number(one)?, number(two)?, step)))
}
