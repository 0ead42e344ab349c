//! Two documents compared, as `explain` prints it: what the recipe makes of each, how alike they are, and the words that differ.

use dupsieve::Result;
use dupsieve::features::ONE;
use dupsieve::fingerprint::check::word_shingles;
use dupsieve::fingerprint::{Class, Recipe, TextMeasure, Weighted, hex};
use dupsieve::matches::Confirm;
use serde_json::{Value, json};

use crate::commands::difference;

#[derive(Clone)]
pub(super) struct Analysed {
    pub(super) id: String,
    pub(super) key: Option<String>,
    pub(super) fingerprint: u128,
    pub(super) class: Class,
    pub(super) features: Vec<Weighted>,
    pub(super) text: String,
    pub(super) dropped_bytes: usize,
}

pub(super) fn distance([one, another]: &[Analysed; 2]) -> u32 {
    (one.fingerprint ^ another.fingerprint).count_ones()
}

/// Two documents compared by a recipe, by what verdicts ask for, and by a check.
pub(super) fn compared(
    documents: &[Analysed; 2],
    recipe: &Recipe,
    check: Option<TextMeasure>,
    confirm: Option<Confirm>,
) -> Result<Value> {
    let texts = documents.each_ref().map(|document| document.text.as_str());
    let [one, another] = texts.map(word_shingles);
    let shared = one.shared(&another) as f64;
    let shares = [&one, &another].map(|of| shared / of.len().max(1) as f64);
    let least = confirm.filter(Confirm::has_direction).map(|confirm| confirm.least);
    let check = check.or_else(|| least.is_none().then_some(TextMeasure::Jaccard));
    let similarity = check.map(|check| check.similarity(texts)).transpose()?;
    let check = check.map(|it| json!({ "name": it.to_string(), "similarity": similarity }));
    Ok(json!({
        "recipe": recipe.name(),
        "width": recipe.width().bits(),
        "documents": documents.each_ref().map(|it| shown(it, recipe)),
        "distance": distance(documents),
        "containment": { "shares": shares, "least": least },
        "check": check,
        "difference": difference::lines(texts),
    }))
}

fn shown(document: &Analysed, recipe: &Recipe) -> Value {
    let mut heaviest: Vec<&Weighted> = document.features.iter().collect();
    heaviest.sort_by_key(|feature| (-feature.weight, feature.hash));
    let features = heaviest.iter().map(|it| json!([it.feature, it.weight as f64 / ONE as f64]));
    json!({
        "id": document.id,
        "key": document.key,
        "fingerprint": hex(document.fingerprint, recipe.width()),
        "class": document.class,
        "bytes": document.text.len() + document.dropped_bytes,
        "boilerplate_bytes": document.dropped_bytes,
        "features": features.collect::<Vec<_>>(),
    })
}
