//! MinHash of runs of three characters.

use xxhash_rust::xxh3::xxh3_64;

use super::maker::Maker;
use super::shingles::each_shingle;
use crate::fingerprint::minhash::MinHash;
use crate::fingerprint::normal_form::Normaliser;
use crate::fingerprint::page_time::PageClock;

/// Makes signatures of the set of shingles of a text.
#[derive(Debug)]
pub(super) struct CharacterMinHash(pub(super) MinHash);

impl Maker for CharacterMinHash {
    fn sign(
        &mut self,
        text: &str,
        clock: &mut PageClock,
        normal: &mut Normaliser<'_>,
        signature: &mut Vec<u8>,
    ) {
        each_shingle(text, normal, |shingle| {
            if clock.step() {
                self.0.add(xxh3_64(shingle.as_bytes()));
            }
        });
        self.0.finish(signature);
    }
}
