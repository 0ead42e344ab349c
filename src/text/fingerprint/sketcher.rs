//! A sketcher: one worker's texts to fingerprints, by a recipe.

mod short;

use std::collections::HashMap;
use std::fmt;

use crate::error::{Error, Kind, Result};
use crate::features::fixed;
use crate::features::tfidf::Idf;
use crate::features::weigher::{Weigher, is_short as is_short_word};
use crate::fingerprint::page_time::{PageClock, PageTime};
use crate::fingerprint::reader::{Reader, words};
use crate::fingerprint::recipe::{Features, Recipe, ShortWords, SketchParts, Text, Weights};
use crate::fingerprint::simhash::SimHash;
use crate::fingerprint::tally::Tally;
use crate::fingerprint::{Class, Fingerprint, Width};
use crate::hash::{Hash, Hashed};

use short::Short;

/// Makes the fingerprints of one recipe. It has buffers, so each worker needs its own.
#[derive(Debug)]
pub struct Sketcher {
    name: String,
    reader: Option<Reader>,
    maker: Box<dyn Make>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weighted {
    pub feature: String,
    /// Its hash, as wide as the fingerprint; one of 64 bits is the low half.
    pub hash: u128,
    /// What it weighs in this text, in [fixed point](crate::features::ONE).
    pub weight: i64,
}

impl Recipe {
    pub fn sketcher(&self) -> Result<Sketcher> {
        self.check_segmenter()?;
        let name = self.name().to_owned();
        let Some(sketch) = self.sketch() else {
            let is_vector = self.takes_vectors();
            let takes = if is_vector { "vectors" } else { "fingerprints made elsewhere" };
            return Err(refusal(&name, takes));
        };
        let features = self.features();
        let reader = self.takes_text().then(|| Reader::new(features));
        let maker: Box<dyn Make> = match self.width() {
            Width::W64 => Box::new(Maker::<u64>::new(sketch, features)),
            Width::W128 => Box::new(Maker::<u128>::new(sketch, features)),
        };
        Ok(Sketcher { name, reader, maker })
    }
}

impl Sketcher {
    pub fn allow(mut self, time: PageTime) -> Sketcher {
        if let Some(reader) = &mut self.reader {
            reader.clock = PageClock::new(time);
        }
        self
    }

    /// The fingerprint of `text` and its class, `None` if it has no feature.
    pub fn page(&mut self, text: &str) -> Result<Option<(u128, Class)>> {
        self.timed(text, |maker, reader| maker.text(reader, text))
    }

    pub fn each(&mut self, text: &str, feature: impl FnMut(&str)) -> Result<()> {
        self.timed(text, |_, reader| reader.each(text, feature))
    }

    fn timed<T>(
        &mut self,
        text: &str,
        take: impl FnOnce(&mut dyn Make, &mut Reader) -> T,
    ) -> Result<T> {
        let Some(reader) = &mut self.reader else {
            return Err(refusal(&self.name, "features with weights"));
        };
        reader.clock.start(text);
        let taken = take(&mut *self.maker, reader);
        reader.clock.finish().map(|()| taken)
    }

    /// The fingerprint of `text`, `None` if it has no feature. A fingerprint of 64 bits is the low half.
    pub fn text(&mut self, text: &str) -> Result<Option<u128>> {
        Ok(self.page(text)?.map(|(fingerprint, _)| fingerprint))
    }

    /// The features of `text` that make its fingerprint, each once, in the order of their hashes.
    pub fn weighted(&mut self, text: &str) -> Result<Vec<Weighted>> {
        self.timed(text, |maker, reader| maker.weighted(reader, text))
    }

