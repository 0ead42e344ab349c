//! The inverse document frequency (idf) of words, from the table that comes with jieba.
//!
//! A word that the table does not hold has the median of the table. All words of the table have a character of
//! Han, so a word without one has the median.
//!
//! `idf.py` makes the table, `idf.bin`, of that of jieba-rs (MIT), and says what it holds: the words by their hashes. The table is
//! looked up where it lies in the program, since to load jieba's own takes as long as the fingerprints of thousands of pages.

use std::sync::LazyLock;

use crate::features::ONE;
use crate::features::by_hash::key;
use crate::features::words::is_han;

static TABLE: &[u8] = include_bytes!("tfidf/idf.bin");

const LONGEST_WORD: usize = 48;

const FIRST_BITS: u32 = 16;

/// The last bits of a word in the table: which idf it has.
const NUMBER_BITS: u32 = 16;

/// The median of the table, in fixed point: the answer for a word that it does not hold.
const MEDIAN: i64 = (11.954_767_502_9 * ONE as f64).round() as i64;

#[derive(Debug)]
pub(crate) struct Idf {
    idfs: Vec<i64>,
    /// Where the words begin whose hashes have each of the first bits, and where the last ones end.
    starts: Vec<u32>,
    /// The bits of each hash that follow, and the number of its idf.
    words: &'static [[u8; 8]],
}

impl Idf {
    pub(crate) fn shared() -> &'static Idf {
        static SHARED: LazyLock<Idf> = LazyLock::new(|| Idf::read(TABLE));
        &SHARED
    }

    #[inline]
    pub(crate) fn of(&self, word: &str) -> i64 {
        if word.len() > LONGEST_WORD || !word.contains(is_han) {
            return MEDIAN;
        }
        self.of_hash(key(word)).unwrap_or(MEDIAN)
    }

    fn read(bytes: &'static [u8]) -> Idf {
        let (count, rest) = bytes.split_first_chunk().expect("a number of idfs");
        let (idfs, rest) = rest.split_at(8 * u32::from_le_bytes(*count) as usize);
        let (counts, words) = rest.split_at(1 << FIRST_BITS);
        let fixed = |idf: &[u8; 8]| (f64::from_le_bytes(*idf) * ONE as f64).round() as i64;
        let idfs = idfs.as_chunks().0.iter().map(fixed).collect();
        let ends = counts.iter().scan(0, |end, &count| {
            *end += u32::from(count);
            Some(*end)
        });
        let starts = std::iter::once(0).chain(ends).collect();
        Idf { idfs, starts, words: words.as_chunks().0 }
    }

    fn of_hash(&self, hash: u64) -> Option<i64> {
        let first = (hash >> (u64::BITS - FIRST_BITS)) as usize;
        let words = &self.words[self.starts[first] as usize..self.starts[first + 1] as usize];
        let words = words.iter().map(|word| u64::from_le_bytes(*word));
        let wanted = hash << FIRST_BITS;
        let word = words.into_iter().find(|word| (word ^ wanted) >> NUMBER_BITS == 0)?;
        Some(self.idfs[(word & ((1 << NUMBER_BITS) - 1)) as usize])
    }
}

#[cfg(test)]
mod tests {
    use jieba_rs::{Jieba, KeywordExtract, KeywordExtractConfig, TfIdf};

    use super::*;

    /// Asks jieba's table for one word: the definition. The table only answers with the keywords of a text. For a text of one word,
    /// the weight of its only keyword is the idf of that word.
    struct Asker {
        table: TfIdf,
        /// Knows the words that were asked for. They occur never, but for the word at hand, which is never cut.
        jieba: Jieba,
    }

    impl Asker {
        fn new() -> Asker {
            let mut table = TfIdf::default();
            *table.config_mut() = KeywordExtractConfig::builder()
                .min_keyword_length(0)
                .set_stop_words(Default::default())
                .build();
            Asker { table, jieba: Jieba::empty() }
        }

        fn ask(&mut self, word: &str) -> i64 {
            self.jieba.add_word(word, Some(1), None);
            let keywords = self.table.extract_keywords(&self.jieba, word, 1, Vec::new());
            self.jieba.add_word(word, Some(0), None);
            match keywords.first() {
                Some(keyword) if keyword.keyword == word => {
                    (keyword.weight * ONE as f64).round() as i64
                }
                _ => MEDIAN,
            }
        }

        /// The words of the table, which shows them when it is printed for debugging, and in no other way.
        fn words(&self) -> Vec<String> {
            let shown = format!("{:?}", self.table);
            let words = shown.split_once("idf_dict: {").unwrap().1.split_once('}').unwrap().0;
            words.split('"').skip(1).step_by(2).map(str::to_owned).collect()
        }
    }

    #[test]
    fn words_have_the_answers_of_jieba() {
        let mut asker = Asker::new();
        let words = asker.words();
        let idf = Idf::shared();
        assert_eq!((words.len(), idf.words.len()), (270_132, 270_132));
        assert!(words.iter().all(|word| word.contains(is_han) && word.len() <= LONGEST_WORD));
        // Words that are not in the table, most of them.
        let cut = words.iter().step_by(7).map(|word| word.chars().skip(1).collect());
        let joined = words.array_windows().step_by(7).map(|[one, two]| format!("{two}{one}"));
        let others = "的|是不了|在有他|a|The|3.14|don't|カタカナ|한국|привет|naïve|, ".split('|');
        let others = cut.chain(joined).chain(others.map(str::to_owned));
        for word in words.iter().cloned().chain(others.filter(|word| !word.is_empty())) {
            assert_eq!(idf.of(&word), asker.ask(&word), "{word}");
        }
    }
}
