//! What a character is among the words of a text.
//!
//! Characters that show nothing (soft hyphens, joiners, variation selectors, marks of direction, a byte order mark) are
//! left out: `inter\u{ad}national` is the word `international`.

use std::iter;
use std::sync::LazyLock;

use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Gap,
    Letter,
    /// A word by itself: Han, kana, Thai and Lao are written without spaces.
    Word,
    /// A part of the word before, if there is one: an accent, a vowel sign, a point.
    Mark,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Character {
    pub(super) class: Class,
    /// Whether it is shown, and form KC leaves it and what stands around it as they are.
    pub(super) is_normal: bool,
    /// Whether it is normal and its own lower case; or a gap before and after it is normalised.
    pub(super) is_settled: bool,
    /// Whether it is normalised together with the one before it, or shows nothing.
    pub(super) follows: bool,
}

impl Character {
    #[inline(always)]
    pub(super) fn of(c: char) -> Character {
        // A look into Unicode's own tables is a search.
        static BASIC: LazyLock<Vec<Character>> = LazyLock::new(|| {
            let all = (0..=0xffff).map(|c| char::from_u32(c).unwrap_or_default());
            all.map(Character::look_up).collect()
        });
        match BASIC.get(c as usize) {
            Some(character) => *character,
            None => Character::look_up(c),
        }
    }

    #[cold]
    fn look_up(c: char) -> Character {
        let class = Class::of(c);
        let is_normal = is_nfkc_quick(iter::once(c)) == IsNormalized::Yes
            && canonical_combining_class(c) == 0
            && shown(c) == Some(c);
        let mut normal = shown(c).into_iter().nfkc().peekable();
        let is_joined = normal.peek().is_none_or(|&first| {
            let is_normalised = is_nfkc_quick(iter::once(first));
            is_normalised == IsNormalized::Maybe || canonical_combining_class(first) != 0
        });
        let is_mark = c.general_category_group() == GeneralCategoryGroup::Mark;
        let is_settled = match class {
            // A mark that is a gap here may change places with another mark, or become a part of the letter before.
            Class::Gap => !is_joined && normal.all(|c| Class::of(c) == Class::Gap),
            _ => is_normal && c.to_lowercase().eq([c]),
        };
        Character { class, is_normal, is_settled, follows: is_joined || is_mark }
    }

    #[inline(always)]
    pub(super) fn is_gap(self) -> bool {
        self.is_settled && self.class == Class::Gap
    }
}

impl Class {
    /// Whether a character of this class that begins a word, or stands alone, is joined by one of the `next` class.
    #[inline(always)]
    pub(super) fn is_joined_by(self, next: Class) -> bool {
        match self {
            Class::Gap | Class::Mark => false,
            Class::Letter => matches!(next, Class::Letter | Class::Mark),
            Class::Word => next == Class::Mark,
        }
    }

    /// The class of `c` where no word is open: a mark of kana that marks nothing is kana.
    #[inline(always)]
    pub(super) fn at_start(self, c: char) -> Class {
        if matches!(c, '\u{3099}' | '\u{309a}') { Class::Word } else { self }
    }

    #[inline(always)]
    pub(super) fn begins_word(self) -> bool {
        matches!(self, Class::Letter | Class::Word)
    }

    fn of(c: char) -> Class {
        match c {
            '\u{3099}' | '\u{309a}' => return Class::Mark,
            '\u{0e00}'..='\u{0eff}'
            | '\u{3040}'..='\u{30ff}'
            | '\u{3400}'..='\u{9fff}'
            | '\u{20000}'..='\u{3ffff}' => return Class::Word,
            _ => {}
        }
        match c.general_category_group() {
            GeneralCategoryGroup::Letter | GeneralCategoryGroup::Number => Class::Letter,
            GeneralCategoryGroup::Mark if c <= '\u{ffff}' => Class::Mark,
            _ => Class::Gap,
        }
    }
}

/// What is shown of a character: nothing of a hidden one, and of a zero-width space a space.
pub(super) fn shown(c: char) -> Option<char> {
    match c {
        '\u{200b}' => Some(' '),
        '\u{00ad}' | '\u{034f}' | '\u{061c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}'
        | '\u{17b5}' => None,
        '\u{180b}'..='\u{180f}' | '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' => None,
        '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}'
        | '\u{ffa0}' => None,
        '\u{e0000}'..='\u{e0fff}' => None,
        _ => Some(c),
    }
}