    /// The fingerprint of ready-made features with their [weights](fixed), none if there is no
    /// feature or all weigh 0; one of 64 bits is the low half.
    pub fn features(&mut self, features: &[(&str, f64)]) -> Result<Option<u128>> {
        if self.reader.is_some() {
            return Err(refusal(&self.name, "text"));
        }
        self.maker.features(features)
    }
}

fn refusal(name: &str, takes: &str) -> Error {
    Error::new(Kind::Usage, format!("the recipe {name} takes {takes}"))
        .help("choose the recipe that fits the input")
}

trait Make: fmt::Debug + Send + Sync {
    fn text(&mut self, reader: &mut Reader, text: &str) -> Option<(u128, Class)>;
    fn weighted(&mut self, reader: &mut Reader, text: &str) -> Vec<Weighted>;
    fn features(&mut self, features: &[(&str, f64)]) -> Result<Option<u128>>;
}

fn idf(text: &Text) -> Weigher {
    match &text.idf {
        Some(counts) => Weigher::Counted(counts.clone()),
        None => Weigher::Jieba(Idf::shared()),
    }
}

#[derive(Debug)]
struct Maker<F> {
    hash: Hash,
    weigher: Weigher,
    halves: bool,
    tally: Tally<F>,
    /// Whether each occurrence of a feature weighs 1, so that none need be kept.
    ones: bool,
    simhash: SimHash<F>,
    short: Option<Short<F>>,
}

impl<F: Fingerprint + Hashed> Maker<F> {
    fn new(sketch: &SketchParts, features: &Features) -> Maker<F> {
        let text = features.text();
        let weights = text.map_or(Weights::Tf, |text| text.weights);
        let weigher = match (weights, text) {
            (Weights::TfIdf, Some(text)) => idf(text),
            (Weights::Speech, _) => Weigher::Speech(Box::new(words(features).speech())),
            _ => Weigher::Even,
        };
        let keywords = text.and_then(|text| text.keywords);
        let short = text.and_then(|text| Some(Short::new(text.short_text?, idf(text))));
        let halves = text.is_some_and(|text| text.short_words == ShortWords::Half);
        let needs_weights = keywords.is_some() || short.as_ref().is_some_and(Short::takes_weights);
        Maker {
            hash: sketch.hash,
            tally: Tally::new(weights, keywords),
            ones: weights == Weights::Tf && !halves && !needs_weights,
            weigher,
            halves,
            simhash: SimHash::new(sketch.ties),
            short,
        }
    }

    /// Takes the features of `text` into the tally; `name` is called with each and its hash.
    fn tally(&mut self, reader: &mut Reader, text: &str, mut name: impl FnMut(F, &str)) {
        let Maker { hash, weigher, halves, tally, .. } = self;
        reader.each(text, |feature| {
            let hash = hash.of(feature);
            tally.push(hash, || weigh(weigher, *halves, feature));
            name(hash, feature);
        });
    }
}

impl<F: Fingerprint + Hashed> Make for Maker<F> {
    fn text(&mut self, reader: &mut Reader, text: &str) -> Option<(u128, Class)> {
        let Maker { hash, short, .. } = self;
        if let Some(short) = short.as_mut().filter(|short| short.takes(text)) {
            return Some((short.text(*hash, reader, text)?, Class::Short));
        }
        if self.ones {
            let Maker { hash, simhash, .. } = self;
            reader.each(text, |feature| simhash.add_one(hash.of(feature)));
        } else {
            self.tally(reader, text, |_, _| ());
            let Maker { hash, tally, simhash, short, .. } = self;
            let weighed = tally.weigh();
            if let Some(short) = short.as_mut().filter(|short| short.takes_weighed(weighed)) {
                return Some((short.text(*hash, reader, text)?, Class::Short));
            }
            weighed.iter().for_each(|&(hash, weight)| simhash.add(hash, weight));
        }
        self.simhash.finish().map(|fingerprint| (fingerprint.to_u128(), Class::Full))
    }

    fn weighted(&mut self, reader: &mut Reader, text: &str) -> Vec<Weighted> {
        let mut names = HashMap::new();
        self.tally(reader, text, |hash, feature| {
            names.entry(hash).or_insert_with(|| feature.to_owned());
        });
        let Maker { hash, tally, short, .. } = self;
        let weighed = tally.weigh();
        let is_short = |short: &&mut Short<F>| short.takes(text) || short.takes_weighed(weighed);
        let weighed = match short.as_mut().filter(is_short) {
            Some(short) => short.keywords(*hash, reader, text),
            None => weighed,
        };
        let mut named: Vec<Weighted> = weighed
            .iter()
            .map(|&(hash, weight)| Weighted {
                feature: names.remove(&hash).unwrap_or_default(),
                hash: hash.to_u128(),
                weight,
            })
            .collect();
        named.sort_unstable_by_key(|feature| feature.hash);
        named
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

#[inline]
fn weigh(weigher: &mut Weigher, halves: bool, feature: &str) -> i64 {
    let weight = weigher.of(feature);
    if halves && is_short_word(feature) { weight / 2 } else { weight }
}

#[cfg(test)]
mod tests;
