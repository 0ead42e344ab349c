//! A recipe: everything that decides a fingerprint, every part named.
//!
//! ```toml
//! scheme = "simhash"
//! features = "words"        # or word-shingles, character-shingles, given, external
//! hmm = true                # words and word-shingles: jieba's model for unknown words
//! # length = 3              # shingles: how many words or characters each has
//! weights = "tf"            # or uniform; for words also tf-idf
//! hash = "xxh3"
//! width = 64                # or 128
//! ties = "clear"            # or set: what a bit of sum 0 becomes
//! normalise = { nfkc = true, case = "fold", digits = "keep", white_space = "collapse" }
//! ```
//!
//! Parts are neither guessed nor ignored: one that is missing, unknown or of no use is refused.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use toml::Table;

use crate::error::{Error, Kind, Result};
use crate::features::normalise::Normalise;
use crate::fingerprint::simhash::Ties;
use crate::fingerprint::{Sketcher, Stamp, Width};
use crate::hash::Hash;

/// The named recipes.
const NAMED: &str = include_str!("recipes.toml");

/// Names that stand for the newest recipe of their kind.
const ALIASES: [(&str, &str); 4] = [
    ("default", "words-1"),
    ("words", "words-1"),
    ("shingles", "shingles-1"),
    ("features", "features-1"),
];

/// The longest shingle, in words or characters.
const LONGEST_SHINGLE: usize = 64;

/// Everything that decides a fingerprint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recipe {
    #[serde(default = "unnamed", skip_serializing)]
    name: String,
    width: Width,
    #[serde(flatten)]
    features: Features,
}

/// What a fingerprint is made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "features", rename_all = "kebab-case")]
pub enum Features {
    /// The words of a text.
    Words {
        /// Whether jieba's hidden Markov model joins characters its dictionary does not.
        hmm: bool,
        /// How the text is taken.
        #[serde(flatten)]
        text: Text,
    },
    /// Runs of words, joined by spaces.
    WordShingles {
        /// How many words.
        length: usize,
        /// As for words.
        hmm: bool,
        /// How the text is taken.
        #[serde(flatten)]
        text: Text,
    },
    /// Runs of characters.
    CharacterShingles {
        /// How many characters.
        length: usize,
        /// How the text is taken.
        #[serde(flatten)]
        text: Text,
    },
    /// Features with weights, made elsewhere.
    Given {
        /// How they become a fingerprint.
        #[serde(flatten)]
        sketch: Sketch,
    },
    /// Fingerprints made elsewhere.
    External,
}

/// How the features of a text are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Text {
    /// What is made alike first.
    pub normalise: Normalise,
    /// What an occurrence of a feature weighs.
    pub weights: Weights,
    /// How the features become a fingerprint.
    #[serde(flatten)]
    pub sketch: Sketch,
}

/// How features become a fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sketch {
    /// The sort of sketch.
    pub scheme: Scheme,
    /// What turns a feature into bits.
    pub hash: Hash,
    /// What a bit of sum 0 becomes.
    pub ties: Ties,
}

/// The sort of sketch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheme {
    /// Charikar's.
    Simhash,
}

/// What the features of a text weigh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weights {
    /// Each feature 1, however often it occurs.
    Uniform,
    /// Each occurrence 1.
    Tf,
    /// Each occurrence the word's inverse document frequency in jieba's table.
    TfIdf,
}

impl Recipe {
    /// The recipe of that name, made `width` wide where a width is given.
    ///
    /// Fails with [`Kind::Usage`] on a name there is not, or a width the recipe does not allow.
    pub fn named(name: &str, width: Option<Width>) -> Result<Recipe> {
        let versioned = ALIASES.iter().find(|alias| alias.0 == name).map_or(name, |alias| alias.1);
        let tables: Table = NAMED.parse().expect("the named recipes are TOML");
        let Some(table) = tables.get(versioned).and_then(toml::Value::as_table) else {
            let names: Vec<&str> = Recipe::names().collect();
            return Err(Error::new(Kind::Usage, "there is no such recipe")
                .expected(names.join(", "))
                .found(name));
        };
        let mut recipe = Recipe::from_table(table)?;
        recipe.name = versioned.to_owned();
        match width {
            Some(width) => recipe.with_width(width),
            None => Ok(recipe),
        }
    }

