//! A recipe: everything that decides a fingerprint, every part named.
//!
//! ```toml
//! scheme = "simhash"
//! features = "words"        # or word-shingles, character-shingles, given, external
//! hmm = true                # words and word-shingles: jieba's model for unknown words
//! # user_dictionary = "F"   # words and word-shingles: a file of words for jieba
//! # stop_words = "F"        # words and word-shingles: a file of words that do not count
//! # length = 3              # shingles: how many words or characters each has
//! weights = "tf"            # or uniform, log-tf, sqrt-tf; for words also tf-idf
//! # keywords = 20           # only so many features of a text count, the heaviest
//! hash = "xxh3"             # or lookup3, charikar, md5
//! width = 64                # or 128
//! ties = "clear"            # or set: what a bit of sum 0 becomes
//! # check = "minhash"     # a second signature beside it, to confirm what is near
//! normalise = { nfkc = true, case = "fold", digits = "keep", white_space = "collapse" }
//! ```
//!
//! Two more sorts of features are those of other programs and have no parts of their own but hash,
//! ties and `length`: `white-space-tokens` and `word-character-shingles`.
//!
//! Parts are neither guessed nor ignored: one that is missing, unknown or of no use is refused.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use toml::Table;

use crate::error::{Error, Kind, Result};
use crate::features::lists::{StopWords, UserDictionary};
use crate::features::normalise::Normalise;
use crate::fingerprint::simhash::Ties;
use crate::fingerprint::{Check, Sketcher, Stamp, Width};
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

/// The one name that stands for no recipe but for the sketches of [`Nilsimsa`](super::Nilsimsa).
pub const NILSIMSA: &str = "nilsimsa";

/// The longest shingle, in words or characters.
const LONGEST_SHINGLE: usize = 64;

