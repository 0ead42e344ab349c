//! Weights of words by their part of speech in jieba's dictionary.
//!
//! Each word is looked up by itself, so its weight does not depend on its neighbours. Names weigh most,
//! then other nouns, verbs, adjectives and adverbs, and least of all words that only join others.

use std::sync::Arc;

use jieba_rs::Jieba;

use crate::features::ONE;
use crate::features::by_hash::{ByHash, key};

/// What a word weighs by the start of its tag, the first that fits.
const WEIGHTS: [(&str, i64); 13] = [
    ("nr", 5),
    ("ns", 5),
    ("nt", 5),
    ("nz", 5),
    ("n", 4),
    ("eng", 3),
    ("vn", 4),
    ("v", 3),
    ("i", 3),
    ("l", 3),
    ("a", 2),
    ("j", 4),
    ("s", 2),
];

/// The longest word that is looked up, in bytes; a longer one weighs least. The dictionary has none that
/// long, and a look-up takes forty times the memory of the word.
const LONGEST_WORD: usize = 1 << 10;

const REMEMBERED: usize = 1 << 20;

#[derive(Debug)]
pub(crate) struct Speech {
    jieba: Arc<Jieba>,
    known: ByHash<u64, i64>,
}

impl Speech {
    pub(super) fn new(jieba: Arc<Jieba>) -> Speech {
        Speech { jieba, known: ByHash::default() }
    }

    /// The weight of `word`, in fixed point: 1 to 5.
    #[inline]
    pub(crate) fn of(&mut self, word: &str) -> i64 {
        let Speech { jieba, known } = self;
        if word.len() > LONGEST_WORD {
            return ONE;
        }
        if known.len() == REMEMBERED {
            known.clear();
        }
        *known.entry(key(word)).or_insert_with(|| {
            let tags = jieba.tag(word, false);
            let weigh =
                |tag: &str| WEIGHTS.iter().find(|it| tag.starts_with(it.0)).map_or(1, |it| it.1);
            tags.iter().map(|tag| weigh(tag.tag)).max().unwrap_or(1) * ONE
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::features::words::Words;

    use super::*;

    #[test]
    fn names_weigh_most_and_particles_least() {
        let mut speech = Words::new(true).speech();
        let words = ["北京", "大学", "发展", "the", "漂亮", "的", "和", "42"];
        for _ in 0..2 {
            let weights = words.map(|word| speech.of(word) / ONE);
            assert_eq!(weights, [5, 4, 4, 3, 2, 1, 1, 1]);
        }
    }
}