    /// The names a user may ask for.
    pub fn names() -> impl Iterator<Item = &'static str> {
        let versioned = NAMED.lines().filter_map(|line| line.strip_prefix('[')?.strip_suffix(']'));
        ALIASES.iter().map(|alias| alias.0).chain(versioned)
    }

    /// The recipe written as `text`, a TOML table. Fails with [`Kind::Config`].
    pub fn from_toml(text: &str) -> Result<Recipe> {
        let table = text.parse().map_err(|cause: toml::de::Error| bad(cause.message()))?;
        Recipe::from_table(&table)
    }

    /// The recipe that `table` holds. Fails with [`Kind::Config`].
    pub fn from_table(table: &Table) -> Result<Recipe> {
        let recipe: Recipe = table.clone().try_into().map_err(|cause| bad(message(&cause)))?;
        let known = Table::try_from(&recipe).expect("a recipe is a table");
        let mut parts = table.keys().filter(|part| *part != "name");
        if let Some(part) = parts.find(|part| !known.contains_key(*part)) {
            let known: Vec<&str> = known.keys().map(String::as_str).collect();
            return Err(bad("a part of no use").expected(known.join(", ")).found(part));
        }
        recipe.check()?;
        Ok(recipe)
    }

    /// The same recipe for fingerprints of another width. Fails with [`Kind::Usage`] if it has one
    /// width only.
    pub fn with_width(mut self, width: Width) -> Result<Recipe> {
        if self.features == Features::External && self.width != width {
            return Err(Error::new(Kind::Usage, format!("the recipe {} has one width", self.name))
                .expected(self.width.bits())
                .found(width.bits()));
        }
        self.width = width;
        Ok(self)
    }

    /// How wide its fingerprints are.
    pub fn width(&self) -> Width {
        self.width
    }

    /// Its versioned name, or `unnamed`; no part of what it makes.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it makes fingerprints of.
    pub fn features(&self) -> &Features {
        &self.features
    }

    /// Whether its fingerprints are made elsewhere.
    pub fn is_external(&self) -> bool {
        self.features == Features::External
    }

    /// What is written beside its fingerprints, so that they meet only their like.
    pub fn stamp(&self) -> Stamp {
        Stamp::of(self)
    }

    /// A worker that makes its fingerprints. Fails with [`Kind::Usage`] if they are made elsewhere.
    pub fn sketcher(&self) -> Result<Sketcher> {
        Sketcher::new(self)
    }

    fn check(&self) -> Result<()> {
        match self.features {
            Features::WordShingles { length, .. } | Features::CharacterShingles { length, .. }
                if !(1..=LONGEST_SHINGLE).contains(&length) =>
            {
                Err(bad("a length out of range")
                    .expected(format!("1 to {LONGEST_SHINGLE}"))
                    .found(length))
            }
            Features::WordShingles { text, .. } | Features::CharacterShingles { text, .. }
                if text.weights == Weights::TfIdf =>
            {
                Err(bad("tf-idf weights are for words"))
            }
            _ => Ok(()),
        }
    }
}

fn unnamed() -> String {
    "unnamed".to_owned()
}

/// The first line of what the parser says.
fn message(cause: &toml::de::Error) -> &str {
    cause.message().lines().next().unwrap_or_default()
}

fn bad(what: &str) -> Error {
    Error::new(Kind::Config, format!("not a recipe: {what}"))
}

impl Serialize for Width {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(self.bits())
    }
}

