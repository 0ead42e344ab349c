//! How alike texts are: by the signatures of a check, or exactly by their sets of runs of words.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::fingerprint::Check;
use crate::fingerprint::check::word_run_set;

/// A measure of how alike two texts are. Its name is the check's, or `jaccard`.
#[derive(Clone, Copy, Debug)]
pub enum Measure {
    /// The estimate of a check.
    Check(Check),
    /// The Jaccard similarity of the [sets of runs of three words](word_run_set).
    Jaccard,
}

impl Measure {
    /// How alike two texts are, from 0 to 1.
    pub fn similarity(self, texts: [&str; 2]) -> Result<f64> {
        match self {
            Measure::Jaccard => {
                let [one, another] = texts.map(word_run_set);
                Ok(one.jaccard(&another))
            }
            Measure::Check(check) => {
                let mut signer = check.signer();
                let [mut one, mut another] = [Vec::new(), Vec::new()];
                signer.sign(texts[0], &mut one)?;
                signer.sign(texts[1], &mut another)?;
                Ok(check.similarity(&one, &another))
            }
        }
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Measure::Check(check) => check.fmt(f),
            Measure::Jaccard => f.write_str("jaccard"),
        }
    }
}

impl FromStr for Measure {
    type Err = Error;

    fn from_str(name: &str) -> Result<Measure> {
        match name {
            "jaccard" => Ok(Measure::Jaccard),
            name => name.parse().map(Measure::Check),
        }
    }
}
