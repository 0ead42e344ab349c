//! The normal form of a text, from which features are taken: markup, dates, compatibility forms, case,
//! digits and white space are made alike, in this order.
//!
//! ```
//! use dupsieve::features::normalise::{Case, Dates, Digits, Markup, Normalise, WhiteSpace};
//!
//! let normalise = Normalise {
//!     nfkc: true,
//!     case: Case::Fold,
//!     digits: Digits::Zero,
//!     white_space: WhiteSpace::Collapse,
//!     markup: Markup::Drop,
//!     dates: Dates::Keep,
//! };
//! let mut normal = String::new();
//! normalise.apply("<b>ＡＢＣ</b>  costs 10 or 9", &mut normal);
//! assert_eq!(normal, "abc costs 0 or 0");
//! ```

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;

use crate::features::{dates, markup};

/// Which differences between texts are removed before features are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Normalise {
    /// Unicode normalization form KC: full-width letters, ligatures and the like become plain.
    pub nfkc: bool,
    /// Upper and lower case.
    pub case: Case,
    /// Runs of the ASCII digits (with `nfkc`, full-width digits are ASCII by now).
    pub digits: Digits,
    /// Runs of characters with the Unicode property White_Space.
    pub white_space: WhiteSpace,
    /// Left-overs of markup.
    #[serde(default, skip_serializing_if = "Markup::is_kept")]
    pub markup: Markup,
    /// [Dates](crate::features::dates).
    #[serde(default, skip_serializing_if = "Dates::are_kept")]
    pub dates: Dates,
}

/// What becomes of the left-overs of markup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Markup {
    /// They stay.
    #[default]
    Keep,
    /// They are removed, before anything else is done.
    Drop,
}

impl Markup {
    fn is_kept(&self) -> bool {
        *self == Markup::Keep
    }
}

/// What becomes of dates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dates {
    /// They stay.
    #[default]
    Keep,
    /// They are removed, after markup and before anything else.
    Drop,
}

impl Dates {
    fn are_kept(&self) -> bool {
        *self == Dates::Keep
    }
}

/// What becomes of upper case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Case {
    /// Each character becomes its Unicode lower-case mapping, whatever its neighbours.
    Fold,
    /// Stays.
    Keep,
}

/// What becomes of digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Digits {
    /// Stay.
    Keep,
    /// Each run becomes one `0`, so that 9 and 10 are alike.
    Zero,
    /// They are removed.
    Drop,
}

/// What becomes of white space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhiteSpace {
    /// Each run becomes one space, and none at either end of the text.
    Collapse,
    /// Stays.
    Keep,
}

impl Normalise {
    /// Replaces what `out` holds by the normalised `text`.
    pub fn apply(&self, text: &str, out: &mut String) {
        match (self.markup, self.dates) {
            (Markup::Keep, Dates::Keep) => self.fold(text, out),
            (Markup::Drop, Dates::Keep) => self.fold(&markup::without(text), out),
            (Markup::Keep, Dates::Drop) => self.fold(&dates::without(text), out),
            (Markup::Drop, Dates::Drop) => self.fold(&dates::without(&markup::without(text)), out),
        }
    }

    fn fold(&self, text: &str, out: &mut String) {
        out.clear();
        let untouched = &UNTOUCHED[usize::from(self.digits == Digits::Keep)];
        let mut folded = Folded { parts: *self, untouched, out, in_digits: false };
        let mut rest = text;
        while !rest.is_empty() {
            rest = folded.copy(rest);
            rest = folded.convert(rest);
        }
        if self.white_space == WhiteSpace::Collapse && out.ends_with(' ') {
            out.pop();
        }
    }
}

/// By first byte: the length of a character that stays as it is everywhere, except for the case of ASCII,
/// unless a combining mark follows it. 0 if that needs a closer look.
type Untouched = [u8; 256];

/// By whether digits are kept.
static UNTOUCHED: [Untouched; 2] = [untouched(false), untouched(true)];

const fn untouched(digits: bool) -> Untouched {
    let mut lengths = [0; 256];
    let mut byte = 0;
    while byte < lengths.len() {
        lengths[byte] = match byte as u8 {
            b'0'..=b'9' => digits as u8,
            b'!'..=b'~' => 1,
            0xe4..=0xe9 => 3, // U+4000 to U+9FFF
            _ => 0,
        };
        byte += 1;
    }
    lengths
}

