//! Shingles of a text: overlapping runs of characters, or of words.
//!
//! ```
//! use dupsieve_text::features::shingles::{WordWindow, characters};
//!
//! let mut found = Vec::new();
//! characters("abcd", 3, |shingle| found.push(shingle));
//! assert_eq!(found, ["abc", "bcd"]);
//!
//! let mut window = WordWindow::new(2);
//! assert_eq!(window.push("two"), None);
//! assert_eq!(window.push("words"), Some("two words"));
//! ```

use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};
use xxhash_rust::xxh3::xxh3_64;

use crate::features::words::{self, is_han};
use crate::hash::{Hash, xxh3_of_three};

/// Calls `shingle` with each run of `length` characters of `text` that holds a letter or digit.
///
/// A text of fewer characters is one shingle, under the same condition.
pub fn characters<'t>(text: &'t str, length: usize, mut shingle: impl FnMut(&'t str)) {
    let bytes = text.as_bytes();
    let mut start = 0;
    let mut end = 0;
    let mut read = 0;
    let mut speaks_until = 0;
    while end < bytes.len() {
        let (char_bytes, speaks) = first_char(&bytes[end..]).unwrap_or_else(|| look_up(text, end));
        end += char_bytes;
        read += 1;
        if speaks {
            speaks_until = end;
        }
        if read >= length || end == bytes.len() {
            if speaks_until > start {
                shingle(&text[start..end]);
            }
            start += char_bytes_of(bytes[start]);
        }
    }
}

#[inline]
fn char_bytes_of(first: u8) -> usize {
    match first {
        ..0xc0 => 1,
        0xc0..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0.. => 4,
    }
}

/// The length in bytes of the first character, and whether it is a letter or digit, where its first bytes
/// say so.
#[inline(always)]
fn first_char(bytes: &[u8]) -> Option<(usize, bool)> {
    match *bytes {
        [byte, ..] if byte.is_ascii() => Some((1, byte.is_ascii_alphanumeric())),
        [0xe5..=0xe9, ..] => Some((3, true)), // U+5000 to U+9FFF, Han all of them
        [0xe4, second, ..] => Some((3, second != 0xb7)), // U+4DC0 to U+4DFF are hexagrams
        [0xe2, 0x80, ..] => Some((3, false)), // U+2000 to U+203F, dashes and quotation marks
        [0xe3, 0x80, 0x80..=0x84 | 0x88..=0x91, ..] => Some((3, false)), // CJK punctuation
        _ => None,
    }
}

/// The same of the character at `at`, by Unicode's tables.
#[cold]
#[inline(never)]
fn look_up(text: &str, at: usize) -> (usize, bool) {
    let first = text[at..].chars().next().unwrap_or_default();
    (first.len_utf8(), is_han(first) || first.is_alphanumeric())
}

/// Replaces what `out` holds by the lower-case `text` without anything but word characters: letters,
/// numbers and `_`, as the `\w` of Python's regular expressions has them.
pub fn word_characters(text: &str, out: &mut String) {
    out.clear();
    out.push_str(&text.to_lowercase());
    out.retain(|c| match c {
        '_' => true,
        _ if c.is_ascii() => c.is_ascii_alphanumeric(),
        _ => matches!(
            c.general_category_group(),
            GeneralCategoryGroup::Letter | GeneralCategoryGroup::Number
        ),
    });
}

/// Calls `window` with each run of `length` characters of `text`, or with all of a shorter text that
/// is not empty.
pub fn windows<'t>(text: &'t str, length: usize, mut window: impl FnMut(&'t str)) {
    let ends = text.char_indices().map(|(at, c)| at + c.len_utf8());
    let mut full = ends.skip(length - 1).peekable();
    if full.peek().is_none() && !text.is_empty() {
        return window(text);
    }
    for ((start, _), end) in text.char_indices().zip(full) {
        window(&text[start..end]);
    }
}

/// The last few words of a text, joined by spaces.
#[derive(Clone, Debug)]
pub struct WordWindow {
    length: usize,
    words: usize,
    joined: String,
}

impl WordWindow {
    pub fn new(length: usize) -> WordWindow {
        WordWindow { length, words: 0, joined: String::new() }
    }

    /// Takes the next word (which holds no space) and returns the shingle it completes.
    pub fn push(&mut self, word: &str) -> Option<&str> {
        if self.words == self.length {
            self.drop_first();
        } else {
            self.words += 1;
        }
        if !self.joined.is_empty() {
            self.joined.push(' ');
        }
        self.joined.push_str(word);
        (self.words == self.length).then_some(&self.joined)
    }

    /// At the end of a text: all of its words, if they were too few for one shingle.
    pub fn rest(&self) -> Option<&str> {
        (0 < self.words && self.words < self.length).then_some(&self.joined)
    }

