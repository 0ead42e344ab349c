//! MinHash of runs of three words.
//!
//! English has so few runs of three characters that any two pages share many. A run of three words is rare
//! in any language, so that one least similarity serves all of them.

use super::maker::{Maker, NORMALISE_WORDS, Signing};
use crate::features::shingles;
use crate::fingerprint::minhash::{self, MinHash};

/// The words of a run.
const RUN: usize = 3;

/// Makes signatures of the set of runs of words of a text.
#[derive(Debug)]
pub(super) struct WordMinHash(pub(super) MinHash);

impl Maker for WordMinHash {
    fn sign(&mut self, text: &str, Signing { clock, normal, signature }: Signing<'_, '_>) {
        let start = signature.len();
        let mut has_words = false;
        shingles::plain_word_runs(normal.page(&NORMALISE_WORDS, text), RUN, |run| {
            has_words = true;
            if clock.step() {
                self.0.add(run);
            }
        });
        self.0.finish(signature);
        // Of a few runs, all the bits that are kept may be zeros. Only a text without words is so.
        if has_words && is_zero(&signature[start..]) {
            signature[start] = 1;
        }
    }
}

/// The estimate of the Jaccard similarity; 0 for two texts without words.
pub(super) fn similarity(one: &[u8], another: &[u8], bits: u32) -> f64 {
    if is_zero(one) && is_zero(another) {
        return 0.0;
    }
    minhash::similarity(one, another, bits)
}

/// Whether a signature is all zeros, as that of a text without words is.
fn is_zero(signature: &[u8]) -> bool {
    signature.iter().all(|&byte| byte == 0)
}
