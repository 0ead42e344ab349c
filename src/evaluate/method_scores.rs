//! Methods judged by labels, as a join by each would find pairs among all labelled documents.

use super::in_parts::in_parts;
use super::{
    Labels, MemoryMeter, Method, MethodCost, MethodTexts, NEAR_PAIR_BYTES, Pairs, PartScores,
    Scores, Traits, by_part,
};
use crate::error::Result;
use crate::progress::{self, Activity};

/// How a method agrees with labels. It has no part that was chosen by them.
#[derive(Clone, Debug)]
pub struct MethodScores {
    /// The scores on the half of the clusters that chooses among recipes, and on the half that judges.
    pub halves: [Scores; 2],
    /// The scores on all clusters.
    pub whole: Scores,
    /// The scores on all clusters by length and by language.
    pub parts: Vec<PartScores>,
    /// What the method keeps of all texts, and how long it takes to make that.
    pub cost: MethodCost,
}

/// The scores of each method. The seed decides which clusters fall into which half, as in a
/// [sweep](super::sweep::score_halves). A document without a text is near to none.
///
/// # Errors
/// [`Kind::Usage`](crate::Kind::Usage) before more memory is used than `memory` has left.
pub fn score_methods(
    methods: &[Method],
    texts: &[Option<String>],
    labels: &Labels,
    (seed, workers): (u64, usize),
    mut memory: MemoryMeter,
) -> Result<Vec<MethodScores>> {
    let kept = method_texts(methods, texts, workers, &mut memory)?;
    let traits: Vec<_> = texts.iter().map(|text| text.as_deref().map(Traits::of)).collect();
    let choosing = labels.halves(seed);
    let judging: Vec<bool> = choosing.iter().map(|choosing| !choosing).collect();
    let halves = [choosing, judging].map(|half| labels.restrict(&half));
    let score = |method| {
        let pairs = near_pairs(&kept, method, texts.len() as u32, memory)?;
        let halves = halves.each_ref().map(|(labels, numbers)| {
            let number = |document: u32| numbers[document as usize];
            let within = pairs.as_slice().iter();
            let within = within.filter_map(|&(one, two)| Some((number(one)?, number(two)?)));
            Scores::of(&Pairs::of(within), labels)
        });
        let parts = by_part(&pairs, labels, &traits);
        let whole = Scores::of(&pairs, labels);
        Ok(MethodScores { halves, whole, parts, cost: kept.cost(method) })
    };
    (0..methods.len()).map(score).collect()
}

/// What the methods keep of the texts. A missing text counts as an empty one.
///
/// # Errors
/// [`Kind::Usage`](crate::Kind::Usage) before more memory is used than `memory` has left.
pub fn method_texts<'m>(
    methods: &'m [Method],
    texts: &[Option<String>],
    workers: usize,
    memory: &mut MemoryMeter,
) -> Result<MethodTexts<'m>> {
    let mut kept = MethodTexts::new(methods)?;
    memory.take(texts.len() as u64 * kept.bytes_each(), "what the methods keep")?;
    let parts = in_parts(texts.len(), workers, |part| {
        let mut kept = MethodTexts::new(methods)?;
        for text in &texts[part] {
            kept.add(text.as_deref().unwrap_or_default())?;
            progress::tick(Activity::Working);
        }
        Ok(kept)
    })?;
    parts.into_iter().for_each(|part| kept.append(part));
    Ok(kept)
}

/// The pairs of documents that a method finds.
fn near_pairs(
    texts: &MethodTexts<'_>,
    method: usize,
    documents: u32,
    memory: MemoryMeter,
) -> Result<Pairs> {
    let mut pairs = Vec::new();
    for one in 0..documents {
        pairs.extend(
            (one + 1..documents)
                .filter(|&another| texts.is_near(method, one, another))
                .map(|another| (one, another)),
        );
        progress::tick(Activity::Working);
        if pairs.len() as u64 > memory.fits(NEAR_PAIR_BYTES) {
            return Err(memory.exceeded("the near pairs of a method"));
        }
    }
    Ok(Pairs::of(pairs))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fingerprint::Recipe;

    /// The halves are scored as a sweep scores the recipe at that distance.
    #[test]
    fn a_recipe_alone_scores_as_in_a_sweep() {
        let mut labels = Labels::default();
        let mut texts = Vec::new();
        for document in 0..24 {
            let cluster = document / 2;
            labels.add(&document.to_string(), &cluster.to_string()).unwrap();
            let words = (0..30).map(|at| format!("{}", (cluster * 31 + at) * 7919 % 101));
            let text = words.collect::<Vec<_>>().join(" ");
            texts.push((document != 5).then(|| format!("{text} {}", "x ".repeat(document % 4))));
        }
        let recipe = Recipe::named("words-1", None).unwrap();
        let methods = [2, 12].map(|distance| {
            let recipe = recipe.clone();
            Method::near("words", recipe, distance, None)
        });
        let memory = MemoryMeter::new(1 << 20);
        let scores = score_methods(&methods, &texts, &labels, (3, 2), memory).unwrap();
        let mut sketcher = recipe.sketcher().unwrap();
        let fingerprint =
            |text: &Option<String>| text.as_ref().and_then(|text| sketcher.text(text).unwrap());
        let fingerprints: Vec<Option<u128>> = texts.iter().map(fingerprint).collect();
        let sweep = super::super::sweep::score_halves(&fingerprints, &labels, 3, 12, 1000).unwrap();
        for (method, scores) in methods.iter().zip(&scores) {
            let row = &sweep[method.near.as_ref().unwrap().distance as usize];
            assert_eq!(scores.halves, [row.choosing, row.judging]);
            let all: u64 = scores.parts.iter().map(|part| part.positives).sum();
            assert_eq!((all, scores.whole.positives), (11, 12));
        }
        assert!(scores[1].whole.pairs > 0);
        let little = MemoryMeter::new(100);
        assert!(score_methods(&methods, &texts, &labels, (3, 2), little).is_err());
    }
}