    pub fn clear(&mut self) {
        self.words = 0;
        self.joined.clear();
    }

    fn drop_first(&mut self) {
        let end = self.joined.find(' ').map_or(self.joined.len(), |at| at + 1);
        self.joined.drain(..end);
    }
}

const RUN: usize = 3;

/// The characters of a run in a script that is written without spaces: as many as make two unrelated
/// halves of the Universal Declaration of Human Rights in Thai, Lao, Khmer, Burmese and Japanese share as
/// few runs, on average, as three characters do in Chinese (5 %).
const UNSPACED_RUN: usize = 7;

/// Calls `run` with a hash of each run of so many plain words of `text`
/// ([`words::each_plain`]), or of all words of a text that has fewer, but some: behind zeros for those that it
/// lacks.
pub fn plain_word_runs(text: &str, length: usize, mut run: impl FnMut(u64)) {
    let mut last = vec![0; 8 * length];
    let mut words = 0;
    words::each_plain(text, |word| {
        last.drain(..8);
        last.extend(hash_of_word(word).to_le_bytes());
        words += 1;
        if words >= length {
            run(xxh3_64(&last));
        }
    });
    if 0 < words && words < length {
        run(xxh3_64(&last));
    }
}

/// As [`plain_word_runs`], but a run that ends in a script without spaces, such as Thai, has seven words.
/// There a word of [`words::each_plain`] is a character, and three of them stand on most pages.
pub fn word_runs(text: &str, mut run: impl FnMut(u64)) {
    let mut latest = Latest::default();
    let mut runs = 0;
    words::each_plain(text, |word| {
        latest.push(hash_of_word(word));
        let hash = if word.starts_with(words::is_unspaced) {
            latest.run::<UNSPACED_RUN>()
        } else {
            latest.run::<RUN>()
        };
        if let Some(hash) = hash {
            run(hash);
            runs += 1;
        }
    });
    if runs == 0 && latest.words > 0 {
        // At most six words, since a seventh ends a run whatever it is. They stand at the start.
        run(hash_of_run(&latest.ring[..latest.words]));
    }
}

/// The latest words of a text, round and round in as many places as the longest run needs.
#[derive(Default)]
struct Latest {
    ring: [u64; UNSPACED_RUN.next_power_of_two()],
    words: usize,
}

impl Latest {
    #[inline]
    fn push(&mut self, word: u64) {
        self.ring[self.words % self.ring.len()] = word;
        self.words += 1;
    }

    /// A hash of the latest N words, if there are so many.
    #[inline]
    fn run<const N: usize>(&self) -> Option<u64> {
        let first = self.words.checked_sub(N)?;
        let run: [u64; N] = std::array::from_fn(|at| self.ring[(first + at) % self.ring.len()]);
        Some(hash_of_run(&run))
    }
}

#[inline(always)]
fn hash_of_word(word: &str) -> u64 {
    Hash::Xxh3.of(word)
}

