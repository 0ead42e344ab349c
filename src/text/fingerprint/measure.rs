//! How alike texts are: by the signatures of a check, or exactly by their sets of runs of words.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::fingerprint::check::{Check, word_run_set};

/// A measure of how alike two texts are. Its name is the check's, or `jaccard`.
#[derive(Clone, Copy, Debug)]
pub enum TextMeasure {
    /// The estimate of a check.
    Check(Check),
    /// The Jaccard similarity of the [sets of runs of three words](word_run_set).
    Jaccard,
}

impl TextMeasure {
    /// How alike two texts are, from 0 to 1.
    pub fn similarity(self, texts: [&str; 2]) -> Result<f64> {
        match self {
            TextMeasure::Jaccard => {
                let [one, another] = texts.map(word_run_set);
                Ok(one.jaccard(&another))
            }
            TextMeasure::Check(check) => {
                let mut signer = check.signer();
                let [mut one, mut another] = [Vec::new(), Vec::new()];
                signer.sign(texts[0], &mut one)?;
                signer.sign(texts[1], &mut another)?;
                Ok(check.similarity(&one, &another))
            }
        }
    }
}

impl fmt::Display for TextMeasure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TextMeasure::Check(check) => check.fmt(f),
            TextMeasure::Jaccard => f.write_str("jaccard"),
        }
    }
}

impl FromStr for TextMeasure {
    type Err = Error;

    fn from_str(name: &str) -> Result<TextMeasure> {
        match name {
            "jaccard" => Ok(TextMeasure::Jaccard),
            name => name.parse().and_then(Check::of_texts).map(TextMeasure::Check),
        }
    }
}
