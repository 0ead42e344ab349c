//! The runs of three words by which a share of a text is measured: what a page says, every number included.
//!
//! A text is lower-cased. A word is one character of Han, kana, Thai or Lao, which are written without spaces, or else
//! a longest run of letters and digits. A run is three words that follow each other; a text of one or two words
//! is one run. These are the runs of the definition of lost text, which `tests/loss.rs` keeps as plain code.
//!
//! ```
//! use dupsieve::rooms::features::held_runs;
//!
//! let mut count = 0;
//! held_runs::each("Price: 12.50 EUR", &mut held_runs::Buffer::default(), |_| count += 1);
//! assert_eq!(count, 2); // (price, 12, 50), (12, 50, eur)
//! ```

use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};
use xxhash_rust::xxh3::xxh3_64;

/// Where the word at hand is lower-cased.
#[derive(Clone, Debug, Default)]
pub struct Buffer(Vec<u8>);

/// Calls `run` with a hash of each run of the text, in order.
pub fn each(text: &str, buffer: &mut Buffer, run: impl FnMut(u64)) {
    let Buffer(word) = buffer;
    word.clear();
    let mut runs = Runs { before: [0; 2], words: 0, run };
    for c in text.chars() {
        if c.is_ascii() {
            if c.is_ascii_alphanumeric() {
                word.push(c.to_ascii_lowercase() as u8);
            } else {
                runs.end(word);
            }
            continue;
        }
        for c in c.to_lowercase() {
            let mut bytes = [0; 4];
            let bytes = c.encode_utf8(&mut bytes).as_bytes();
            if !word.is_empty() && is_alphanumeric(c) {
                word.extend_from_slice(bytes);
                continue;
            }
            runs.end(word);
            if is_word(c) {
                runs.word(xxh3_64(bytes));
            } else if is_alphanumeric(c) {
                word.extend_from_slice(bytes);
            }
        }
    }
    runs.end(word);
    runs.finish();
}

/// Whether the character is a word by itself: Han of the basic plane, kana, Thai and Lao.
fn is_word(c: char) -> bool {
    matches!(c, '\u{0e00}'..='\u{0eff}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}')
}

/// Whether the character is a letter or a number by its general category.
fn is_alphanumeric(c: char) -> bool {
    matches!(
        c.general_category_group(),
        GeneralCategoryGroup::Letter | GeneralCategoryGroup::Number
    )
}

/// The words so far.
struct Runs<F> {
    /// The hashes of the two words before.
    before: [u64; 2],
    /// How many words there were.
    words: u64,
    run: F,
}

impl<F: FnMut(u64)> Runs<F> {
    /// Ends the word at hand, if there is one.
    fn end(&mut self, word: &mut Vec<u8>) {
        if !word.is_empty() {
            self.word(xxh3_64(word));
            word.clear();
        }
    }

    /// Takes a word by its hash.
    fn word(&mut self, word: u64) {
        self.words += 1;
        let [first, second] = self.before;
        self.before = [second, word];
        if self.words > 2 {
            (self.run)(combined([first, second, word]));
        }
    }

    /// Ends the text: one or two words are one run.
    fn finish(&mut self) {
        if (1..3).contains(&self.words) {
            let [first, second] = self.before;
            (self.run)(combined([self.words, first, second]));
        }
    }
}

/// A hash of three hashes in their order, with 64 good bits.
#[inline]
fn combined(words: [u64; 3]) -> u64 {
    const ODD: [u64; 3] = [0x9e37_79b9_7f4a_7c15, 0xc2b2_ae3d_27d4_eb4f, 0x1656_67b1_9e37_79f9];
    let fold = |a: u64, b: u64| {
        let product = u128::from(a) * u128::from(b);
        product as u64 ^ (product >> 64) as u64
    };
    let [first, second, third] = words;
    let two = fold(first ^ ODD[0], second.rotate_left(23) ^ ODD[1]);
    fold(two ^ third ^ ODD[2], ODD[0]) ^ third.rotate_left(41)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;

    /// The words as they are defined: at each place one character of a script without spaces, or else as many letters and
    /// digits as follow each other.
    fn words(text: &str) -> Vec<String> {
        let text: Vec<char> = text.chars().flat_map(char::to_lowercase).collect();
        let mut words = Vec::new();
        let mut at = 0;
        while at < text.len() {
            let letters = text[at..].iter().take_while(|&&c| is_alphanumeric(c)).count();
            let length = if is_word(text[at]) { 1 } else { letters };
            if length > 0 {
                words.push(text[at..at + length].iter().collect());
            }
            at += length.max(1);
        }
        words
    }

    fn hashes(text: &str) -> Vec<u64> {
        let mut hashes = Vec::new();
        each(text, &mut Buffer::default(), |run| hashes.push(run));
        hashes
    }

    #[test]
    fn words_are_cut_as_they_are_defined() {
        assert_eq!(
            words("It's 3.14: 用iPhone手机 สวัส"),
            ["it", "s", "3", "14", "用", "iphone手机", "ส", "ว", "ั", "ส"]
        );
        assert_eq!(hashes("a b c").len(), 1);
        assert_eq!([hashes("").len(), hashes("one").len(), hashes("One two").len()], [0, 1, 1]);
        assert_ne!(hashes("one two"), hashes("two one"));
    }

    proptest! {
        #[test]
        fn runs_are_equal_where_their_words_are(
            text in "([ -~]|[ab1_ ]|[一-三ぁ-ぅกิ] ?|[éßİΣ٣Ⅷ²]|\\PC){0,40}",
        ) {
            let words = words(&text);
            let runs: Vec<&[String]> = match words.len() {
                0 => Vec::new(),
                1 | 2 => vec![&words[..]],
                _ => words.windows(3).collect(),
            };
            let found = hashes(&text);
            prop_assert_eq!(found.len(), runs.len());
            let distinct: BTreeSet<_> = runs.iter().collect();
            let by_run: BTreeMap<_, u64> = runs.iter().zip(found.iter().copied()).collect();
            prop_assert_eq!(by_run.values().collect::<BTreeSet<_>>().len(), distinct.len());
            prop_assert!(runs.iter().zip(&found).all(|(run, hash)| by_run[run] == *hash));
        }
    }
}
