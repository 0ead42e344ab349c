//! Runs of one and two words with weights: what a short text is made of.
//!
//! A short text has too few runs of three words: one changed word breaks three of some twenty. Runs of one
//! word stay where others change, and runs of two hold the order. A character of Han is a word, so that it
//! matters little how a sentence is cut. What is rare says most of what a title is about. So a word weighs the
//! square of its inverse document frequency by jieba's table, the characters of a word of Han have equal
//! parts of that, and a run weighs as much as its words on average. All words that the table does not hold
//! weigh the same, those of other languages among them.

use xxhash_rust::xxh3::xxh3_64;

use crate::features::SCALE_BITS;
use crate::features::tfidf::Idf;
use crate::features::words::{Words, is_han};

/// Cuts texts into weighted runs.
#[derive(Debug)]
pub(crate) struct WeightedRuns {
    words: Words,
    idf: Idf,
}

/// A word: the hash by which it is known, and its weight.
type Word = (u64, i64);

impl WeightedRuns {
    pub(crate) fn new() -> WeightedRuns {
        WeightedRuns { words: Words::new(true), idf: Idf::new() }
    }

    /// Calls `run` with a hash of each run of `text` and its weight, in fixed point. A run that occurs again
    /// may weigh something else.
    pub(crate) fn each(&mut self, text: &str, mut run: impl FnMut(u64, i64)) {
        let WeightedRuns { words, idf } = self;
        let mut last: Option<Word> = None;
        let mut next = |word: &str, weight: i64| {
            let word = (xxh3_64(word.as_bytes()), weight);
            run(word.0, word.1);
            if let Some(last) = last.replace(word) {
                run(hash_of_two(last.0, word.0), (last.1 + word.1) / 2);
            }
        };
        words.each(text, |word| {
            let weight = square(idf.of(word));
            if word.starts_with(is_han) {
                let part = weight / word.chars().count() as i64;
                let mut bytes = [0; 4];
                word.chars().for_each(|c| next(c.encode_utf8(&mut bytes), part));
            } else {
                next(word, weight);
            }
        });
    }
}

fn hash_of_two(one: u64, two: u64) -> u64 {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&one.to_le_bytes());
    bytes[8..].copy_from_slice(&two.to_le_bytes());
    xxh3_64(&bytes)
}

/// The square of a number in fixed point.
fn square(number: i64) -> i64 {
    ((i128::from(number) * i128::from(number)) >> SCALE_BITS) as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::fixed;

    fn runs(text: &str) -> Vec<(u64, i64)> {
        let mut runs = Vec::new();
        WeightedRuns::new().each(text, |run, weight| runs.push((run, weight)));
        runs
    }

    #[test]
    fn runs_are_of_one_and_two_words_and_weigh_what_the_table_says() {
        let hash = |word: &str| xxh3_64(word.as_bytes());
        let two = |one: &str, two: &str| hash_of_two(hash(one), hash(two));
        let unknown = square(fixed(11.9547675029).unwrap());
        let part = square(fixed(13.900677652).unwrap()) / 4;
        let expected = [
            (hash("xy"), unknown),
            (hash("劳"), part),
            (two("xy", "劳"), (unknown + part) / 2),
            (hash("动"), part),
            (two("劳", "动"), part),
            (hash("防"), part),
            (two("动", "防"), part),
            (hash("护"), part),
            (two("防", "护"), part),
        ];
        assert_eq!(runs("xy, 劳动防护!"), expected);
        assert_eq!(runs("?!"), []);
        assert_ne!(two("a", "b"), two("b", "a"));
    }
}
