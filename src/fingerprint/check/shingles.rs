//! The runs of three characters of a text, and its runs of three words, of which most signatures are made.

use xxhash_rust::xxh3::xxh3_64;

use super::maker::{NORMALISE, NORMALISE_WORDS};
use crate::features::shingles;
use crate::fingerprint::ShingleSet;
use crate::fingerprint::normal_form::Normaliser;

/// The characters of a shingle.
const SHINGLE: usize = 3;

/// Calls `shingle` with each shingle of the normal form of `text`.
pub(super) fn each_shingle(text: &str, normal: &mut Normaliser<'_>, shingle: impl FnMut(&str)) {
    shingles::characters(normal.page(&NORMALISE, text), SHINGLE, shingle);
}

/// The set of the shingles that checks are made of.
pub fn shingle_set(text: &str) -> ShingleSet {
    ShingleSet::gather(|add| {
        let mut normal = Normaliser { known: None, buffer: &mut String::new() };
        each_shingle(text, &mut normal, |shingle| add(xxh3_64(shingle.as_bytes())));
    })
}

/// The set of the runs of three words that checks of words are made of.
pub fn word_run_set(text: &str) -> ShingleSet {
    let mut prepared = String::new();
    NORMALISE_WORDS.apply(text, &mut prepared);
    ShingleSet::gather(|add| shingles::word_runs(&prepared, add))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shingles_are_those_of_the_definition() {
        let [one, two] = ["abcd", "abce"].map(shingle_set);
        assert_eq!((one.len(), one.jaccard(&two)), (2, 1.0 / 3.0));
        let [one, two] = ["a b 12 c D", "A b, c e"].map(word_run_set);
        assert_eq!((one.len(), one.jaccard(&two)), (2, 1.0 / 3.0));
    }
}
