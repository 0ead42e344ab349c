//! Hashes of the 3-word shingles of a text, by which it is measured how much of it another text contains: every number included.
//!
//! A text is normalised by form KC and lower-cased, and characters that show nothing are left out. A word is a run of letters, digits and the marks that
//! belong to them; or one character of Han, kana, Thai or Lao, which are written without spaces, with its marks. A text
//! of one or two words is one shingle.

use std::ops::Range;

use memchr::memmem;
use unicode_normalization::UnicodeNormalization;

use crate::features::by_hash::key;
use crate::features::characters::{Character, Class, shown};
use crate::features::stretches;
use crate::hash::{folded, xxh3_of_ascii};

#[derive(Clone, Debug, Default)]
pub struct Buffer {
    /// The text, its ASCII lower-cased.
    lower: String,
    normal: String,
}

/// Calls `shingle` with the hash of each shingle of the text, in order.
pub fn each(text: &str, buffer: &mut Buffer, shingle: impl FnMut(u64)) {
    let mut shingles = Shingles { before: [0; 2], words: 0, shingle };
    each_word(text, buffer, |word| shingles.word(word));
    shingles.finish();
}

#[inline(always)]
pub fn each_word(text: &str, buffer: &mut Buffer, mut word: impl FnMut(u64)) {
    let Buffer { lower, normal } = buffer;
    lower.clear();
    lower.push_str(text);
    lower.make_ascii_lowercase();
    let mut normal = Some(normal);
    if may_have_sigma(text) {
        // Its lower case depends on its neighbours, as they are shown: the whole text is normalised here, and not again.
        normal = None;
        *lower = text.chars().filter_map(shown).nfkc().collect::<String>().to_lowercase();
    }
    stretches::each(lower.as_bytes(), may_be_in_word, |start, end| {
        match xxh3_of_ascii(lower.as_bytes(), start, end) {
            Some(hash) => word(hash),
            None => {
                let as_it_came = normal.as_deref_mut().map(|normal| (&text[start..end], normal));
                each_of_stretch(&lower[start..end], as_it_came, &mut word);
            }
        }
    });
}

/// Whether the normal form of a text has a capital sigma; or may have one, as with some mathematical letters.
fn may_have_sigma(text: &str) -> bool {
    text.contains('Σ') || text.contains('Ϲ') || memmem::find(text.as_bytes(), b"\xf0\x9d").is_some()
}

/// The hash of a shingle of one, two or three words, by the hashes of these.
pub fn of_words(words: &[u64]) -> u64 {
    match *words {
        [word] => combined([1, 0, word]),
        [first, second] => combined([2, first, second]),
        [first, second, third] => combined([first, second, third]),
        _ => unreachable!("a shingle has at most three words"),
    }
}

/// Whether this byte of a lower-case text may be part of a word. Between all others words end.
#[inline(always)]
fn may_be_in_word(byte: u8) -> bool {
    let in_range = |first: u8, last: u8| byte.wrapping_sub(first) <= last - first;
    in_range(b'a', b'z') | in_range(b'0', b'9') | !byte.is_ascii()
}

/// Takes the words of a stretch that is not all ASCII, or long, or at the end of the text. Given how it was before its ASCII was
/// lower-cased, and a buffer, what is not normal is normalised.
fn each_of_stretch(
    stretch: &str,
    mut as_it_came: Option<(&str, &mut String)>,
    word: &mut impl FnMut(u64),
) {
    if stretch.is_ascii() && as_it_came.is_some() {
        return word(key(stretch));
    }
    let bytes = stretch.as_bytes();
    let mut at = 0;
    // Where the word at hand starts, and with what.
    let (mut start, mut first) = (0, Class::Gap);
    while at < bytes.len() {
        // U+4000 to U+9FFF, before another one, full-width punctuation or the end, none of which is a mark.
        if let [0xe4..=0xe9, _, _, rest @ ..] = &bytes[at..]
            && matches!(
                rest,
                [] | [0xe4..=0xe9, ..] | [0xef, 0xbc, ..] | [0xe3, 0x80, 0x80..=0xa0, ..]
            )
        {
            end(first, &stretch[start..at], word);
            first = Class::Gap;
            word(key(&stretch[at..at + 3]));
            at += 3;
            continue;
        }
        let Some(c) = stretch[at..].chars().next() else { break };
        let character = Character::of(c);
        if let Some((as_it_came, normal)) = &mut as_it_came
            && !character.is_settled
        {
            let start = if first == Class::Gap { at } else { start };
            let gap = stretch[at..].find(|c| Character::of(c).is_gap());
            at = gap.map_or(stretch.len(), |gap| at + gap);
            normal.clear();
            let part = &as_it_came[start..at];
            if part.chars().all(|c| Character::of(c).is_normal) {
                normal.extend(part.chars().flat_map(char::to_lowercase));
            } else {
                normal.extend(part.chars().filter_map(shown).nfkc().flat_map(char::to_lowercase));
            }
            each_of_stretch(normal, None, word);
            first = Class::Gap;
            continue;
        }
        if !first.is_joined_by(character.class) {
            end(first, &stretch[start..at], word);
            (start, first) = (at, character.class.at_start(c));
        }
        at += c.len_utf8();
    }
    end(first, &stretch[start..], word);
}

