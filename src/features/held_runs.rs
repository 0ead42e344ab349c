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

use std::sync::LazyLock;

use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

use crate::features::stretches;
use crate::hash::{Hash, xxh3_of_ascii};

/// Where texts are lower-cased.
#[derive(Clone, Debug, Default)]
pub struct Buffer {
    /// The text, its ASCII lower-cased.
    lower: String,
    /// The word at hand, where it is not all ASCII.
    word: String,
}

/// Calls `run` with a hash of each run of the text, in order.
pub fn each(text: &str, buffer: &mut Buffer, run: impl FnMut(u64)) {
    let Buffer { lower, word } = buffer;
    lower.clear();
    lower.push_str(text);
    lower.make_ascii_lowercase();
    let mut runs = Runs { before: [0; 2], words: 0, run };
    stretches::each(lower.as_bytes(), may_be_in_word, |start, end| {
        match xxh3_of_ascii(lower.as_bytes(), start, end) {
            Some(hash) => runs.word(hash),
            None => each_word(&lower[start..end], word, &mut runs),
        }
    });
    runs.finish();
}

/// Whether this byte of a lower-case text may be part of a word. Between all others words end.
#[inline(always)]
fn may_be_in_word(byte: u8) -> bool {
    let in_range = |first: u8, last: u8| byte.wrapping_sub(first) <= last - first;
    in_range(b'a', b'z') | in_range(b'0', b'9') | !byte.is_ascii()
}

/// Takes the words of a stretch that is not all ASCII, or long, or at the end of the text.
fn each_word(stretch: &str, word: &mut String, runs: &mut Runs<impl FnMut(u64)>) {
    if stretch.is_ascii() {
        return runs.word(hash(stretch));
    }
    let bytes = stretch.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if word.is_empty() {
            // U+4000 to U+9FFF, each a word.
            while let Some([0xe4..=0xe9, _, _]) = bytes[at..].first_chunk() {
                runs.word(hash(&stretch[at..at + 3]));
                at += 3;
            }
        }
        let Some(c) = stretch[at..].chars().next() else { break };
        at += c.len_utf8();
        if CharTraits::of(c).is_lower {
            take(c, word, runs);
        } else {
            c.to_lowercase().for_each(|c| take(c, word, runs));
        }
    }
    runs.end(word);
}

/// Takes a lower-case character.
#[inline(always)]
fn take(c: char, word: &mut String, runs: &mut Runs<impl FnMut(u64)>) {
    let is_alphanumeric = CharTraits::of(c).is_alphanumeric;
    if is_alphanumeric && (!word.is_empty() || !is_word(c)) {
        word.push(c);
        return;
    }
    runs.end(word);
    if is_word(c) {
        runs.word(hash(c.encode_utf8(&mut [0; 4])));
    }
}

#[inline(always)]
fn hash(word: &str) -> u64 {
    Hash::Xxh3.of(word)
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

/// What Unicode's tables say of a character.
#[derive(Clone, Copy, Debug)]
struct CharTraits {
    is_alphanumeric: bool,
    /// Whether it is its own lower case.
    is_lower: bool,
}

impl CharTraits {
    #[inline(always)]
    fn of(c: char) -> CharTraits {
        // Sixteen characters of the basic plane in each number. A look into Unicode's own tables is a search.
        static BASIC: LazyLock<Vec<u32>> = LazyLock::new(|| {
            let mut all = vec![0; 1 << 12];
            for c in '\0'..='\u{ffff}' {
                let CharTraits { is_alphanumeric, is_lower } = CharTraits::look_up(c);
                let both = u32::from(is_alphanumeric) | u32::from(is_lower) << 1;
                all[c as usize >> 4] |= both << (2 * (c as u32 & 15));
            }
            all
        });
        match BASIC.get(c as usize >> 4) {
            Some(sixteen) => {
                let both = sixteen >> (2 * (c as u32 & 15));
                CharTraits { is_alphanumeric: both & 1 == 1, is_lower: both & 2 == 2 }
            }
            None => CharTraits::look_up(c),
        }
    }

    #[cold]
    fn look_up(c: char) -> CharTraits {
        CharTraits { is_alphanumeric: is_alphanumeric(c), is_lower: c.to_lowercase().eq([c]) }
    }
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
    fn end(&mut self, word: &mut String) {
        if !word.is_empty() {
            self.word(hash(word));
            word.clear();
        }
    }

    /// Takes a word by its hash.
    #[inline(always)]
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
    use xxhash_rust::xxh3::xxh3_64;

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
            text in "([ -~]|[ab1_ ]|[一-三䷀ぁ-ぅกิ] ?|[éßİΣKÅ٣Ⅷ²，。]|[\u{d0}-\u{2ff}Ѐ-ԯ가-힣]|[a-zäöüß]{1,20}|\\PC){0,40}",
        ) {
            let words = words(&text);
            let runs: Vec<&[String]> = match words.len() {
                0 => Vec::new(),
                1 | 2 => vec![&words[..]],
                _ => words.windows(3).collect(),
            };
            let found = hashes(&text);
            let word = |run: &[String], at: usize| run.get(at).map(|it| xxh3_64(it.as_bytes()));
            let expected = runs.iter().map(|run| match run {
                [_] => combined([1, 0, word(run, 0).unwrap()]),
                [_, _] => combined([2, word(run, 0).unwrap(), word(run, 1).unwrap()]),
                _ => combined([0, 1, 2].map(|at| word(run, at).unwrap())),
            });
            prop_assert_eq!(&found, &expected.collect::<Vec<_>>());
            let distinct: BTreeSet<_> = runs.iter().collect();
            let by_run: BTreeMap<_, u64> = runs.iter().zip(found.iter().copied()).collect();
            prop_assert_eq!(by_run.values().collect::<BTreeSet<_>>().len(), distinct.len());
            prop_assert!(runs.iter().zip(&found).all(|(run, hash)| by_run[run] == *hash));
        }
    }
}
