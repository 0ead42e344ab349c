//! How alike texts are: by the sketches of a check, or exactly by their sets of shingles.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::fingerprint::check::{Check, word_shingles};

#[derive(Clone, Copy, Debug)]
pub enum TextMeasure {
    Check(Check),
    /// The Jaccard similarity of the [sets of 3-word shingles](word_shingles).
    Jaccard,
}

impl TextMeasure {
    pub fn similarity(self, texts: [&str; 2]) -> Result<f64> {
        match self {
            TextMeasure::Jaccard => {
                let [one, another] = texts.map(word_shingles);
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
