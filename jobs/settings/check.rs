//! A check as it is typed where texts are at hand.

use std::fmt;
use std::str::FromStr;

use dupsieve::fingerprint::check::shingle_set;
use dupsieve::fingerprint::{Check, ShingleSet};
use dupsieve::{Error, Result};

/// A check, or the exact similarity that checks estimate.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CheckChoice {
    Check(Check),
    Jaccard,
}

impl CheckChoice {
    /// How alike two of the texts are, by their numbers.
    pub(crate) fn measure<'a>(
        self,
        texts: impl Iterator<Item = &'a str>,
    ) -> Box<dyn Fn(u32, u32) -> f64> {
        match self {
            CheckChoice::Jaccard => {
                let sets: Vec<ShingleSet> = texts.map(shingle_set).collect();
                Box::new(move |one, two| sets[one as usize].jaccard(&sets[two as usize]))
            }
            CheckChoice::Check(check) => {
                let (mut signer, mut all) = (check.signer(), Vec::new());
                texts.for_each(|text| signer.sign(text, &mut all));
                Box::new(move |one, two| {
                    let [one, two] =
                        [one, two].map(|at| &all[at as usize * check.bytes()..][..check.bytes()]);
                    check.similarity(one, two)
                })
            }
        }
    }

    /// How alike two texts are.
    pub(crate) fn similarity(self, texts: &[String; 2]) -> f64 {
        self.measure(texts.iter().map(String::as_str))(0, 1)
    }
}

impl fmt::Display for CheckChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CheckChoice::Check(check) => check.fmt(f),
            CheckChoice::Jaccard => f.write_str("jaccard"),
        }
    }
}

impl FromStr for CheckChoice {
    type Err = Error;

    fn from_str(name: &str) -> Result<CheckChoice> {
        match name {
            "jaccard" => Ok(CheckChoice::Jaccard),
            name => name.parse().map(CheckChoice::Check),
        }
    }
}
