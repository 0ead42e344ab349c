//! Methods judged by labels, as a join by each would find pairs among all labelled documents.

use super::in_parts::in_parts;
use super::{Labels, MemoryMeter, MethodTexts, NEAR_PAIR_BYTES, NearMethod, Pairs, Scores};
use crate::error::Result;
use crate::progress::{self, Activity};

/// The most documents that are judged, since all pairs of them are compared.
pub const MOST_DOCUMENTS: usize = 50_000;

/// The scores of each method, which has no part that was chosen by the labels. A document without a text is near to none.
///
/// # Errors
/// [`Kind::Usage`](crate::Kind::Usage) before more memory is used than `memory` has left.
pub fn score_methods(
    methods: &[NearMethod],
    texts: &[Option<String>],
    labels: &Labels,
    workers: usize,
    mut memory: MemoryMeter,
) -> Result<Vec<Scores>> {
    let kept = method_texts(methods, texts, workers, &mut memory)?;
    let score = |method| {
        let pairs = near_pairs(&kept, method, texts.len() as u32, memory)?;
        Ok(Scores::of(&pairs, labels))
    };
    (0..methods.len()).map(score).collect()
}

/// What the methods keep of the texts. A missing text counts as an empty one.
fn method_texts<'m>(
    methods: &'m [NearMethod],
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

    /// By the definition: all pairs of fingerprints are compared, and the near pairs scored.
    #[test]
    fn the_scores_are_those_of_the_near_pairs() {
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
            let (name, recipe) = ("words".to_owned(), recipe.clone());
            NearMethod { name, recipe, distance, confirm: None }
        });
        let memory = MemoryMeter::new(1 << 20);
        let scores = score_methods(&methods, &texts, &labels, 2, memory).unwrap();
        let mut sketcher = recipe.sketcher().unwrap();
        let fingerprint =
            |text: &Option<String>| text.as_ref().and_then(|text| sketcher.text(text).unwrap());
        let fingerprints: Vec<Option<u128>> = texts.iter().map(fingerprint).collect();
        for (method, scores) in methods.iter().zip(&scores) {
            let mut pairs = Vec::new();
            for one in 0..24 {
                for two in one + 1..24 {
                    let near = fingerprints[one]
                        .zip(fingerprints[two])
                        .is_some_and(|(a, b)| (a ^ b).count_ones() <= method.distance);
                    pairs.extend(near.then_some((one as u32, two as u32)));
                }
            }
            assert_eq!(*scores, Scores::of(&Pairs::of(pairs), &labels));
            assert_eq!(scores.positives, 12);
        }
        assert!(scores[1].pairs > 0);
        let little = MemoryMeter::new(100);
        assert!(score_methods(&methods, &texts, &labels, 2, little).is_err());
    }
}
