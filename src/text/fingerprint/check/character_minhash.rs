//! MinHash of the runs of three characters of a text.

use xxhash_rust::xxh3::xxh3_64;

use super::maker::{Maker, NORMALISE, Signing};
use crate::features::shingles;
use crate::fingerprint::minhash::MinHash;

const SHINGLE: usize = 3;

#[derive(Debug)]
pub(super) struct CharacterMinHash(pub(super) MinHash);

impl Maker for CharacterMinHash {
    fn sign(&mut self, text: &str, Signing { clock, buffer, signature, .. }: Signing<'_>) {
        NORMALISE.apply(text, buffer);
        shingles::characters(buffer, SHINGLE, |shingle| {
            if clock.step() {
                self.0.add(xxh3_64(shingle.as_bytes()));
            }
        });
        self.0.finish(signature);
    }
}