/// A text being written, its case, digits and white space folded as it grows.
struct Folded<'a> {
    parts: Normalise,
    untouched: &'static Untouched,
    out: &'a mut String,
    in_digits: bool,
}

impl Folded<'_> {
    /// Copies what stays as it is at the start of `text`, and returns the rest.
    fn copy<'t>(&mut self, text: &'t str) -> &'t str {
        let bytes = text.as_bytes();
        let untouched = self.untouched;
        let mut last = 0;
        let mut end = 0;
        while let Some(&byte) = bytes.get(end) {
            let mut length = usize::from(untouched[usize::from(byte)]);
            if byte == b' ' && (end > 0 || self.takes_space()) {
                let next = bytes.get(end + 1).map_or(0, |&next| untouched[usize::from(next)]);
                length = usize::from(next > 0);
            }
            if length == 0 {
                break;
            }
            last = end;
            end += length;
        }
        if self.parts.nfkc && text[end..].chars().next().is_some_and(|next| !is_plain(next)) {
            end = last;
        }
        self.in_digits &= end == 0;
        let copied = self.out.len();
        self.out.push_str(&text[..end]);
        if self.parts.case == Case::Fold {
            self.out[copied..].make_ascii_lowercase();
        }
        &text[end..]
    }

    /// Converts the first character of `text`, with all that form KC may join to it, and returns
    /// the rest.
    fn convert<'t>(&mut self, text: &'t str) -> &'t str {
        let mut chars = text.char_indices();
        let Some((_, first)) = chars.next() else { return text };
        if !self.parts.nfkc {
            self.push(first);
            return chars.as_str();
        }
        let end = chars.find(|&(_, c)| is_plain(c)).map_or(text.len(), |(at, _)| at);
        let (joined, rest) = text.split_at(end);
        if joined.len() == first.len_utf8() && is_plain(first) {
            self.push(narrow(first));
        } else {
            joined.nfkc().for_each(|c| self.push(c));
        }
        rest
    }

    fn push(&mut self, c: char) {
        if c.is_ascii_digit() {
            return self.push_digit(c);
        }
        self.in_digits = false;
        match c {
            _ if c.is_whitespace() => self.push_white_space(c),
            _ if self.parts.case == Case::Keep || is_caseless(c) => self.out.push(c),
            _ if c.is_ascii() => self.out.push(c.to_ascii_lowercase()),
            _ => self.out.extend(c.to_lowercase()),
        }
    }

    fn push_digit(&mut self, digit: char) {
        let again = std::mem::replace(&mut self.in_digits, true);
        match self.parts.digits {
            Digits::Keep => self.out.push(digit),
            Digits::Zero if !again => self.out.push('0'),
            Digits::Zero | Digits::Drop => {}
        }
    }

    fn push_white_space(&mut self, c: char) {
        match self.parts.white_space {
            WhiteSpace::Keep => self.out.push(c),
            WhiteSpace::Collapse if self.takes_space() => self.out.push(' '),
            WhiteSpace::Collapse => {}
        }
    }

    /// Whether a space would be the first of its run, with text before it.
    fn takes_space(&self) -> bool {
        !self.out.is_empty() && !self.out.ends_with(' ')
    }
}

/// Whether form KC is [`narrow`] for this character, unless a combining mark follows it; a plain
/// character never joins the one before it.
fn is_plain(c: char) -> bool {
    c.is_ascii()
        || matches!(c, '\u{3400}'..='\u{9fff}' | '\u{3000}'..='\u{3003}' | '\u{3008}'..='\u{3011}')
        || matches!(c, '\u{ff01}'..='\u{ff5e}' | '\u{2013}'..='\u{2014}' | '\u{2018}'..='\u{201e}')
}

/// Whether `c` is of the scripts and punctuation of East Asia, which have no case.
fn is_caseless(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{a63f}')
}

/// The ASCII character of a full-width one, the space of an ideographic space.
fn narrow(c: char) -> char {
    match c {
        '\u{3000}' => ' ',
        '\u{ff01}'..='\u{ff5e}' => char::from((c as u32 - 0xff01) as u8 + b'!'),
        _ => c,
    }
}

#[cfg(test)]
mod tests;
