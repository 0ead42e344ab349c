//! The class of a page: which route its text took to a fingerprint. Pages of two classes match by their sketches alone.

use serde::{Deserialize, Serialize};

use crate::features::words;

#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// All its features made the fingerprint.
    #[default]
    Full = 0,
    /// Its features were too few: its keywords alone made the fingerprint.
    Short = 1,
}

impl Class {
    /// The class of `text`, where those of fewer than so many [plain words](words::each_plain) are short. A text mostly
    /// without spaces never is: its words are not told apart, and its rarest letters say nothing of it.
    pub fn of(text: &str, short_words: usize) -> Class {
        let is_full = words::has_plain(text, short_words) || words::is_mostly_unspaced(text);
        if is_full { Class::Full } else { Class::Short }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_words_are_short_unless_no_spaces_tell_them() {
        let short = "|a title|人工智能会改变世界吗？|日本の政治と経済|ราคา iPhone 17 Pro Max";
        assert!(short.split('|').all(|text| Class::of(text, 100) == Class::Short));
        let full = ["สวัสดีชาวโลก", "ありがとうございます", "ສະບາຍດີ", &"word ".repeat(100)];
        assert!(full.iter().all(|text| Class::of(text, 100) == Class::Full));
    }
}