#[inline(always)]
fn end(first: Class, found: &str, word: &mut impl FnMut(u64)) {
    if first.begins_word() {
        word(key(found));
    }
}

/// Calls `word` as [`each_word`], and `place` with where each of these words stands, as [`each_place`]. What is not ASCII is gone through twice.
pub fn each_word_and_place(
    text: &str,
    buffer: &mut Buffer,
    mut word: impl FnMut(u64),
    mut place: impl FnMut(Range<usize>),
) {
    if may_have_sigma(text) {
        each_word(text, buffer, word);
        return each_place(text, place);
    }
    let Buffer { lower, normal } = buffer;
    lower.clear();
    lower.push_str(text);
    lower.make_ascii_lowercase();
    stretches::each(lower.as_bytes(), may_be_in_word, |start, end| {
        if let Some(hash) = xxh3_of_ascii(lower.as_bytes(), start, end) {
            word(hash);
            return place(start..end);
        }
        each_of_stretch(&lower[start..end], Some((&text[start..end], normal)), &mut word);
        // Marks at its start belong to the gap before it.
        let start = start.saturating_sub(1);
        each_place(&text[start..end], |it| place(start + it.start..start + it.end));
    });
}

/// Calls `word` with where each word of a text stands in it, in bytes. A character belongs to a word with the marks that follow it, and with
/// what shows nothing.
pub fn each_place(text: &str, mut word: impl FnMut(Range<usize>)) {
    let mut first = Class::Gap;
    // The word at hand.
    let mut place = 0..0;
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at + c.len_utf8()..];
        let joined = rest.find(|c| !Character::of(c).follows).unwrap_or(rest.len());
        let end = at + c.len_utf8() + joined;
        let mut take = |c: char, class: Class| {
            if first.is_joined_by(class) {
                place.end = end;
                return;
            }
            if first.begins_word() {
                word(place.clone());
            }
            (first, place) = (class.at_start(c), at..end);
        };
        match Character::of(c.to_ascii_lowercase()) {
            Character { class, is_settled: true, .. } if joined == 0 => take(c, class),
            _ => {
                let shown = text[at..end].chars().filter_map(shown).nfkc();
                shown.flat_map(char::to_lowercase).for_each(|c| take(c, Character::of(c).class));
            }
        }
        at = end;
    }
    if first.begins_word() {
        word(place);
    }
}

struct Shingles<F> {
    before: [u64; 2],
    words: u64,
    shingle: F,
}

impl<F: FnMut(u64)> Shingles<F> {
    #[inline(always)]
    fn word(&mut self, word: u64) {
        self.words += 1;
        let [first, second] = self.before;
        self.before = [second, word];
        if self.words > 2 {
            (self.shingle)(combined([first, second, word]));
        }
    }

    fn finish(&mut self) {
        if (1..3).contains(&self.words) {
            (self.shingle)(of_words(&self.before[2 - self.words as usize..]));
        }
    }
}

