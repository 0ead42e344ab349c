//! The weights of a recipe: what a feature counts, which ones count, and which texts are too short for that.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Weights {
    Uniform,
    Tf,
    /// Each feature the number of its occurrences to the power 9/8.
    RaisedTf,
    TfIdf,
    /// Each occurrence 1 to 5 by the word's part of speech.
    Speech,
    TextRank,
}

/// What words weigh that are one Han character, or one to three ASCII characters: mostly those that
/// join others together, which all pages of a language share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShortWords {
    #[default]
    Full,
    Half,
}

impl ShortWords {
    pub(super) fn are_full(&self) -> bool {
        *self == ShortWords::Full
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Keywords {
    Fixed(usize),
    ByLength(KeywordShare),
}

/// A share of the features of a text, but never fewer than some.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeywordShare {
    /// The share in percent, rounded down.
    pub percent: usize,
    pub least: usize,
}

impl Keywords {
    pub fn of(self, features: usize) -> usize {
        match self {
            Keywords::Fixed(number) => number,
            Keywords::ByLength(KeywordShare { percent, least }) => {
                (features * percent / 100).max(least)
            }
        }
    }

    pub(super) fn are_possible(self) -> bool {
        match self {
            Keywords::Fixed(number) => number > 0,
            Keywords::ByLength(share) => share.least > 0 && (1..=100).contains(&share.percent),
        }
    }
}

/// The route of short texts, whose sums are not stable. Such texts are a class of their own and match no others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ShortText {
    Key(KeywordKey),
    Bits(KeywordBits),
}

/// The fingerprint of a short text is the hash of its heaviest features by tf-idf in order, so that it is
/// equal where these are and far off where they are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeywordKey {
    /// A text is short if its features are effectively fewer: the squared sum of their weights over that of the squares.
    pub below: usize,
    pub keywords: usize,
}

/// The fingerprint of a short text has a few bits set for each of its heaviest features by idf. Two texts
/// that have all of them in common but one differ in twice as many bits as one has, at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeywordBits {
    /// A text is short when it has fewer [plain words](crate::features::words::each_plain).
    pub words: usize,
    /// How many features count. Those of a text that has fewer count again, with other bits.
    pub keywords: usize,
    pub bits: usize,
}

/// The most bits of a keyword: as many as are sure to be found in one hash.
const MOST_BITS: usize = 8;

impl ShortText {
    pub(super) fn is_possible(self) -> bool {
        match self {
            ShortText::Key(KeywordKey { below, keywords }) => below > 0 && keywords > 0,
            ShortText::Bits(KeywordBits { words, keywords, bits }) => {
                words > 0 && (1..=64).contains(&keywords) && (1..=MOST_BITS).contains(&bits)
            }
        }
    }
}
