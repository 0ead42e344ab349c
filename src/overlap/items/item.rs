//! An item as the set of its shingles.

use crate::features::shingle_hashes::{Buffer, each_word, of_words};

/// The words of a shingle; an item of fewer words is one shingle.
pub(super) const WORDS: usize = 3;

#[derive(Debug)]
pub(super) struct Item {
    pub(super) id: String,
    pub(super) words: usize,
    /// Its distinct shingles, ascending.
    pub(super) shingles: Vec<u64>,
}

impl Item {
    pub(super) fn new(id: String, text: &str, buffer: &mut Buffer) -> Item {
        let mut words = Vec::new();
        each_word(text, buffer, |word| words.push(word));
        let width = words.len().clamp(1, WORDS);
        let mut shingles: Vec<u64> = words.windows(width).map(of_words).collect();
        shingles.sort_unstable();
        shingles.dedup();
        Item { id, words: words.len(), shingles }
    }

    pub(super) fn width(&self) -> usize {
        self.words.min(WORDS)
    }

    /// How many of its shingles a stretch must have at least to have this share of them.
    pub(super) fn least(&self, share: f64) -> usize {
        let count = self.shingles.len();
        (0..=count).find(|&shared| shared as f64 >= share * count as f64).unwrap_or(count).max(1)
    }

    /// The most words of a stretch in which it may stand.
    pub(super) fn longest(&self) -> usize {
        self.words + self.words / 2
    }
}
