//! A scheme: everything that decides which documents share a bucket, and which of them match.

use serde::{Deserialize, Serialize};

use super::banding::{Banding, CROWD};
use super::bit_sampling::BitSampling;
use super::confirmation::{Compared, Comparison, Confirmation, no_simhash};
use super::family::Family;
use super::hyperplanes::Hyperplanes;
use super::min_hashes::MinHashes;
use super::p_stable::PStable;
use super::point::{Point, Points};
use super::shingle::Shingle;
use super::space::Space;
use crate::document::Content;
use crate::error::{Error, Kind, Result};
use crate::fingerprint::minhash::Permutations;
use crate::fingerprint::{PageTime, Width};
use crate::matches::Similarity;

/// Everything that decides buckets and matches.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Scheme {
    /// What documents are compared by.
    pub space: Space,
    /// Where the hashes of sets come from.
    pub permutations: Permutations,
    /// The elements of texts.
    pub shingle: Shingle,
    /// The width of fingerprints.
    pub width: Width,
    /// Whether the documents are vectors.
    pub vectors: bool,
    /// Bands and rows.
    pub banding: Banding,
    /// The least similarity of a match.
    pub least: Similarity,
    /// What decides whether documents that share a bucket match.
    pub confirmation: Confirmation,
    /// Chooses the functions of the family.
    pub seed: u64,
}

/// What is kept of a document.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Sketch {
    /// The key of each band.
    pub keys: Vec<u64>,
    /// What the [`Comparison`] compares.
    pub evidence: Vec<u8>,
    /// How many components it has, if it is a vector; else 0.
    pub components: usize,
}

/// Makes the sketches of a scheme. It has buffers, so each worker has its own.
#[derive(Debug)]
pub struct Sketches {
    scheme: Scheme,
    points: Points,
    hasher: Hasher,
    hashes: Vec<u32>,
}

impl Scheme {
    /// Texts match from the similarity `least` on in this `space`, estimated from their hashes. Permutations and shingles are
    /// the usual ones, and the seed is 0.
    #[must_use]
    pub fn new(space: Space, banding: Banding, least: Similarity) -> Scheme {
        Scheme {
            space,
            permutations: Permutations::Many,
            shingle: Shingle::USUAL,
            width: Width::W64,
            vectors: false,
            banding,
            least,
            confirmation: Confirmation::Signature,
            seed: 0,
        }
    }

    /// The probability that one hash of two documents of this similarity agrees.
    pub fn collision(&self, similarity: f64) -> f64 {
        Hasher::of(self, 1).collision(similarity)
    }

    /// The probability that two documents of this similarity share a bucket.
    pub fn probability(&self, similarity: f64) -> f64 {
        self.banding.probability(self.collision(similarity))
    }

    /// Fails with [`Kind::Usage`] if the confirmation does not fit the documents.
    pub fn check(&self) -> Result<()> {
        self.banding.check()?;
        let is_vector = self.vectors || self.space == Space::Euclidean;
        match self.confirmation {
            Confirmation::SimHash(_) if is_vector => Err(no_simhash()),
            _ => Ok(()),
        }
    }

    /// Warns if a band has so few buckets that most of so many `groups` share one with crowds of others: the
    /// hash of some families is one bit.
    pub(super) fn check_rows(&self, groups: u32) {
        if let Some(better) = self.longer_bands(groups) {
            tracing::warn!(
                "{}: each band has only {} buckets for {groups} different pages, so that time grows with the square of their number; {} bands of {} rows find as many of the pairs",
                self.banding,
                1_u64 << self.banding.rows,
                better.bands,
                better.rows,
            );
        }
    }

    /// The banding with so many rows that buckets of far groups stay small, if this one has too few.
    pub(super) fn longer_bands(&self, groups: u32) -> Option<Banding> {
        let is_bit = matches!(self.space, Space::Cosine | Space::Hamming);
        let buckets = u64::from(groups).div_ceil(CROWD as u64);
        let rows = buckets.next_power_of_two().ilog2() as usize;
        let collision = self.collision(self.least.number());
        (is_bit && self.banding.rows < rows).then(|| self.banding.with_rows(rows, collision))
    }

    /// What makes its sketches. A text that takes longer than `time` fails.
    pub fn sketches(&self, time: PageTime) -> Sketches {
        let hasher = Hasher::of(self, self.banding.hashes());
        let points = Points::new(self.space, self.shingle, time);
        Sketches { scheme: self.clone(), points, hasher, hashes: Vec::new() }
    }

    /// What compares the evidence of its sketches.
    pub fn comparison(&self) -> Comparison {
        let compared = match (self.confirmation, self.space) {
            (Confirmation::Signature, _) => Compared::Hashes(self.by_agreement()),
            (_, Space::Hamming) => Compared::Bits(self.width),
            (Confirmation::SimHash(_), _) => Compared::Bits(Width::W64),
            (Confirmation::Exact, Space::Jaccard) => Compared::Sets,
            (Confirmation::Exact, Space::Cosine) if self.vectors => Compared::Directions,
            (Confirmation::Exact, Space::Cosine) => Compared::Features,
            (Confirmation::Exact, Space::Euclidean) => Compared::Places,
        };
        Comparison { compared, confirmation: self.confirmation, least: self.least }
    }

