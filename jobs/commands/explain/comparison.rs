//! Two documents compared feature by feature, as `explain` prints it.

use std::io::{self, Write};

use dupsieve::Result;
use dupsieve::rooms::features::ONE;
use dupsieve::rooms::fingerprint::check::word_shingles;
use dupsieve::rooms::fingerprint::{Class, Difference, Recipe, TextMeasure, Weighted, hex};
use dupsieve::rooms::matches::Confirm;
use serde_json::{Value, json};

/// How many features are shown for a text, for a difference, and for a bit.
const SHOWN: [usize; 3] = [10, 20, 5];

pub(super) struct Analysed {
    pub(super) id: String,
    pub(super) fingerprint: u128,
    pub(super) class: Class,
    pub(super) features: Vec<Weighted>,
    /// What the recipe takes of its text.
    pub(super) text: String,
    /// The bytes of boilerplate that the recipe leaves out.
    pub(super) dropped_bytes: usize,
}

pub(super) struct Comparison<'a> {
    documents: [Analysed; 2],
    recipe: &'a Recipe,
    difference: Difference,
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
        let [one, another] = &documents;
        let distant = one.fingerprint ^ another.fingerprint;
        let sides = [&one.features[..], &another.features[..]];
        let difference = Difference::of(sides, distant, recipe.width());
        let texts = [&*one.text, &another.text];
        let containment = Containment::of(texts, confirm);
        let check = check.or_else(|| containment.least.is_none().then_some(TextMeasure::Jaccard));
        let check = check.map(|check| Ok((check, check.similarity(texts)?))).transpose()?;
        Ok(Comparison { documents, recipe, difference, containment, check })
    }

    pub(super) fn distance(&self) -> u32 {
        self.difference.bits.len() as u32
    }

    pub(super) fn object(&self) -> Value {
        let Comparison { recipe, difference, containment, check, .. } = self;
        let check = check.map(
            |(check, similarity)| json!({ "name": check.to_string(), "similarity": similarity }),
        );
        let documents = self.documents.iter().zip(difference.totals);
        let documents = documents.map(|(document, total)| self.document(document, total));
        let moved = difference
            .moved
            .iter()
            .map(|moved| json!({ "feature": moved.feature, "weights": moved.weights.map(weight) }));
        let bits = difference.bits.iter().map(|bit| {
            let movers = bit.movers.iter().map(|&(at, way)| {
                json!({ "feature": difference.moved[at].feature, "weight": weight(way) })
            });
            json!({
                "bit": bit.place,
                "sums": bit.sums.map(weight),
                "movers": movers.collect::<Vec<_>>(),
            })
        });
        json!({
            "recipe": recipe.name(),
            "width": recipe.width().bits(),
            "documents": documents.collect::<Vec<_>>(),
            "distance": self.distance(),
            "shared_weight": weight(difference.shared),
            "containment": { "shares": containment.shares, "least": containment.least },
            "check": check,
            "moved": moved.collect::<Vec<_>>(),
            "bits": bits.collect::<Vec<_>>(),
        })
    }

    fn document(&self, document: &Analysed, total: i128) -> Value {
        let features = document.features.iter();
        let features = features.map(|it| json!([it.feature, weight(it.weight)]));
        json!({
            "id": document.id,
            "fingerprint": hex(document.fingerprint, self.recipe.width()),
            "class": document.class,
            "boilerplate_bytes": document.dropped_bytes,
            "weight": weight(total),
            "features": features.collect::<Vec<_>>(),
        })
    }

    pub(super) fn describe(&self, out: &mut impl Write) -> io::Result<()> {
        let Comparison { documents, recipe, difference, containment, check } = self;
        writeln!(out, "recipe    {}, {} bits", recipe.name(), recipe.width().bits())?;
        for (document, total) in documents.iter().zip(difference.totals) {
            writeln!(out, "\n{}", document.id)?;
            writeln!(out, "    fingerprint  {}", hex(document.fingerprint, recipe.width()))?;
            if document.class == Class::Short {
                writeln!(out, "    class        short: by these features alone, the heaviest")?;
            }
            if document.dropped_bytes > 0 {
                let whole = document.text.len() + document.dropped_bytes;
                writeln!(out, "    boilerplate  {} of {whole} bytes", document.dropped_bytes)?;
            }
            let features = document.features.len();
            writeln!(out, "    features     {features}, total weight {:.1}", weight(total))?;
            let mut heaviest: Vec<&Weighted> = document.features.iter().collect();
            heaviest.sort_by_key(|feature| (-feature.weight, feature.hash));
            for feature in &heaviest[..features.min(SHOWN[0])] {
                writeln!(out, "    {:>11.3}  {:?}", weight(feature.weight), feature.feature)?;
            }
        }
        let larger = difference.totals[0].max(difference.totals[1]);
        let shared = 100.0 * weight(difference.shared) / weight(larger);
        writeln!(
            out,
            "\ndistance  {}; {shared:.1} % of the weight is shared",
            difference.bits.len()
        )?;
        containment.describe(out)?;
        if let Some((check, similarity)) = check {
            writeln!(out, "check     {similarity:.4} by {check}")?;
        }
        let moved = &difference.moved;
        writeln!(out, "\n{} features differ     first    second", moved.len())?;
        for moved in &moved[..moved.len().min(SHOWN[1])] {
            let [first, second] = moved.weights.map(weight);
            writeln!(out, "    {first:>20.3} {second:>9.3}  {:?}", moved.feature)?;
        }
        match documents.each_ref().map(|document| document.class) {
            [Class::Full, Class::Full] => describe_bits(difference, out),
            [Class::Short, Class::Short] => Ok(()),
            _ => writeln!(
                out,
                "\nthey are of different classes, which match by the check containment alone"
            ),
        }
    }
}

/// Prints for each bit that differs both sums, and the features that changed it.
fn describe_bits(difference: &Difference, out: &mut impl Write) -> io::Result<()> {
    for bit in &difference.bits {
        let [first, second] = bit.sums.map(weight);
        writeln!(out, "\nbit {}: {first:+.3} in the first, {second:+.3} in the second", bit.place)?;
        for &(at, way) in &bit.movers[..bit.movers.len().min(SHOWN[2])] {
            writeln!(out, "    {:>+11.3}  {:?}", weight(way), difference.moved[at].feature)?;
        }
        if let Some(more) = bit.movers.len().checked_sub(SHOWN[2] + 1) {
            writeln!(out, "                 and {} more", more + 1)?;
        }
    }
    Ok(())
}
