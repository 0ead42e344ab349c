//! The inverse document frequency (idf) of words, from the table that comes with jieba.
//!
//! The table cannot be read directly; it only answers with the keywords of a text. For a text of one word,
//! the weight of its only keyword is that word's idf, or the median of the table if it does not hold the
//! word. Answers are remembered, so each word is asked for once. All words of the table have a character of
//! Han, so a word without one has the median and need not be asked for.

use std::sync::OnceLock;

use jieba_rs::{Jieba, KeywordExtract, KeywordExtractConfig, TfIdf};

use crate::features::ONE;
use crate::features::by_hash::Memo;
use crate::features::words::is_han;

/// How many words an asker knows before it forgets them.
const MOST_WORDS: usize = 1 << 12;

/// The longest word of the table, in bytes. A longer one has the median, and is not asked for: asking
/// takes time that grows with the square of a word's length.
const LONGEST_WORD: usize = 48;

/// The median of the table, in fixed point: the answer for a word that it does not hold.
const MEDIAN: i64 = (11.954_767_502_9 * ONE as f64).round() as i64;

/// The idf of words; each worker has its own, over the one table.
#[derive(Debug)]
pub(crate) struct Idf {
    known: Memo,
    /// None before the first word is asked for, so that the table is not loaded for texts without Han.
    asker: Option<Asker>,
}

/// Asks the table for one word.
#[derive(Debug)]
struct Asker {
    /// Knows the word being asked for, so that it is never cut, and those asked for before as words that
    /// never occur: to forget them is a hundred times the work.
    jieba: Jieba,
    /// How many it knows.
    words: usize,
}

impl Default for Idf {
    fn default() -> Idf {
        Idf::new()
    }
}

impl Idf {
    /// The table of jieba, which is loaded once a process, at the first word of Han, and shared.
    pub(crate) fn new() -> Idf {
        Idf { known: Memo::default(), asker: None }
    }

    /// The idf of `word`, in fixed point.
    #[inline]
    pub(crate) fn of(&mut self, word: &str) -> i64 {
        let Idf { known, asker } = self;
        if word.len() > LONGEST_WORD || !word.contains(is_han) {
            return MEDIAN;
        }
        known.of(word, || asker.get_or_insert_with(Asker::new).ask(word))
    }
}

impl Asker {
    fn new() -> Asker {
        Asker { jieba: Jieba::empty(), words: 0 }
    }

    fn ask(&mut self, word: &str) -> i64 {
        if self.words == MOST_WORDS {
            self.jieba.clear();
            self.words = 0;
        }
        self.words += 1;
        self.jieba.add_word(word, Some(1), None);
        let keywords = table().extract_keywords(&self.jieba, word, 1, Vec::new());
        self.jieba.add_word(word, Some(0), None);
        match keywords.first() {
            Some(keyword) if keyword.keyword == word => {
                (keyword.weight * ONE as f64).round() as i64
            }
            _ => MEDIAN,
        }
    }
}

/// The table, asked for words of any length and for stop words too.
fn table() -> &'static TfIdf {
    static TABLE: OnceLock<TfIdf> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table = TfIdf::default();
        *table.config_mut() = KeywordExtractConfig::builder()
            .min_keyword_length(0)
            .set_stop_words(Default::default())
            .build();
        table
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::fixed;

    #[test]
    fn what_was_asked_before_changes_nothing() {
        let text: Vec<char> =
            "劳动防护用品是指由用人单位为劳动者配备的使其免受伤害".chars().collect();
        let words =
            |length: usize| text.windows(length).map(|word| word.iter().collect::<String>());
        let words: Vec<String> = (1..=6).chain([3, 1, 2]).flat_map(words).collect();
        let mut asker = Asker::new();
        for word in words.iter().cycle().take(2 * MOST_WORDS) {
            let answer = asker.ask(word);
            if asker.words.is_multiple_of(64) {
                assert_eq!(answer, Asker::new().ask(word), "{word}");
            }
        }
    }

    /// The table shows all its words when it is printed for debugging, and in no other way.
    #[test]
    fn no_word_of_the_table_is_without_han() {
        let shown = format!("{:?}", table());
        let words = shown.split_once("idf_dict: {").unwrap().1.split_once('}').unwrap().0;
        let words: Vec<&str> = words.split('"').skip(1).step_by(2).collect();
        assert!(words.len() > 200_000 && words.contains(&"劳动防护"));
        assert!(words.iter().all(|word| word.contains(is_han)));
    }

    proptest::proptest! {
        #[test]
        fn a_word_without_han_has_the_answer_of_the_table(word in "[^\\p{Han}]{1,12}|[a-zA-Z0-9.']{1,9}|[ぁ-ヶ가-힣а-яÀ-ÿ]{1,9}") {
            let mut idf = Idf::new();
            proptest::prop_assert_eq!(idf.of(&word), Asker::new().ask(&word));
        }
    }

    #[test]
    fn known_words_have_the_idf_of_the_table_and_others_its_median() {
        let mut idf = Idf::new();
        for _ in 0..2 {
            assert_eq!(idf.of("劳动防护"), fixed(13.900677652).unwrap());
            assert_eq!(idf.of("岗上"), fixed(11.5027823792).unwrap());
            let longest = "第九届全国人民代表大会常务委员会";
            assert_eq!(
                (longest.len(), idf.of(longest)),
                (LONGEST_WORD, fixed(13.2075304714).unwrap())
            );
            for unknown in ["xyzzy", "the", "naïve", "it's", "привет", "3.14", &"长".repeat(99)]
            {
                assert_eq!(idf.of(unknown), fixed(11.9547675029).unwrap(), "{unknown}");
            }
        }
    }
}