/// XXH3 of the hashes of the words.
#[inline]
fn hash_of_run(words: &[u64]) -> u64 {
    if let Ok(run) = words.try_into() {
        return xxh3_of_three(run);
    }
    let mut bytes = [0; 8 * UNSPACED_RUN];
    for (eight, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
        *eight = word.to_le_bytes();
    }
    xxh3_64(&bytes[..8 * words.len()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of_characters(text: &str, length: usize) -> Vec<&str> {
        let mut shingles = Vec::new();
        characters(text, length, |shingle| shingles.push(shingle));
        shingles
    }

    fn of_words(words: &[String], length: usize) -> Vec<String> {
        let mut window = WordWindow::new(length);
        let mut shingles = Vec::new();
        for word in words {
            shingles.extend(window.push(word).map(str::to_owned));
        }
        shingles.extend(window.rest().map(str::to_owned));
        shingles
    }

    #[test]
    fn what_first_bytes_say_is_what_the_tables_say() {
        for c in '\0'..=char::MAX {
            let text = c.to_string();
            let told = first_char(text.as_bytes());
            assert!(told.is_none_or(|told| told == look_up(&text, 0)), "{c:?}");
        }
    }

    #[test]
    fn word_characters_are_those_of_python() {
        let mut out = "before".to_owned();
        word_characters("Hello, Wörld_9 ½ 中国！ＡＢ Ⅷ Ⓐ का ΣΑΣ", &mut out);
        assert_eq!(out, "hellowörld_9½中国ａｂⅷकσας");
        word_characters("!?", &mut out);
        assert_eq!(out, "");
    }

    #[test]
    fn windows_hold_whatever_there_is() {
        let of = |text, length| {
            let mut found = Vec::new();
            windows(text, length, |window| found.push(window));
            found
        };
        assert_eq!(of("a中_.b", 4), ["a中_.", "中_.b"]);
        assert_eq!(of("a中_", 4), ["a中_"]);
        assert_eq!(of("abcd", 4), ["abcd"]);
        assert_eq!(of("", 4), [""; 0]);
        assert_eq!(of("a中", 1), ["a", "中"]);
    }

    /// Stores hold signatures that were made of these.
    #[test]
    fn a_text_of_few_words_is_one_run_behind_zeros() {
        let hash = |word: &str| xxh3_64(word.as_bytes()).to_le_bytes();
        for (text, words) in
            [("one", [[0; 8], [0; 8], hash("one")]), ("one é", [[0; 8], hash("one"), hash("é")])]
        {
            let mut runs = Vec::new();
            plain_word_runs(text, 3, |run| runs.push(run));
            assert_eq!(runs, [xxh3_64(&words.concat())]);
        }
    }

    #[test]
    fn runs_of_plain_words_are_told_by_their_words() {
        let of = |text| {
            let mut runs = Vec::new();
            plain_word_runs(text, 3, |run| runs.push(run));
            runs
        };
        assert_eq!(of("one, two - three; four"), of("one two  three four"));
        assert_eq!(
            ["", "?!", "a", "a b", "a b c", "a b c d", "中文ab"].map(|it| of(it).len()),
            [0, 0, 1, 1, 1, 2, 1]
        );
        assert_ne!(of("a b"), of("b a"));
        assert_eq!(of("x a b c")[1], of("a b c")[0]);
        // Signatures in stores are made of these.
        assert_eq!(
            of("one two three 中文"),
            [7_939_448_954_101_991_128, 10_660_586_487_441_036_957, 9_988_588_795_395_064_217]
        );
    }

    fn word_runs_of(text: &str) -> Vec<u64> {
        let mut runs = Vec::new();
        word_runs(text, |run| runs.push(run));
        runs
    }

    #[test]
    fn runs_in_scripts_without_spaces_are_longer() {
        // Seven characters with their vowel signs, then eight.
        let [seven, eight] = ["ภาษาไทย", "ภาษาไทยก"];
        let counts = ["", "?!", "a", "a b", "a b c", "a b c d", "中文ab", "ภา", seven, eight];
        assert_eq!(counts.map(|text| word_runs_of(text).len()), [0, 0, 1, 1, 1, 2, 1, 1, 1, 2]);
        assert_ne!(word_runs_of("ก ข"), word_runs_of("ข ก"));
        assert_eq!(word_runs_of("私は学校に行きました").len(), 7);
        // Signatures in stores are made of these.
        assert_eq!(
            word_runs_of("one two three 中文"),
            [7_939_448_954_101_991_128, 10_660_586_487_441_036_957, 9_988_588_795_395_064_217]
        );
    }

    #[test]
    fn a_cleared_window_remembers_nothing() {
        let mut window = WordWindow::new(2);
        assert_eq!(window.push("a"), None);
        window.clear();
        assert_eq!(window.push("b"), None);
        assert_eq!(window.push("c"), Some("b c"));
    }

    proptest! {
        #[test]
        fn shingles_equal_their_definition(text in "([ab中 ，.]{0,12}|[ab .]{0,40}中?[a .]{0,9})", length in 1..6usize) {
            let chars: Vec<char> = text.chars().collect();
            let windows: Vec<String> = chars
                .windows(length.min(chars.len()).max(1))
                .filter(|window| window.iter().any(|c| c.is_alphanumeric()))
                .map(|window| window.iter().collect())
                .collect();
            prop_assert_eq!(of_characters(&text, length), windows);
        }

        #[test]
        fn word_runs_equal_their_definition(text in "([a-c]{1,2} |[中文]|[กขคひ]| ){0,24}") {
            let mut words = Vec::new();
            words::each_plain(&text, |word| words.push(word));
            let length = |word: &str| if word.starts_with(['ก', 'ข', 'ค', 'ひ']) { 7 } else { 3 };
            let ends = (1..=words.len()).filter(|&end| end >= length(words[end - 1]));
            let mut runs: Vec<&[&str]> =
                ends.map(|end| &words[end - length(words[end - 1])..end]).collect();
            if runs.is_empty() && !words.is_empty() {
                runs.push(&words);
            }
            let hash = |run: &&[&str]| {
                let words = run.iter().flat_map(|word| xxh3_64(word.as_bytes()).to_le_bytes());
                xxh3_64(&words.collect::<Vec<u8>>())
            };
            prop_assert_eq!(word_runs_of(&text), runs.iter().map(hash).collect::<Vec<u64>>());
        }

        #[test]
        fn word_shingles_equal_their_definition(words in prop::collection::vec("[a-c]{1,3}", 0..9), length in 1..6usize) {
            let windows: Vec<String> =
                words.windows(length.min(words.len()).max(1)).map(|window| window.join(" ")).collect();
            prop_assert_eq!(of_words(&words, length), windows);
        }
    }
}
