//! A sketcher: one worker's texts to fingerprints, by a recipe.

use std::collections::HashMap;

use crate::error::{Error, Kind, Result};
use crate::features::tfidf::Idf;
use crate::features::{ONE, fixed};
use crate::fingerprint::reader::Reader;
use crate::fingerprint::recipe::{Features, Recipe, Sketch, Weights};
use crate::fingerprint::simhash::SimHash;
use crate::fingerprint::tally::Tally;
use crate::fingerprint::{Fingerprint, Width};
use crate::hash::{Hash, Hashed};

/// Makes the fingerprints of one recipe. It holds buffers, so each worker has its own.
#[derive(Debug)]
pub struct Sketcher {
    name: String,
    reader: Option<Reader>,
    maker: Either,
}

/// A feature of a text, with all that it adds to the fingerprint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weighted {
    /// The feature, as it was hashed.
    pub feature: String,
    /// Its hash, as wide as the fingerprint; one of 64 bits is the low half.
    pub hash: u128,
    /// What it weighs in this text, in [fixed point](crate::features::ONE).
    pub weight: i64,
}

impl Sketcher {
    pub(super) fn new(recipe: &Recipe) -> Result<Sketcher> {
        let name = recipe.name().to_owned();
        let maker = |sketch: &Sketch, weights, keywords| {
            Either::new(recipe.width(), sketch, weights, keywords)
        };
        let (reader, maker) = match recipe.features() {
            features @ (Features::Words { text, .. }
            | Features::WordShingles { text, .. }
            | Features::CharacterShingles { text, .. }) => {
                let maker = maker(&text.sketch, text.weights, text.keywords);
                (Some(Reader::new(features)), maker)
            }
            features @ (Features::WhiteSpaceTokens { sketch }
            | Features::WordCharacterShingles { sketch, .. }) => {
                (Some(Reader::new(features)), maker(sketch, Weights::Tf, None))
            }
            Features::Given { sketch } => (None, maker(sketch, Weights::Tf, None)),
            Features::External => return Err(refusal(&name, "fingerprints made elsewhere")),
        };
        Ok(Sketcher { name, reader, maker })
    }

    /// The fingerprint of `text`, none if it has no feature; one of 64 bits is the low half.
    ///
    /// Fails with [`Kind::Usage`] if the recipe takes features.
    pub fn text(&mut self, text: &str) -> Result<Option<u128>> {
        let Some(reader) = &mut self.reader else {
            return Err(refusal(&self.name, "features with weights"));
        };
        Ok(match &mut self.maker {
            Either::W64(maker) => maker.text(reader, text),
            Either::W128(maker) => maker.text(reader, text),
        })
    }

    /// The features of `text` that make its fingerprint, each once, in the order of their hashes.
    ///
    /// Fails with [`Kind::Usage`] if the recipe takes features.
    pub fn weighted(&mut self, text: &str) -> Result<Vec<Weighted>> {
        let Some(reader) = &mut self.reader else {
            return Err(refusal(&self.name, "features with weights"));
        };
        Ok(match &mut self.maker {
            Either::W64(maker) => maker.weighted(reader, text),
            Either::W128(maker) => maker.weighted(reader, text),
        })
    }

    /// The fingerprint of ready-made features with their [weights](fixed), none if there is no
    /// feature or all weigh 0; one of 64 bits is the low half.
    ///
    /// Fails with [`Kind::Usage`] if the recipe takes text, with [`Kind::BadData`] on a weight that
    /// is out of range.
    pub fn features(&mut self, features: &[(&str, f64)]) -> Result<Option<u128>> {
        if self.reader.is_some() {
            return Err(refusal(&self.name, "text"));
        }
        match &mut self.maker {
            Either::W64(maker) => maker.features(features),
            Either::W128(maker) => maker.features(features),
        }
    }
}

fn refusal(name: &str, takes: &str) -> Error {
    Error::new(Kind::Usage, format!("the recipe {name} takes {takes}"))
        .help("choose the recipe that fits the input")
}

/// A maker of the recipe's width.
#[derive(Debug)]
enum Either {
    W64(Maker<u64>),
    W128(Maker<u128>),
}

impl Either {
    fn new(width: Width, sketch: &Sketch, weights: Weights, keywords: Option<usize>) -> Either {
        match width {
            Width::W64 => Either::W64(Maker::new(sketch, weights, keywords)),
            Width::W128 => Either::W128(Maker::new(sketch, weights, keywords)),
        }
    }
}

/// Features to their fingerprint.
#[derive(Debug)]
struct Maker<F> {
    hash: Hash,
    /// What an occurrence weighs; none where that is always 1.
    idf: Option<Box<Idf>>,
    tally: Tally<F>,
    /// Whether a feature weighs the sum of its occurrences, so that none need be kept.
    sums: bool,
    simhash: SimHash<F>,
}

impl<F: Fingerprint + Hashed> Maker<F> {
    fn new(sketch: &Sketch, weights: Weights, keywords: Option<usize>) -> Maker<F> {
        Maker {
            hash: sketch.hash,
            idf: (weights == Weights::TfIdf).then(Box::default),
            tally: Tally::new(weights, keywords),
            sums: keywords.is_none() && matches!(weights, Weights::Tf | Weights::TfIdf),
            simhash: SimHash::new(sketch.ties),
        }
    }

    fn text(&mut self, reader: &mut Reader, text: &str) -> Option<u128> {
        let Maker { hash, idf, tally, sums, simhash } = self;
        match (sums, idf) {
            (true, None) => reader.each(text, |feature| simhash.add_one(hash.of(feature))),
            (true, Some(idf)) => {
                reader.each(text, |feature| simhash.add(hash.of(feature), idf.of(feature)))
            }
            (false, idf) => reader.each(text, |feature| {
                let weight = idf.as_mut().map_or(ONE, |idf| idf.of(feature));
                tally.push(hash.of(feature), weight);
            }),
        }
        tally.drain().for_each(|(hash, weight)| simhash.add(hash, weight));
        simhash.finish().map(F::to_u128)
    }

    fn weighted(&mut self, reader: &mut Reader, text: &str) -> Vec<Weighted> {
        let Maker { hash, idf, tally, .. } = self;
        let mut names = HashMap::new();
        reader.each(text, |feature| {
            let hash: F = hash.of(feature);
            tally.push(hash, idf.as_mut().map_or(ONE, |idf| idf.of(feature)));
            names.entry(hash).or_insert_with(|| feature.to_owned());
        });
        let named = |(hash, weight): (F, i64)| Weighted {
            feature: names.remove(&hash).unwrap_or_default(),
            hash: hash.to_u128(),
            weight,
        };
        let mut weighted: Vec<Weighted> = tally.drain().map(named).collect();
        weighted.sort_unstable_by_key(|feature| feature.hash);
        weighted
    }

    fn features(&mut self, features: &[(&str, f64)]) -> Result<Option<u128>> {
        let counted = features.iter().try_for_each(|(feature, weight)| {
            self.simhash.add(self.hash.of(feature), fixed(*weight)?);
            Ok(())
        });
        let fingerprint = self.simhash.finish().map(F::to_u128);
        counted.map(|()| fingerprint)
    }
}

#[cfg(test)]
mod tests;