/// Everything that decides a fingerprint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recipe {
    #[serde(default = "unnamed", skip_serializing)]
    name: String,
    width: Width,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    check: Option<Check>,
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
        /// Words for jieba besides its own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        user_dictionary: Option<UserDictionary>,
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
        /// As for words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        user_dictionary: Option<UserDictionary>,
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
    /// What stands between white space, as it is, in Python's sense of white space.
    WhiteSpaceTokens {
        /// How they become a fingerprint.
        #[serde(flatten)]
        sketch: Sketch,
    },
    /// Runs of characters of the lower-case text without anything but letters, numbers and `_`.
    WordCharacterShingles {
        /// How many characters.
        length: usize,
        /// How they become a fingerprint.
        #[serde(flatten)]
        sketch: Sketch,
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Text {
    /// What is made alike first.
    pub normalise: Normalise,
    /// Words that are no features, nor part of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_words: Option<StopWords>,
    /// What a feature weighs.
    pub weights: Weights,
    /// How many features count, the heaviest (of equal ones those of lower hash); none for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keywords: Option<usize>,
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
    /// Each feature 1 + log2 of the number of its occurrences.
    LogTf,
    /// Each feature the square root of the number of its occurrences.
    SqrtTf,
    /// Each occurrence the word's inverse document frequency in jieba's table.
    TfIdf,
}

impl Recipe {
    /// The recipe of that name, made `width` wide where a width is given.
    ///
    /// Fails with [`Kind::Usage`] on a name there is not, or a width the recipe does not allow.
    pub fn named(name: &str, width: Option<Width>) -> Result<Recipe> {
        if name == NILSIMSA {
            return Err(Error::new(Kind::Usage, "nilsimsa makes sketches of 256 bits")
                .expected("a recipe of 64 or 128 bits")
                .help("compare two files by it with `dupsieve compare`"));
        }
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
        recipe.validate()?;
        Ok(recipe)
    }

    /// The same recipe for fingerprints of another width. Fails with [`Kind::Usage`] if it has one
    /// width only, as those have that make the fingerprints of other programs.
    pub fn with_width(mut self, width: Width) -> Result<Recipe> {
        let ours = self.sketch().is_some_and(|sketch| sketch.hash == Hash::Xxh3);
        if !ours && self.width != width {
            return Err(Error::new(Kind::Usage, format!("the recipe {} has one width", self.name))
                .expected(self.width.bits())
                .found(width.bits()));
        }
        self.width = width;
        Ok(self)
    }

    /// The same recipe with a signature of `check` beside each fingerprint. Fails with [`Kind::Usage`]
    /// if it does not take texts.
    pub fn with_check(mut self, check: Check) -> Result<Recipe> {
        self.check = Some(check);
        match self.takes_text() {
            true => Ok(self),
            false => Err(Error::new(Kind::Usage, "a check is made of texts")
                .expected("a recipe that takes texts")
                .found(self.name)),
        }
    }

    /// The signature that stands beside each fingerprint.
    pub fn check(&self) -> Option<Check> {
        self.check
    }

    fn takes_text(&self) -> bool {
        !matches!(self.features, Features::Given { .. } | Features::External)
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

    /// How features become its fingerprints, unless they are made elsewhere.
    fn sketch(&self) -> Option<&Sketch> {
        match &self.features {
            Features::Words { text, .. }
            | Features::WordShingles { text, .. }
            | Features::CharacterShingles { text, .. } => Some(&text.sketch),
            Features::WhiteSpaceTokens { sketch }
            | Features::WordCharacterShingles { sketch, .. }
            | Features::Given { sketch } => Some(sketch),
            Features::External => None,
        }
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

    fn validate(&self) -> Result<()> {
        if self.check.is_some() && !self.takes_text() {
            return Err(bad("a check is made of texts"));
        }
        let (text, length) = match &self.features {
            Features::Words { text, .. } => (Some(text), None),
            Features::WordShingles { text, length, .. }
            | Features::CharacterShingles { text, length } => (Some(text), Some(*length)),
            Features::WordCharacterShingles { length, .. } => (None, Some(*length)),
            _ => (None, None),
        };
        if length.is_some_and(|length| !(1..=LONGEST_SHINGLE).contains(&length)) {
            return Err(bad("a length out of range")
                .expected(format!("1 to {LONGEST_SHINGLE}"))
                .found(length.unwrap_or_default()));
        }
        let Some(text) = text else { return Ok(()) };
        if length.is_some() && text.weights == Weights::TfIdf {
            return Err(bad("tf-idf weights are for words"));
        }
        if matches!(self.features, Features::CharacterShingles { .. }) && text.stop_words.is_some()
        {
            return Err(bad("stop words are for words"));
        }
        if text.keywords == Some(0) {
            return Err(bad("a number of keywords out of range").expected("1 or more").found(0));
        }
        Ok(())
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

    const NAMES: [&str; 9] = [
        "words-1",
        "shingles-1",
        "features-1",
        "keywords-lookup3",
        "charikar-64",
        "charikar-128",
        "pypi-simhash",
        "external-64",
        "external-128",
    ];

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
        for one in ["keywords-lookup3", "charikar-64", "pypi-simhash"] {
            assert!(Recipe::named(one, Some(Width::W128)).is_err(), "{one}");
        }
    }

    #[test]
    fn parts_are_neither_guessed_nor_ignored() {
        assert!(refused(&words("hmm", "hhm")).contains("hmm"));
        assert!(refused(&words("hmm = true", "")).contains("hmm"));
        assert!(refused(&words("hmm = true", "hmm = true\nlength = 3")).contains("length"));
        assert!(refused(&words("nfkc = true", "nfkc = true\nnfc = true")).contains("nfc"));
        assert!(refused(&words("nfkc = true", "")).contains("nfkc"));
        assert!(refused(&words("\"xxh3\"", "\"md4\"")).contains("md4"));
        assert!(refused(&words("64", "96")).contains("96"));
        assert!(refused(&words("\"words\"", "\"word-shingles\"")).contains("length"));
        assert!(refused("features = \"external\"").contains("width"));
        assert!(refused("width = 64").contains("features"));
        assert!(refused("width 64").contains("not a recipe"));
        assert!(Recipe::from_toml(&words("64", "64\nname = \"mine\"")).unwrap().name() == "mine");
    }

    #[test]
    fn nilsimsa_is_no_recipe() {
        let error = Recipe::named("nilsimsa", None).unwrap_err();
        assert_eq!(error.kind(), Kind::Usage);
        assert!(error.to_string().contains("compare"), "{error}");
    }

    #[test]
    fn lists_are_known_by_their_digests() {
        let list = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(list.path(), "的\nthe\n").unwrap();
        let path = list.path().display();
        for part in ["stop_words", "user_dictionary"] {
            let text = words("hmm = true", &format!("hmm = true\n{part} = \"{path}\""));
            let recipe = Recipe::from_toml(&text).unwrap();
            let stamp = recipe.stamp().to_string();
            assert!(stamp.contains(part) && !stamp.contains(&path.to_string()), "{stamp}");
            assert!(refused(&text.replace(&path.to_string(), "no/such")).contains("no/such"));
        }
        let text = words("hmm = true", &format!("length = 4\nstop_words = \"{path}\""));
        assert!(refused(&text.replace("\"words\"", "\"character-shingles\"")).contains("stop"));
        assert!(refused(&words("\"tf\"", "\"tf\"\nkeywords = 0")).contains("keywords"));
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
