//! The words of a run of Han, the same as jieba cuts.
//!
//! Of all ways to cut a run into words of the dictionary, the best has the greatest product of their frequencies. It is found from
//! the end of the run to its beginning: at each character, each word that begins there is joined to the best way of what follows it.
//! (Jieba first lists these words for all characters.) The words of one and two characters, which are most, are looked up
//! before that, for all characters in turn: so no read of memory waits for another one, or for a guess at a branch. Where the best way leaves
//! single characters beside each other, jieba's hidden Markov model may join them. What it makes of a short row of characters is
//! remembered.

mod lexicon;

use jieba_rs::Jieba;

use lexicon::{Beginning, Lexicon, letter, letter_of};

/// How many rows of characters are remembered, a power of two.
const REMEMBERED: usize = 1 << 12;

/// The most characters of a row that is remembered.
const SHORT: usize = 4;

/// The bytes of most characters of Han.
const USUAL_BYTES: usize = 3;

/// Cuts runs of Han into words. It has buffers, so each worker needs its own.
#[derive(Clone, Debug, Default)]
pub(super) struct HanWords {
    model: Option<Model>,
    /// The characters of a row, and two times 0 behind them.
    letters: Vec<u16>,
    /// What the lexicon has of each character and the one behind it.
    beginnings: Vec<Beginning>,
    /// The score of the best way from each character, from the end, and from behind it.
    scores: Vec<f64>,
    /// The length of the word with which that way begins.
    lengths: Vec<u8>,
    /// Where each character starts, and where the last ends, if that is not told by its number.
    starts: Vec<usize>,
}

impl HanWords {
    /// With `hmm`, the hidden Markov model joins characters the dictionary does not.
    pub(super) fn new(hmm: bool) -> HanWords {
        HanWords { model: hmm.then(Model::new), ..HanWords::default() }
    }

    /// Calls `word` with the words of `run`, which is of Han alone.
    pub(super) fn each<'t>(&mut self, run: &'t str, word: impl FnMut(&'t str)) {
        let (chars, rest) = run.as_bytes().as_chunks();
        self.letters.clear();
        self.letters.extend(chars.iter().map(letter_of));
        if rest.is_empty() && !self.letters.contains(&0) {
            self.cut(run, |at| USUAL_BYTES * at, word);
        } else {
            self.each_unusual(run, word);
        }
    }

    /// As [`HanWords::each`], of a run of any characters.
    #[cold]
    fn each_unusual<'t>(&mut self, run: &'t str, mut word: impl FnMut(&'t str)) {
        for row in run.split_inclusive(|c| !is_ideograph(c)) {
            let end = row.trim_end_matches(|c| !is_ideograph(c)).len();
            let (row, apart) = row.split_at(end);
            self.letters.clear();
            self.letters.extend(row.chars().map(letter));
            let mut starts = std::mem::take(&mut self.starts);
            starts.clear();
            starts.extend(row.char_indices().map(|(at, _)| at).chain([row.len()]));
            self.cut(row, |at| starts[at], &mut word);
            self.starts = starts;
            if !apart.is_empty() {
                word(apart);
            }
        }
    }

    /// Cuts the characters at hand, all those of `row`; `start` tells where one of them starts.
    #[inline(always)]
    fn cut<'t>(
        &mut self,
        row: &'t str,
        start: impl Fn(usize) -> usize,
        mut word: impl FnMut(&'t str),
    ) {
        let HanWords { model, letters, beginnings, scores, lengths, .. } = self;
        let count = letters.len();
        if count == 0 {
            return;
        }
        let lexicon = Lexicon::shared();
        letters.extend([0; 2]);
        beginnings.clear();
        beginnings.extend(letters.array_windows().map(|three| lexicon.beginning(*three)));
        scores.resize(count + 2, 0.0);
        scores[count..].fill(0.0);
        lengths.resize(count, 0);
        for (at, beginning) in beginnings.iter().enumerate().rev() {
            let (before, after) = scores.split_at_mut(at + 1);
            (before[at], lengths[at]) = lexicon.best(beginning, &letters[at + 2..=count], after);
        }
        let mut at = 0;
        while at < count {
            let end = at + usize::from(lengths[at]);
            if end - at > 1 || lengths.get(end) != Some(&1) {
                word(&row[start(at)..start(end)]);
                at = end;
                continue;
            }
            let end = at + lengths[at..].iter().take_while(|&&length| length == 1).count();
            let (letters, row) = (&letters[at..end], &row[start(at)..start(end)]);
            join(model, lexicon, letters, row, |it| start(at + it) - start(at), &mut word);
            at = end;
        }
    }
}

/// Calls `word` with the words that the single characters of `row` are or make; `start` tells where one of them starts.
#[inline(never)]
fn join<'t>(
    model: &mut Option<Model>,
    lexicon: &Lexicon,
    letters: &[u16],
    row: &'t str,
    start: impl Fn(usize) -> usize,
    word: &mut impl FnMut(&'t str),
) {
    let mut from = 0;
    let mut until = |end: usize| {
        word(&row[from..end]);
        from = end;
    };
    match model {
        Some(model) if !lexicon.has(letters) => {
            model.each_end(letters, row, |end| until(start(end)));
        }
        _ => (1..=letters.len()).for_each(|end| until(start(end))),
    }
}

