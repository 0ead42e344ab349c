//! The weight of one occurrence of a feature, whatever else is in its text.

use crate::features::ONE;
use crate::features::counts::Counts;
use crate::features::speech::Speech;
use crate::features::tfidf::Idf;
use crate::features::words::is_han;

/// The longest short word that is ASCII.
const SHORT_BYTES: usize = 3;

#[derive(Debug)]
pub(crate) enum Weigher {
    Even,
    Jieba(&'static Idf),
    /// Inverse document frequency by a table of `dupsieve weights`.
    Counted(Counts),
    Speech(Box<Speech>),
}

impl Weigher {
    #[inline]
    pub(crate) fn of(&mut self, feature: &str) -> i64 {
        match self {
            Weigher::Even => ONE,
            Weigher::Jieba(idf) => idf.of(feature),
            Weigher::Counted(counts) => counts.idf(feature),
            Weigher::Speech(speech) => speech.of(feature),
        }
    }
}

/// Whether `word` is one Han character, or has at most three characters, all of them ASCII.
#[inline]
pub(crate) fn is_short(word: &str) -> bool {
    match word.len() {
        0..=SHORT_BYTES if word.is_ascii() => true,
        3 | 4 => {
            let mut chars = word.chars();
            chars.next().is_some_and(is_han) && chars.next().is_none()
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_words_are_one_ideograph_or_three_letters() {
        assert!(["a", "the", "的", "𠮷", "c"].into_iter().all(is_short));
        assert!(!["that", "他们", "été", "é", "в", "的a", "ひ"].into_iter().any(is_short));
    }
}
