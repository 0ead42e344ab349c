//! The buckets of a few documents, by comparing all pairs.

use serde::Serialize;

use super::scheme::{Scheme, Sketch};

/// What is found among a sample of documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sample {
    /// The documents that have a sketch.
    pub documents: u64,
    /// All their pairs.
    pub pairs: u64,
    /// Pairs that share a bucket.
    pub candidates: u64,
    /// Those of them that match.
    pub matches: u64,
    /// The bytes of evidence of all documents.
    pub evidence_bytes: u64,
}

impl Sample {
    /// Compares all pairs of the documents behind these `sketches` of a `scheme`.
    pub fn of(scheme: &Scheme, sketches: &[Sketch]) -> Sample {
        let comparison = scheme.comparison();
        let documents = sketches.len() as u64;
        let pairs = documents * documents.saturating_sub(1) / 2;
        let evidence = |sketch: &Sketch| sketch.evidence.len() as u64;
        let evidence_bytes = sketches.iter().map(evidence).sum();
        let mut sample = Sample { documents, pairs, evidence_bytes, ..Sample::default() };
        for (at, one) in sketches.iter().enumerate() {
            for other in &sketches[..at] {
                let is_candidate =
                    one.keys.iter().zip(&other.keys).any(|(one, other)| one == other);
                let matches =
                    is_candidate && comparison.compare(&one.evidence, &other.evidence).is_some();
                sample.candidates += u64::from(is_candidate);
                sample.matches += u64::from(matches);
            }
        }
        sample
    }
}
