//! Shingles of a text: overlapping runs of characters, or of words.

use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};
use xxhash_rust::xxh3::xxh3_64;

use crate::features::words::{self, is_han};
use crate::hash::Hash;

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

/// The bytes of the first character, and whether it is a letter or digit, where its first bytes say so.
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

/// Calls `window` with each run of `length` characters of `text`, or with all of a shorter one, unless it is empty.
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

/// Calls `run` with a hash of each run of so many plain words of `text` ([`words::each_plain`]), or of all words of a
/// text that has fewer, but some: behind zeros for those that it lacks.
pub fn plain_word_runs(text: &str, length: usize, mut run: impl FnMut(u64)) {
    let mut last = vec![0; 8 * length];
    let mut words = 0;
    words::each_plain(text, |word| {
        last.drain(..8);
        last.extend(Hash::Xxh3.of::<u64>(word).to_le_bytes());
        words += 1;
        if words >= length {
            run(xxh3_64(&last));
        }
    });
    if 0 < words && words < length {
        run(xxh3_64(&last));
    }
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
    fn word_characters_are_those_of_python_and_windows_hold_whatever_there_is() {
        let mut out = "before".to_owned();
        word_characters("Hello, Wörld_9 ½ 中国！ＡＢ Ⅷ Ⓐ का ΣΑΣ", &mut out);
        assert_eq!(out, "hellowörld_9½中国ａｂⅷकσας");
        for (text, length, expected) in
            [("a中_.b", 4, "a中_.|中_.b"), ("a中_", 4, "a中_"), ("", 4, ""), ("a中", 1, "a|中")]
        {
            let mut found = Vec::new();
            windows(text, length, |window| found.push(window));
            let expected = expected.split('|').filter(|it| !it.is_empty());
            assert!(found.iter().copied().eq(expected), "{found:?}");
        }
    }

    /// Stores hold signatures that were made of these.
    #[test]
    fn runs_of_plain_words_are_told_by_their_words_and_few_stand_behind_zeros() {
        let of = |text: &str| {
            let mut runs = Vec::new();
            plain_word_runs(text, 3, |run| runs.push(run));
            runs
        };
        for (text, runs) in [
            ("", vec![]),
            ("?!", vec![]),
            ("one", vec![["", "", "one"]]),
            ("é one", vec![["", "é", "one"]]),
            ("one, two - 中文", vec![["one", "two", "中"], ["two", "中", "文"]]),
        ] {
            let hash = |word: &str| if word.is_empty() { 0 } else { xxh3_64(word.as_bytes()) };
            let run = |run: [&str; 3]| xxh3_64(&run.map(|word| hash(word).to_le_bytes()).concat());
            assert_eq!(of(text), runs.into_iter().map(run).collect::<Vec<_>>(), "{text}");
        }
        assert_eq!(
            of("one two three 中文"),
            [7_939_448_954_101_991_128, 10_660_586_487_441_036_957, 9_988_588_795_395_064_217]
        );
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
        fn word_shingles_equal_their_definition(words in prop::collection::vec("[a-c]{1,3}", 0..9), length in 1..6usize) {
            let windows: Vec<String> =
                words.windows(length.min(words.len()).max(1)).map(|window| window.join(" ")).collect();
            prop_assert_eq!(of_words(&words, length), windows);
        }
    }
}
