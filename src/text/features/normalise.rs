//! The normal form of a text, from which features are taken: markup, compatibility forms, case,
//! digits and white space are made alike, in this order.

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;

use crate::features::characters::{Character, shown};
use crate::features::markup;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Normalise {
    /// Unicode normalization form KC: full-width letters, ligatures and the like become plain. Characters that show
    /// nothing, such as soft hyphens, are left out, and a zero-width space is a space.
    pub nfkc: bool,
    pub case: Case,
    /// Runs of the ASCII digits (with `nfkc`, full-width digits are ASCII by now).
    pub digits: Digits,
    /// Runs of characters with the Unicode property White_Space.
    pub white_space: WhiteSpace,
    #[serde(default, skip_serializing_if = "Markup::is_kept")]
    pub markup: Markup,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Markup {
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Case {
    Fold,
    Keep,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Digits {
    Keep,
    /// Each run becomes one `0`, so that 9 and 10 are alike.
    Zero,
    Drop,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhiteSpace {
    /// Each run becomes one space, and none at either end of the text.
    Collapse,
    Keep,
}

impl Normalise {
    #[cfg(test)]
    pub(crate) const NOTHING: Normalise = Normalise {
        nfkc: false,
        case: Case::Keep,
        digits: Digits::Keep,
        white_space: WhiteSpace::Keep,
        markup: Markup::Keep,
    };

    /// Replaces what `out` holds by the normalised `text`.
    pub fn apply(&self, text: &str, out: &mut String) {
        match self.markup {
            Markup::Keep => self.fold(text, out),
            Markup::Drop => self.fold(&markup::without(text), out),
        }
    }

    /// The same, but nothing that is shown is left out.
    pub(crate) fn of_whole_text(self) -> Normalise {
        let digits = if self.digits == Digits::Drop { Digits::Keep } else { self.digits };
        Normalise { digits, markup: Markup::Keep, ..self }
    }

    fn fold(&self, text: &str, out: &mut String) {
        out.clear();
        let mut folded = Folded { parts: *self, out, in_digits: false };
        let mut rest = text;
        while !rest.is_empty() {
            rest = folded.copy(rest);
            rest = folded.convert(rest);
        }
        if self.case == Case::Fold {
            // What was copied; other characters were folded one by one.
            out.make_ascii_lowercase();
        }
        if self.white_space == WhiteSpace::Collapse && out.ends_with(' ') {
            out.pop();
        }
    }
}

const TOGETHER: usize = 16;

/// Whether this is a byte of a character that stays as it is everywhere, except for the case of ASCII, unless
/// a combining mark follows it. A space is one between two such characters.
#[inline(always)]
fn is_untouched(byte: u8, digits: bool) -> bool {
    let in_range = |first: u8, last: u8| byte.wrapping_sub(first) <= last - first;
    (in_range(b' ', b'~') & (digits | !in_range(b'0', b'9')))
        | in_range(0xe4, 0xe9) // the first byte of U+4000 to U+9FFF
        | in_range(0x80, 0xbf) // a later byte, whose first one was looked at before
}

/// Whether a copy stops at this byte before the `next` one: of several spaces only one may stay.
#[inline(always)]
fn stops(byte: u8, next: u8, digits: bool) -> bool {
    !is_untouched(byte, digits) | ((byte == b' ') & (next == b' '))
}

/// At which of the bytes before the last a copy stops, or how many there are. By itself this function becomes
/// code for vectors, and within another it does not.
#[inline(never)]
fn first_stop(window: &[u8; TOGETHER + 1], digits: bool) -> usize {
    let mut stop_at = [0; TOGETHER];
    for (stop, (&byte, &next)) in stop_at.iter_mut().zip(window.iter().zip(&window[1..])) {
        *stop = u8::from(stops(byte, next, digits));
    }
    u128::from_le_bytes(stop_at).trailing_zeros() as usize / 8
}

/// The length in bytes of what stays as it is at the start of a text that begins with no space.
fn untouched(bytes: &[u8], digits: bool) -> usize {
    let mut end = 0;
    let mut stop = TOGETHER;
    while stop == TOGETHER
        && let Some(window) = bytes[end..].first_chunk()
    {
        stop = first_stop(window, digits);
        end += stop;
    }
    if stop == TOGETHER {
        let rest = &bytes[end..];
        let pairs = rest.iter().zip(rest.iter().skip(1).chain(b" "));
        end += pairs.take_while(|&(&byte, &next)| !stops(byte, next, digits)).count();
    }
    end - usize::from(bytes[..end].ends_with(b" "))
}

/// A text being written, its digits and white space folded as it grows, and the case of what is not ASCII.
struct Folded<'a> {
    parts: Normalise,
    out: &'a mut String,
    in_digits: bool,
}

impl Folded<'_> {
    /// Copies what stays as it is at the start of `text`, and returns the rest.
    fn copy<'t>(&mut self, text: &'t str) -> &'t str {
        let mut end = 0;
        let mut goes_on = !text.starts_with(' ') || self.takes_space();
        while goes_on {
            end += untouched(&text.as_bytes()[end..], self.parts.digits == Digits::Keep);
            let others = text[end..].chars().take_while(|&c| !c.is_ascii() && stays(c));
            let others: usize = others.map(char::len_utf8).sum();
            end += others;
            goes_on = others > 0;
        }
        if self.parts.nfkc && text[end..].chars().next().is_some_and(|next| !is_plain(next)) {
            end = text.floor_char_boundary(end.saturating_sub(1));
        }
        self.in_digits &= end == 0;
        self.out.push_str(&text[..end]);
        &text[end..]
    }

    /// Converts the first character, with all that form KC may join to it, and returns the rest.
    fn convert<'t>(&mut self, text: &'t str) -> &'t str {
        let mut chars = text.chars();
        let Some(first) = chars.next() else { return text };
        let rest = chars.as_str();
        if !self.parts.nfkc {
            self.push(first);
            return rest;
        }
        if is_plain(first) && chars.next().is_none_or(is_plain) {
            self.push(narrow(first));
            return rest;
        }
        let (joined, rest) =
            text.split_at(text.len() - rest.trim_start_matches(|c| !is_plain(c)).len());
        joined.chars().filter_map(shown).nfkc().for_each(|c| self.push(c));
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

/// Whether no part changes this character, unless a combining mark follows it.
#[inline(always)]
fn stays(c: char) -> bool {
    let character = Character::of(c);
    character.is_normal && character.is_settled && !c.is_whitespace()
}

/// Whether form KC is [`narrow`] for this character, unless a mark follows it, and it joins none before it.
fn is_plain(c: char) -> bool {
    c.is_ascii() || Character::of(c).is_normal || narrow(c) != c
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
