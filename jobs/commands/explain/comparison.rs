//! Two documents compared, as `explain` prints it: what the recipe makes of each, how alike they are, and the words that differ.

use std::io::{self, Write};

use dupsieve::Result;
use dupsieve::rooms::features::ONE;
use dupsieve::rooms::fingerprint::check::word_shingles;
use dupsieve::rooms::fingerprint::{Class, Recipe, TextMeasure, Weighted, hex};
use dupsieve::rooms::matches::Confirm;
use serde_json::{Value, json};

use crate::commands::difference;

/// How many features are shown of a text, the heaviest.
const SHOWN: usize = 10;

pub(super) struct Analysed {
    pub(super) id: String,
    /// Its key, if pages have keys.
    pub(super) key: Option<String>,
    pub(super) fingerprint: u128,
    pub(super) class: Class,
    pub(super) features: Vec<Weighted>,
    pub(super) text: String,
    /// The bytes of boilerplate that the recipe leaves out.
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

    fn describe(&self, out: &mut impl Write) -> io::Result<()> {
        let [first, second] = self.shares;
        let Some(least) = self.least else { return Ok(()) };
        writeln!(
            out,
            "contained {first:.4} of the first page is in the second, {second:.4} of the second in the first"
        )?;
        writeln!(out, "          a page is dropped if a kept page contains {least} of it or more")
    }
}

fn weight(fixed: impl Into<i128>) -> f64 {
    fixed.into() as f64 / ONE as f64
}

impl Comparison<'_> {
    /// Compares two documents by a recipe, by what verdicts ask for, and by a check.
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

    /// The words that differ, with some around them.
    fn difference(&self) -> Vec<String> {
        difference::lines(self.documents.each_ref().map(|document| document.text.as_str()))
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
            "difference": self.difference(),
        })
    }

    fn document(&self, document: &Analysed) -> Value {
        let features = document.features.iter();
        let features = features.map(|it| json!([it.feature, weight(it.weight)]));
        json!({
            "id": document.id,
            "key": document.key,
            "fingerprint": hex(document.fingerprint, self.recipe.width()),
            "class": document.class,
            "boilerplate_bytes": document.dropped_bytes,
            "features": features.collect::<Vec<_>>(),
        })
    }

    pub(super) fn describe(&self, out: &mut impl Write) -> io::Result<()> {
        let Comparison { documents, recipe, containment, check } = self;
        writeln!(out, "recipe    {}, {} bits", recipe.name(), recipe.width().bits())?;
        for document in documents {
            writeln!(out, "\n{}", document.id)?;
            if let Some(key) = &document.key {
                writeln!(out, "    key          {key}")?;
            }
            writeln!(out, "    fingerprint  {}", hex(document.fingerprint, recipe.width()))?;
            if document.class == Class::Short {
                writeln!(out, "    class        short: by these features alone, the heaviest")?;
            }
            if document.dropped_bytes > 0 {
                let whole = document.text.len() + document.dropped_bytes;
                writeln!(out, "    boilerplate  {} of {whole} bytes", document.dropped_bytes)?;
            }
            let features = document.features.len();
            writeln!(out, "    features     {features}")?;
            let mut heaviest: Vec<&Weighted> = document.features.iter().collect();
            heaviest.sort_by_key(|feature| (-feature.weight, feature.hash));
            for feature in &heaviest[..features.min(SHOWN)] {
                writeln!(out, "    {:>11.3}  {:?}", weight(feature.weight), feature.feature)?;
            }
        }
        writeln!(out, "\ndistance  {}", self.distance())?;
        if documents[0].class != documents[1].class {
            writeln!(
                out,
                "          of different classes, which match by the check containment alone"
            )?;
        }
        containment.describe(out)?;
        if let Some((check, similarity)) = check {
            writeln!(out, "check     {similarity:.4} by {check}")?;
        }
        writeln!(out)?;
        self.difference().iter().try_for_each(|line| writeln!(out, "    {line}"))
    }
}
