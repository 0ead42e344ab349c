//! The parts of a recipe: what features are taken, how, and what sketch is made of them.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Kind};
use crate::features::counts::Counts;
use crate::features::lists::{StopWords, UserDictionary};
use crate::features::normalise::Normalise;
use crate::features::segmenter::Segmenter;
use crate::fingerprint::recipe::weights::{Keywords, ShortText, ShortWords, Weights};
use crate::fingerprint::simhash::Ties;
use crate::hash::Hash;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "features", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Features {
    Words {
        /// Whether jieba's hidden Markov model joins characters its dictionary does not.
        hmm: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        user_dictionary: Option<UserDictionary>,
        /// How many characters are a word in scripts without spaces, such as Thai; none for one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unspaced_run: Option<usize>,
        /// What cuts scripts without spaces into words, Japanese among them; none for characters, or runs of them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        segmenter: Option<Segmenter>,
        #[serde(flatten)]
        text: Text,
    },
    WordShingles {
        length: usize,
        hmm: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        user_dictionary: Option<UserDictionary>,
        #[serde(flatten)]
        text: Text,
    },
    CharacterShingles {
        length: usize,
        #[serde(flatten)]
        text: Text,
    },
    /// The text between white space, as it is, in Python's sense of white space.
    WhiteSpaceTokens {
        #[serde(flatten)]
        sketch: SketchParts,
    },
    /// Runs of characters of the lower-case text without anything but letters, numbers and `_`.
    WordCharacterShingles {
        length: usize,
        #[serde(flatten)]
        sketch: SketchParts,
    },
    /// Features with weights, made elsewhere.
    Given {
        #[serde(flatten)]
        sketch: SketchParts,
    },
    /// The components of vectors: a bit is the side of a random hyperplane.
    Vectors,
    /// Fingerprints made elsewhere.
    External,
}

impl Features {
    /// What is taken of texts, if they are cut by our own rules.
    pub fn text(&self) -> Option<&Text> {
        match self {
            Features::Words { text, .. }
            | Features::WordShingles { text, .. }
            | Features::CharacterShingles { text, .. } => Some(text),
            _ => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Text {
    pub normalise: Normalise,
    /// Words that are no features, nor part of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_words: Option<StopWords>,
    /// Lines that are no part of a text: those of a table that `dupsieve weights --lines` made.
    /// [`Boilerplate`](crate::fingerprint::Boilerplate) drops them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boilerplate: Option<Counts>,
    pub weights: Weights,
    /// In how many documents features occur; none for jieba's table of words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idf: Option<Counts>,
    #[serde(default, skip_serializing_if = "ShortWords::are_full")]
    pub short_words: ShortWords,
    /// How many features count, the heaviest (of equal ones those of lower hash); none for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keywords: Option<Keywords>,
    /// What is done with texts of few features; none to take them as all others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub short_text: Option<ShortText>,
    #[serde(flatten)]
    pub sketch: SketchParts,
}

impl Text {
    /// Whether the inverse document frequency of features enters.
    pub(in crate::fingerprint) fn takes_idf(&self) -> bool {
        self.weights == Weights::TfIdf || self.short_text.is_some()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SketchParts {
    pub scheme: SketchScheme,
    pub hash: Hash,
    pub ties: Ties,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SketchScheme {
    Simhash,
}

pub(super) fn bad(what: &str) -> Error {
    Error::new(Kind::Config, format!("not a recipe: {what}"))
}