impl<'de> Deserialize<'de> for Width {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Width, D::Error> {
        let bits = u32::deserialize(deserializer)?;
        let wrong =
            || serde::de::Error::custom(format!("expected a width of 64 or 128, found {bits}"));
        Width::of_bits(bits).ok_or_else(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 5] = ["words-1", "shingles-1", "features-1", "external-64", "external-128"];

    fn refused(text: &str) -> String {
        let error = Recipe::from_toml(text).unwrap_err();
        assert_eq!(error.kind(), Kind::Config, "{error}");
        error.to_string()
    }

    /// The parts of `words-1`, with one text put for another.
    fn words(from: &str, to: &str) -> String {
        let recipe = Recipe::named("words", None).unwrap();
        let text = toml::to_string(&recipe).unwrap();
        assert!(text.contains(from), "{text}");
        text.replacen(from, to, 1)
    }

    #[test]
    fn every_name_has_a_recipe_that_reads_back_the_same() {
        assert!(Recipe::names().skip(ALIASES.len()).eq(NAMES));
        for name in Recipe::names() {
            let recipe = Recipe::named(name, None).unwrap();
            assert!(NAMES.contains(&recipe.name()));
            let read = Recipe::from_toml(&toml::to_string(&recipe).unwrap()).unwrap();
            assert_eq!(read.name(), "unnamed");
            assert_eq!(read.stamp(), recipe.stamp());
        }
        assert_eq!(Recipe::named("default", None), Recipe::named("words-1", None));
    }

    #[test]
    fn an_unknown_name_is_answered_with_those_there_are() {
        let error = Recipe::named("wrods", None).unwrap_err();
        assert_eq!(error.kind(), Kind::Usage);
        assert!(NAMES.iter().all(|name| error.to_string().contains(name)), "{error}");
    }

    #[test]
    fn widths_change_where_the_recipe_allows_it() {
        let wide = Recipe::named("default", Some(Width::W128)).unwrap();
        assert_eq!((wide.width(), wide.stamp().width()), (Width::W128, Width::W128));
        let error = Recipe::named("external-64", Some(Width::W128)).unwrap_err();
        assert_eq!(error.kind(), Kind::Usage);
        assert!(Recipe::named("external-64", Some(Width::W64)).is_ok());
    }

    #[test]
    fn parts_are_neither_guessed_nor_ignored() {
        assert!(refused(&words("hmm", "hhm")).contains("hmm"));
        assert!(refused(&words("hmm = true", "")).contains("hmm"));
        assert!(refused(&words("hmm = true", "hmm = true\nlength = 3")).contains("length"));
        assert!(refused(&words("nfkc = true", "nfkc = true\nnfc = true")).contains("nfc"));
        assert!(refused(&words("nfkc = true", "")).contains("nfkc"));
        assert!(refused(&words("\"xxh3\"", "\"md5\"")).contains("md5"));
        assert!(refused(&words("64", "96")).contains("96"));
        assert!(refused(&words("\"words\"", "\"word-shingles\"")).contains("length"));
        assert!(refused("features = \"external\"").contains("width"));
        assert!(refused("width = 64").contains("features"));
        assert!(refused("width 64").contains("not a recipe"));
        assert!(Recipe::from_toml(&words("64", "64\nname = \"mine\"")).unwrap().name() == "mine");
    }

    #[test]
    fn shingles_have_a_length_and_no_idf() {
        let shingles = |length: i64| {
            let to = format!("\"word-shingles\"\nlength = {length}");
            words("\"words\"", &to)
        };
        assert!(
            Recipe::from_toml(&shingles(1)).is_ok() && Recipe::from_toml(&shingles(64)).is_ok()
        );
        for length in [-1, 0, 65, i64::MAX] {
            refused(&shingles(length));
        }
        assert!(refused(&shingles(2).replace("\"tf\"", "\"tf-idf\"")).contains("tf-idf"));
    }
}
