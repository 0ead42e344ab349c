//! The runs of three characters of a text, and its runs of three words, of which most signatures are made. The exact Jaccard
//! similarity of two texts, wherever one is shown, is that of their runs of three words.

use super::maker::{NORMALISE, NORMALISE_WORDS};
use crate::features::shingles;
use crate::fingerprint::ShingleSet;
use crate::fingerprint::normal_form::Normaliser;

const SHINGLE: usize = 3;

pub(super) fn each_shingle(text: &str, normal: &mut Normaliser<'_>, shingle: impl FnMut(&str)) {
    shingles::characters(normal.page(&NORMALISE, text), SHINGLE, shingle);
}

/// The set of the runs of three words of a text, without digits and markup; all words of a text of fewer. A Han character is
/// a word. In other scripts that are written without spaces a run has seven characters.
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
        let mut found = Vec::new();
        let mut normal = Normaliser { known: None, buffer: &mut String::new() };
        each_shingle("abcD", &mut normal, |shingle| found.push(shingle.to_owned()));
        assert_eq!(found, ["abc", "bcd"]);
        let [one, two] = ["a b 12 c D", "A b, c e"].map(word_run_set);
        assert_eq!((one.len(), one.jaccard(&two)), (2, 1.0 / 3.0));
    }
}
