//! How alike texts are: by the signatures of a check, or exactly by their sets of shingles.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::fingerprint::check::shingle_set;
use crate::fingerprint::{Check, ShingleSet, Signer};

/// A measure of how alike two texts are. Its name is the check's, or `jaccard`.
#[derive(Clone, Copy, Debug)]
pub enum Measure {
    /// The estimate of a check.
    Check(Check),
    /// The Jaccard similarity of the sets of shingles, which checks estimate.
    Jaccard,
}

/// What a measure keeps of some texts, in their order.
pub enum MeasuredTexts {
    /// The signatures of a check, one after the other.
    Signatures {
        /// The check.
        check: Check,
        /// What makes the signatures.
        signer: Box<Signer>,
        /// [`Check::bytes`] bytes for each text.
        all: Vec<u8>,
    },
    /// The sets of shingles.
    Sets(Vec<ShingleSet>),
}

impl Measure {
    /// A start without any text.
    pub fn texts(self) -> MeasuredTexts {
        match self {
            Measure::Jaccard => MeasuredTexts::Sets(Vec::new()),
            Measure::Check(check) => {
                let signer = Box::new(check.signer());
                MeasuredTexts::Signatures { check, signer, all: Vec::new() }
            }
        }
    }

    /// How alike two texts are, from 0 to 1.
    pub fn similarity(self, texts: [&str; 2]) -> Result<f64> {
        let mut measured = self.texts();
        for text in texts {
            measured.add(text)?;
        }
        Ok(measured.similarity(0, 1))
    }
}

impl MeasuredTexts {
    /// Adds the next text. Returns how many bytes of memory it takes.
    pub fn add(&mut self, text: &str) -> Result<u64> {
        match self {
            MeasuredTexts::Sets(sets) => {
                sets.push(shingle_set(text));
                Ok(sets.last().map_or(0, ShingleSet::bytes))
            }
            MeasuredTexts::Signatures { check, signer, all } => {
                signer.sign(text, all)?;
                Ok(check.bytes() as u64)
            }
        }
    }

    /// How alike two of the texts are, by their numbers from 0.
    pub fn similarity(&self, one: u32, another: u32) -> f64 {
        match self {
            MeasuredTexts::Sets(sets) => sets[one as usize].jaccard(&sets[another as usize]),
            MeasuredTexts::Signatures { check, all, .. } => {
                let signature = |at: u32| &all[at as usize * check.bytes()..][..check.bytes()];
                check.similarity(signature(one), signature(another))
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
