//! The class of a page: which route its text took to a fingerprint. Pages of two classes never match.

use serde::{Deserialize, Serialize};

use crate::features::words;

/// A text of fewer plain words is short where the recipe `wide` and the check `page-overlap` take it: a title, a
/// post, a paragraph. In a text of a hundred words an edit of three moves five of 64 bits, and with fewer words
/// a SimHash soon loses it; `bench-data/runs/2026-11-22-short-texts.md` has the measurements.
pub(super) const SHORT_WORDS: usize = 100;

/// The route of a text.
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
    /// The class of `text`, where those of fewer than so many [plain words](words::each_plain) are short.
    pub fn of(text: &str, short_words: usize) -> Class {
        if words::has_plain(text, short_words) { Class::Full } else { Class::Short }
    }
}
