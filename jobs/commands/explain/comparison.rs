//! Two documents compared, as `explain` prints it: what the recipe makes of each, how alike they are, and the words that differ.

use dupsieve::Result;
use dupsieve::rooms::features::ONE;
use dupsieve::rooms::fingerprint::check::word_shingles;
use dupsieve::rooms::fingerprint::{Class, Recipe, TextMeasure, Weighted, hex};
use dupsieve::rooms::matches::Confirm;
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

pub(super) struct Comparison<'a> {
    documents: [Analysed; 2],
    recipe: &'a Recipe,
    containment: Containment,
    /// What else tells how alike they are, and how alike.
    check: Option<(TextMeasure, f64)>,
}

struct Containment {
    /// The share of the first text that the second has, and the other way round: of its 3-word shingles, exactly.
    shares: [f64; 2],
    /// The share from which on a page is dropped, if verdicts ask for it.
    least: Option<f64>,
}

impl Containment {
    fn of(texts: [&str; 2], confirm: Option<Confirm>) -> Containment {
        let [one, another] = texts.map(word_shingles);
        let shared = one.shared(&another) as f64;
        let shares = [&one, &another].map(|of| shared / of.len().max(1) as f64);
        let least = confirm.filter(Confirm::has_direction).map(|confirm| confirm.least);
        Containment { shares, least }
    }
}

fn weight(fixed: impl Into<i128>) -> f64 {
    fixed.into() as f64 / ONE as f64
}

impl Comparison<'_> {
    pub(super) fn of(
        documents: [Analysed; 2],
        recipe: &Recipe,
        check: Option<TextMeasure>,
        confirm: Option<Confirm>,
    ) -> Result<Comparison<'_>> {
        let texts = documents.each_ref().map(|document| document.text.as_str());
        let containment = Containment::of(texts, confirm);
        let check = check.or_else(|| containment.least.is_none().then_some(TextMeasure::Jaccard));
        let check = check.map(|check| Ok((check, check.similarity(texts)?))).transpose()?;
        Ok(Comparison { documents, recipe, containment, check })
    }

    pub(super) fn distance(&self) -> u32 {
        let [one, another] = self.documents.each_ref().map(|document| document.fingerprint);
        (one ^ another).count_ones()
    }

    pub(super) fn object(&self) -> Value {
        let Comparison { recipe, containment, check, .. } = self;
        let check = check.map(
            |(check, similarity)| json!({ "name": check.to_string(), "similarity": similarity }),
        );
        json!({
            "recipe": recipe.name(),
            "width": recipe.width().bits(),
            "documents": self.documents.each_ref().map(|document| self.document(document)),
            "distance": self.distance(),
            "containment": { "shares": containment.shares, "least": containment.least },
            "check": check,
            "difference": difference::lines(self.documents.each_ref().map(|document| document.text.as_str())),
        })
    }

    fn document(&self, document: &Analysed) -> Value {
        let mut heaviest: Vec<&Weighted> = document.features.iter().collect();
        heaviest.sort_by_key(|feature| (-feature.weight, feature.hash));
        let features = heaviest.iter().map(|it| json!([it.feature, weight(it.weight)]));
        json!({
            "id": document.id,
            "key": document.key,
            "fingerprint": hex(document.fingerprint, self.recipe.width()),
            "class": document.class,
            "bytes": document.text.len() + document.dropped_bytes,
            "boilerplate_bytes": document.dropped_bytes,
            "features": features.collect::<Vec<_>>(),
        })
    }
}
