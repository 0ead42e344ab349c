//! MinHash of runs of three characters.

use xxhash_rust::xxh3::xxh3_64;

use super::maker::{Maker, Signing};
use super::shingles::each_shingle;
use crate::fingerprint::minhash::MinHash;

/// Makes signatures of the set of shingles of a text.
#[derive(Debug)]
pub(super) struct CharacterMinHash(pub(super) MinHash);

impl Maker for CharacterMinHash {
    fn sign(&mut self, text: &str, Signing { clock, normal, signature, .. }: Signing<'_, '_>) {
        each_shingle(text, normal, |shingle| {
            if clock.step() {
                self.0.add(xxh3_64(shingle.as_bytes()));
            }
        });
        self.0.finish(signature);
    }
}
