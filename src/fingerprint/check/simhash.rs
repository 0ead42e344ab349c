//! A SimHash of 128 bits of runs of three characters.

use xxhash_rust::xxh3::xxh3_128;

use super::maker::{Maker, Signing};
use super::shingles::each_shingle;
use crate::fingerprint::Fingerprint;
use crate::fingerprint::minhash;
use crate::fingerprint::simhash::{SimHash, Ties};

/// The bytes of a signature.
pub(super) const BYTES: usize = 16;

/// Makes signatures that are the SimHash of the shingles of a text.
#[derive(Debug)]
pub(super) struct CharacterSimHash(Box<SimHash<u128>>);

impl CharacterSimHash {
    pub(super) fn new() -> CharacterSimHash {
        CharacterSimHash(Box::new(SimHash::new(Ties::Clear)))
    }
}

impl Maker for CharacterSimHash {
    fn sign(&mut self, text: &str, Signing { clock, normal, signature }: Signing<'_, '_>) {
        each_shingle(text, normal, |shingle| {
            if clock.step() {
                self.0.add_one(xxh3_128(shingle.as_bytes()));
            }
        });
        let bits = self.0.finish().map_or(0, u128::to_u128);
        signature.extend(bits.to_le_bytes());
    }
}

/// The share of bits in which two signatures agree.
pub(super) fn similarity(one: &[u8], another: &[u8]) -> f64 {
    1.0 - f64::from(minhash::differing(one, another, 1)) / (8 * BYTES) as f64
}