/// A hash of three hashes in their order, with 64 good bits.
#[inline]
fn combined(words: [u64; 3]) -> u64 {
    const ODD: [u64; 3] = [0x9e37_79b9_7f4a_7c15, 0xc2b2_ae3d_27d4_eb4f, 0x1656_67b1_9e37_79f9];
    let [first, second, third] = words;
    let two = folded(first ^ ODD[0], second.rotate_left(23) ^ ODD[1]);
    folded(two ^ third ^ ODD[2], ODD[0]) ^ third.rotate_left(41)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;
    use unicode_normalization::UnicodeNormalization;
    use unicode_properties::{GeneralCategoryGroup as Group, UnicodeGeneralCategory};
    use xxhash_rust::xxh3::xxh3_64;

    use super::*;
    use crate::features::characters::shown;

    fn words(text: &str) -> Vec<String> {
        let text: String = text.chars().filter_map(shown).nfkc().collect();
        let mut words: Vec<String> = Vec::new();
        // Whether a word is open, and whether letters may join it.
        let (mut is_open, mut takes_letters) = (false, false);
        for c in text.to_lowercase().chars() {
            let group = c.general_category_group();
            let is_thai_or_lao = ('\u{e00}'..'\u{f00}').contains(&c);
            let is_a_mark = group == Group::Mark;
            let is_mark = is_a_mark && c < '\u{10000}' && !is_thai_or_lao;
            let is_alone = is_thai_or_lao
                || ('\u{3040}'..'\u{3100}').contains(&c)
                || ('\u{3400}'..'\u{a000}').contains(&c)
                || ('\u{20000}'..'\u{40000}').contains(&c);
            let is_letter = matches!(group, Group::Letter | Group::Number) && !is_alone;
            if is_open && (is_mark || takes_letters && is_letter) {
                words.last_mut().unwrap().push(c);
                continue;
            }
            (is_open, takes_letters) = (is_alone || is_letter, is_letter);
            if is_open {
                words.push(c.to_string());
            }
        }
        words
    }

    fn hashes(text: &str) -> Vec<u64> {
        let mut hashes = Vec::new();
        each(text, &mut Buffer::default(), |shingle| hashes.push(shingle));
        hashes
    }

    #[test]
    fn words_stand_where_their_characters_do() {
        let text = "Prix: ½ cafe\u{301}s,\u{200b}x か\u{3099} 北京 ﬁn";
        let mut found = Vec::new();
        each_place(text, |place| found.push(&text[place]));
        let expected = ["Prix", "½", "½", "cafe\u{301}s", "x", "か\u{3099}", "北", "京", "ﬁn"];
        assert_eq!(found, expected);
    }

    #[test]
    fn words_are_cut_as_they_are_defined() {
        let cases = [
            ("It's 3.14: 用iPhone手机 สวัส", "it s 3 14 用 iphone 手 机 ส ว ั ส"),
            ("हिन्दी தமிழ் לְשָׁלוֹם مُحَمَّد", "हिन्दी தமிழ் לְשָׁלוֹם مُحَمَّد"),
            ("Cafe\u{301} ＡＢ１ ﬁn ½ か\u{3099}", "café ab1 fin 1 2 が"),
            (
                "co\u{ad}op a\u{200b}b\u{feff}c \u{200f}می\u{200c}روم 👩\u{200d}👩 葛\u{e0100}城",
                "coop a bc میروم 葛 城",
            ),
            ("0\u{300}\u{16ff0} \u{11382}\u{113c9}", "0 \u{11383}"),
            (
                "ΟΔΟϹ Α.𝜮.Β İ \u{301}x a\u{3099} \u{3099}",
                "οδος α σ β i\u{307} x a\u{3099} \u{3099}",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(words(text).join(" "), expected);
            assert_eq!(hashes(text), hashes(expected));
        }
        // The lower case of a normal text need not be normal.
        for (text, word) in [("Σİ\u{59a}", "σi\u{307}\u{59a}"), ("T\u{308}", "t\u{308}")] {
            assert_eq!(hashes(text), [combined([1, 0, xxh3_64(word.as_bytes())])]);
        }
    }

    proptest! {
        #[test]
        fn shingles_are_equal_where_their_words_are(
            text in "([ -~]|[ab1_ ]|[一-三䷀ぁ-ぅกิ] ?|[éßİΣKÅ٣Ⅷ²，。]|[\u{d0}-\u{2ff}Ѐ-ԯ가-힣]|[a-zäöüß]{1,20}\
                |[अ-हऀ-ः\u{93a}-\u{94f}]|[ஂ-\u{bcd}]|[א-ת\u{591}-\u{5c7}]|[\u{621}-\u{65f}]|[a\u{300}-\u{36f}]|[\u{1100}-\u{1112}\u{1161}-\u{1175}\u{11a8}-\u{11c2}]\
                |[！-ﾟ\u{3099}\u{309a}ﬀ-ﬆ①㈠㍿½´]|[\u{ad}\u{200b}-\u{200f}\u{2060}\u{feff}\u{fe0f}\u{e0100}]|[😀👩]|\\PC){0,40}",
        ) {
            let words = words(&text);
            let shingles: Vec<&[String]> = match words.len() {
                0 => Vec::new(),
                1 | 2 => vec![&words[..]],
                _ => words.windows(3).collect(),
            };
            let found = hashes(&text);
            let [mut places, mut same] = [Vec::new(), Vec::new()];
            each_place(&text, |place| places.push(place));
            prop_assert_eq!(places.len(), words.len());
            let [mut alone, mut with_places] = [Vec::new(), Vec::new()];
            each_word(&text, &mut Buffer::default(), |word| alone.push(word));
            let place = |place| same.push(place);
            each_word_and_place(&text, &mut Buffer::default(), |word| with_places.push(word), place);
            prop_assert_eq!((same, with_places), (places, alone));
            let word = |shingle: &[String], at: usize| shingle.get(at).map(|it| xxh3_64(it.as_bytes()));
            let expected = shingles.iter().map(|shingle| match shingle {
                [_] => combined([1, 0, word(shingle, 0).unwrap()]),
                [_, _] => combined([2, word(shingle, 0).unwrap(), word(shingle, 1).unwrap()]),
                _ => combined([0, 1, 2].map(|at| word(shingle, at).unwrap())),
            });
            prop_assert_eq!(&found, &expected.collect::<Vec<_>>());
            let distinct: BTreeSet<_> = shingles.iter().collect();
            let by_shingle: BTreeMap<_, u64> = shingles.iter().zip(found.iter().copied()).collect();
            prop_assert_eq!(by_shingle.values().collect::<BTreeSet<_>>().len(), distinct.len());
            prop_assert!(shingles.iter().zip(&found).all(|(shingle, hash)| by_shingle[shingle] == *hash));
        }
    }
}
