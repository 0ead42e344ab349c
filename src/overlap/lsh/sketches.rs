//! The keys of the bands of documents, and the documents as points.

use super::bands::Bands;
use super::family::{BitSampling, Family};
use super::hyperplanes::Hyperplanes;
use super::min_hashes::MinHashes;
use super::p_stable::PStable;
use super::point::{Point, Points};
use super::space::Space;
use crate::document::Content;
use crate::error::{Error, Kind, Result};
use crate::fingerprint::{PageTime, Width};

/// What a segment has of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sketch {
    /// The keys of its bands.
    pub keys: Vec<u8>,
    /// The document as the check `points` takes it; empty if it has nothing to compare.
    pub point: Vec<u8>,
}

/// Makes the keys of bands. It has buffers, so each worker has its own.
#[derive(Debug)]
pub struct Sketches {
    bands: Bands,
    width: Width,
    points: Points,
    hasher: Hasher,
    hashes: Vec<u32>,
}

impl Bands {
    /// The probability that one hash of two documents of this similarity agrees.
    pub fn collision(&self, similarity: f64) -> f64 {
        Hasher::of(self, 1, Width::W64).collision(similarity)
    }

    /// The probability that two documents of this similarity share a bucket.
    pub fn probability(&self, similarity: f64) -> f64 {
        self.banding.probability(self.collision(similarity))
    }

    /// What makes its keys; fingerprints have this width. A text that takes longer than `time` fails.
    pub fn sketches(&self, width: Width, time: PageTime) -> Sketches {
        let hasher = Hasher::of(self, self.banding.hashes(), width);
        let points = Points::new(self.space, self.shingle, time);
        Sketches { bands: *self, width, points, hasher, hashes: Vec::new() }
    }
}

impl Sketches {
    /// The space in which distances are measured.
    pub fn space(&self) -> Space {
        self.bands.space
    }

    /// The sketch of a document.
    ///
    /// # Errors
    /// [`Kind::Usage`] if the family does not fit such documents, [`Kind::BadData`] if a text
    /// takes longer than allowed, the weight of a feature is out of range or a vector is too long.
    pub fn of(&mut self, content: &Content<'_>) -> Result<Sketch> {
        let Sketches { bands, width, points, hasher, hashes } = self;
        let Some(point) = points.of(content)? else {
            return Ok(Sketch { keys: bands.write(None), point: Vec::new() });
        };
        hasher.check(&point)?;
        hashes.clear();
        hasher.hash(&point, hashes);
        points.finish()?;
        let keys = bands.write(Some(&bands.banding.keys(hashes)));
        Ok(Sketch { keys, point: point.bytes(bands.space, *width)? })
    }
}

#[derive(Debug)]
enum Hasher {
    Jaccard(MinHashes),
    Cosine(Hyperplanes),
    Hamming(BitSampling),
    Euclidean(PStable),
}

impl Hasher {
    fn of(bands: &Bands, count: usize, width: Width) -> Hasher {
        let &Bands { permutations, slot, seed, .. } = bands;
        match bands.space {
            Space::Jaccard => Hasher::Jaccard(MinHashes::new(permutations, count, seed)),
            Space::Cosine => Hasher::Cosine(Hyperplanes::new(count, seed)),
            Space::Hamming => Hasher::Hamming(BitSampling::new(count, width, seed)),
            Space::Euclidean => Hasher::Euclidean(PStable::new(count, slot, seed)),
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
}
