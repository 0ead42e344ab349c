//! A check as it is typed where texts are at hand.

use std::fmt;
use std::str::FromStr;

use dupsieve::fingerprint::check::shingle_set;
use dupsieve::fingerprint::{Check, ShingleSet, Signer};
use dupsieve::{Error, Result};

/// A check, or the exact similarity that checks estimate.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CheckChoice {
    Check(Check),
    Jaccard,
}

/// What a check makes of texts, in their order.
pub(crate) enum Measures {
    Signatures { check: Check, signer: Box<Signer>, all: Vec<u8> },
    Sets(Vec<ShingleSet>),
}

impl CheckChoice {
    /// Measures of no text yet.
    pub(crate) fn measures(self) -> Measures {
        match self {
            CheckChoice::Jaccard => Measures::Sets(Vec::new()),
            CheckChoice::Check(check) => {
                Measures::Signatures { check, signer: Box::new(check.signer()), all: Vec::new() }
            }
        }
    }

    /// How alike two texts are.
    pub(crate) fn similarity(self, texts: [&str; 2]) -> Result<f64> {
        let mut measures = self.measures();
        for text in texts {
            measures.take(text)?;
        }
        Ok(measures.similarity(0, 1))
    }
}

impl Measures {
    /// Takes the next text. Gives the bytes of memory that its measure takes.
    pub(crate) fn take(&mut self, text: &str) -> Result<u64> {
        match self {
            Measures::Sets(sets) => {
                sets.push(shingle_set(text));
                Ok(sets.last().map_or(0, ShingleSet::bytes))
            }
            Measures::Signatures { check, signer, all } => {
                signer.sign(text, all)?;
                Ok(check.bytes() as u64)
            }
        }
    }

    /// How alike two of the texts are, by their numbers.
    pub(crate) fn similarity(&self, one: u32, another: u32) -> f64 {
        match self {
            Measures::Sets(sets) => sets[one as usize].jaccard(&sets[another as usize]),
            Measures::Signatures { check, all, .. } => {
                let signature = |at: u32| &all[at as usize * check.bytes()..][..check.bytes()];
                check.similarity(signature(one), signature(another))
            }
        }
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