/// Whether jieba takes `c` for a character of Han. It takes others for punctuation, and so for words of one character.
#[cold]
fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
        || matches!(c, '\u{20000}'..='\u{2a6df}' | '\u{2a700}'..='\u{2ebef}' | '\u{2f800}'..='\u{2fa1f}')
}

#[derive(Clone, Debug)]
struct Model {
    /// Jieba without a word, so that it leaves all characters to the model.
    jieba: Jieba,
    /// The characters of a row, 0 for none, and which of them end words.
    known: Box<[(u64, u8)]>,
}

impl Model {
    fn new() -> Model {
        Model { jieba: Jieba::empty(), known: vec![(0, 0); REMEMBERED].into() }
    }

    /// Calls `end` with the number of characters before the end of each word of `text`, whose characters are `letters`.
    fn each_end(&mut self, letters: &[u16], text: &str, end: impl FnMut(usize)) {
        if letters.len() > SHORT || letters.contains(&0) {
            return self.jieba.cut(text, true).iter().map(|token| token.end).for_each(end);
        }
        let key = letters.iter().fold(0, |key, &letter| key << 15 | u64::from(letter));
        let place = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - REMEMBERED.ilog2());
        let known = &mut self.known[place as usize];
        if known.0 != key {
            let tokens = self.jieba.cut(text, true);
            *known = (key, tokens.iter().fold(0, |ends, token| ends | 1 << token.end));
        }
        (1..=letters.len()).filter(|end| known.1 >> end & 1 == 1).for_each(end);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::features::words::is_han;

    /// The words as jieba cuts them: the definition.
    fn assert_same(jieba: &Jieba, text: &str) {
        for hmm in [true, false] {
            let mut own = HanWords::new(hmm);
            for run in text.split(|c| !is_han(c)) {
                let mut words = Vec::new();
                own.each(run, |word| words.push(word));
                let tokens = jieba.cut(run, hmm);
                assert_eq!(words, tokens.iter().map(|token| token.word).collect::<Vec<_>>());
            }
        }
    }

    fn jieba() -> &'static Jieba {
        static JIEBA: std::sync::LazyLock<Jieba> = std::sync::LazyLock::new(Jieba::new);
        &JIEBA
    }

    fn words(mut each: impl FnMut(&str)) {
        let list = zstd::decode_all(&include_bytes!("han_words/lexicon.zst")[..]).unwrap();
        let number = |at: usize| u32::from_le_bytes(list[at..at + 4].try_into().unwrap()) as usize;
        let (count, frequencies, prefixes) = (number(8), number(12), number(16));
        let shapes = &list[20 + 4 * frequencies + 2 * count..];
        let (shapes, rest) = shapes.split_at(count);
        let mut letters = rest[3 * prefixes..].as_chunks::<2>().0.iter();
        let mut word = Vec::new();
        for shape in shapes {
            word.truncate(usize::from(shape >> 4));
            let added = letters.by_ref().take(usize::from(shape & 15) + 1);
            word.extend(
                added
                    .map(|it| char::from_u32(u32::from(u16::from_le_bytes(*it)) + 0x33ff).unwrap()),
            );
            each(&word.iter().collect::<String>());
        }
    }

    #[test]
    fn the_words_are_those_of_jieba() {
        let mut count = 0;
        let mut before = String::new();
        words(|word| {
            assert!(jieba().has_word(word), "{word}");
            let letters: Vec<u16> = word.chars().map(letter).collect();
            assert!(Lexicon::shared().has(&letters), "{word}");
            count += 1;
            // Next to another word, in two orders.
            if count % 7 == 0 {
                assert_same(jieba(), &format!("{word}{before}{word}"));
            }
            before = word.to_owned();
        });
        // The others are not of Han alone.
        assert_eq!(count + 71, 349_045);
        assert!(format!("{:?}", jieba()).contains("records_len: 349045"));
    }

    #[test]
    fn characters_of_no_word_are_words_or_joined_as_jieba_does() {
        let rows = "々〇𠀀𠀁㐀㐁|龥龦龧鿕鿖鿿|豈更車|北京々大学〇|𠀀北京𠀁|\u{2fa20}\u{30000}中|";
        rows.split('|').for_each(|row| assert_same(jieba(), row));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn words_equal_those_of_jieba(
            text in "([的一是不了人我在有他这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可她里后小么心多天而能好都然没日于起还发成事只作当想看文无开手十用主行方又如前所本见经头面公同三已老从动两长]|[\u{4e00}-\u{9fff}]|[㐀-㐅龥-鿿々〇豈𠀀-𠀅，]){0,40}",
        ) {
            assert_same(jieba(), &text);
        }
    }
}