    /// The similarity that each number of agreeing hashes stands for.
    fn by_agreement(&self) -> Vec<Similarity> {
        let hashes = self.banding.hashes() as u64;
        let hasher = Hasher::of(self, 1);
        let similarity = |agreeing| match self.space {
            Space::Jaccard | Space::Hamming => Similarity::of_share(agreeing, hashes),
            _ => Similarity::nearest(hasher.similarity(agreeing as f64 / hashes as f64)),
        };
        (0..=hashes).map(similarity).collect()
    }

    /// The width of a slot: four times the distance at which documents still match. There a hash agrees in
    /// four of five cases, as a MinHash does at a similarity of .8.
    fn slot(&self) -> f64 {
        let least = self.least.number().clamp(1e-4, 1.0 - 1e-4);
        4.0 * (1.0 - least) / least
    }
}

impl Sketches {
    /// The sketch of a document, `None` if it has nothing to compare.
    ///
    /// # Errors
    /// [`Kind::Usage`] if the scheme does not fit such documents, [`Kind::BadData`] if a text
    /// takes longer than allowed, the weight of a feature is out of range or a vector is too long.
    pub fn of(&mut self, content: &Content<'_>) -> Result<Option<Sketch>> {
        let Some((point, keys)) = self.point_and_keys(content)? else { return Ok(None) };
        let evidence = self.scheme.confirmation.evidence(&point, &self.hashes)?;
        Ok(Some(Sketch { keys, evidence, components: point.components() }))
    }

    /// The key of each band of a document, `None` if it has nothing to compare.
    ///
    /// # Errors
    /// As [`Sketches::of`].
    pub fn keys(&mut self, content: &Content<'_>) -> Result<Option<Vec<u64>>> {
        Ok(self.point_and_keys(content)?.map(|(_, keys)| keys))
    }

    fn point_and_keys(&mut self, content: &Content<'_>) -> Result<Option<(Point, Vec<u64>)>> {
        let Sketches { scheme, points, hasher, hashes } = self;
        let Some(point) = points.of(content)? else { return Ok(None) };
        hasher.check(&point)?;
        hashes.clear();
        hasher.hash(&point, hashes);
        points.finish()?;
        let keys = scheme.banding.keys(hashes);
        Ok(Some((point, keys)))
    }
}

/// The family of a space.
#[derive(Debug)]
enum Hasher {
    Jaccard(MinHashes),
    Cosine(Hyperplanes),
    Hamming(BitSampling),
    Euclidean(PStable),
}

impl Hasher {
    fn of(scheme: &Scheme, count: usize) -> Hasher {
        let &Scheme { permutations, width, seed, .. } = scheme;
        match scheme.space {
            Space::Jaccard => Hasher::Jaccard(MinHashes::new(permutations, count, seed)),
            Space::Cosine => Hasher::Cosine(Hyperplanes::new(count, seed)),
            Space::Hamming => Hasher::Hamming(BitSampling::new(count, width, seed)),
            Space::Euclidean => Hasher::Euclidean(PStable::new(count, scheme.slot(), seed)),
        }
    }

    /// Fails with [`Kind::BadData`] unless the hashes of a point tell it from one that is far away.
    fn check(&self, point: &Point) -> Result<()> {
        match (self, point) {
            (Hasher::Euclidean(family), Point::Vector(vector)) if !family.reaches(vector) => {
                Err(Error::new(Kind::BadData, "the vector is too long for this similarity")
                    .help("scale all vectors down, or give a smaller similarity")
                    .setting("similarity"))
            }
            _ => Ok(()),
        }
    }

    fn hash(&mut self, point: &Point, hashes: &mut Vec<u32>) {
        match (self, point) {
            (Hasher::Jaccard(family), Point::Set(set)) => family.hash(set, hashes),
            (Hasher::Cosine(family), Point::Weighted(features)) => {
                family.hash(&features[..], hashes)
            }
            (Hasher::Cosine(family), Point::Vector(vector)) => family.hash(&vector[..], hashes),
            (Hasher::Hamming(family), Point::Bits(bits)) => family.hash(bits, hashes),
            (Hasher::Euclidean(family), Point::Vector(vector)) => family.hash(vector, hashes),
            (_, point) => unreachable!("no point of the space: {point:?}"),
        }
    }

    fn collision(&self, similarity: f64) -> f64 {
        match self {
            Hasher::Jaccard(family) => family.collision(similarity),
            Hasher::Cosine(family) => Family::<[f64]>::collision(family, similarity),
            Hasher::Hamming(family) => family.collision(similarity),
            Hasher::Euclidean(family) => family.collision(similarity),
        }
    }

    fn similarity(&self, agreement: f64) -> f64 {
        match self {
            Hasher::Jaccard(family) => family.similarity(agreement),
            Hasher::Cosine(family) => Family::<[f64]>::similarity(family, agreement),
            Hasher::Hamming(family) => family.similarity(agreement),
            Hasher::Euclidean(family) => family.similarity(agreement),
        }
    }
}
