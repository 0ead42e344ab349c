//! The words of a text, Chinese and everything else mixed, in one pass.
//!
//! A text is a sequence of runs: of Han, of separators (white space and CJK punctuation), and of
//! anything else. Jieba cuts a run of Han into words. A run of anything else is cut into the words of
//! Unicode Standard Annex #29, which have at least one letter or digit. Separators and other punctuation
//! are not words. (A run of Han is cut at every 64 KiB.)
//!
//! A recipe may take other words in scripts without spaces, such as Thai: runs of characters, or what a segmenter cuts.

use std::sync::{Arc, LazyLock};

use jieba_rs::Jieba;
use unicode_segmentation::UnicodeSegmentation;

use crate::features::han_words::HanWords;
use crate::features::lists::UserDictionary;
use crate::features::segmenter::{Cutter, Segmenter};
use crate::features::speech::Speech;
use crate::features::stretches;

/// The segmenter of Han: the release of jieba-rs whose dictionary, hidden Markov model and idf table are
/// compiled in, and the start of its package's SHA-256. Fingerprints depend on all of it.
pub const DICTIONARY: &str = "jieba-rs 0.11.0 0a3a7d02ea31e6fc";

const LONGEST_PIECE: usize = 1 << 16;

/// More bytes than most words and what stands between them take.
const WORD_BYTES: usize = 16;

/// Cuts texts into words. It has buffers, so each worker needs its own.
#[derive(Clone, Debug)]
pub struct Words {
    han: Han,
    unspaced: Unspaced,
}

#[derive(Clone, Copy, Debug)]
enum Unspaced {
    /// Those of Annex #29: mostly characters.
    Characters,
    /// So many characters up to the end of each of these.
    Runs(usize),
    Cut(Cutter),
}

#[derive(Clone, Debug)]
enum Han {
    Own(Box<HanWords>),
    /// Jieba with the words of a user, and whether it joins characters.
    User(Arc<Jieba>, bool),
}

impl Words {
    /// Words by jieba's own dictionary, which is loaded once a process, at the first run of Han, and
    /// shared. With `hmm`, its hidden Markov model joins characters the dictionary does not.
    pub fn new(hmm: bool) -> Words {
        Words { han: Han::Own(Box::new(HanWords::new(hmm))), unspaced: Unspaced::Characters }
    }

    pub fn with_dictionary(hmm: bool, dictionary: &UserDictionary) -> Words {
        Words { han: Han::User(dictionary.jieba(), hmm), unspaced: Unspaced::Characters }
    }

    /// The same words, but in place of each that begins in a script without spaces the last `length` characters up to its end. A
    /// run begins no earlier than the letters and digits that it ends.
    /// Of `環境を作ります` runs of three are 環境, 環境を, 作, を作り, 作りま and ります.
    #[must_use]
    pub fn in_runs(self, length: usize) -> Words {
        Words { unspaced: Unspaced::Runs(length), ..self }
    }

    /// The same words, but each longest stretch of Han, kana, Thai, Lao, Burmese and Khmer is cut by `segmenter`, and at every 64 KiB,
    /// if it is not of Han and Katakana alone. With Hiragana in it a stretch is Japanese, its Han too.
    #[must_use]
    pub(crate) fn cut_by(self, segmenter: Segmenter) -> Words {
        Words { unspaced: Unspaced::Cut(Cutter::new(segmenter)), ..self }
    }

    pub(crate) fn speech(&self) -> Speech {
        static JIEBA: LazyLock<Arc<Jieba>> = LazyLock::new(|| Arc::new(Jieba::new()));
        Speech::new(Arc::clone(match &self.han {
            Han::Own(_) => &JIEBA,
            Han::User(jieba, _) => jieba,
        }))
    }

    /// Calls `word` with each word of `text`, in order, as a slice of it.
    pub fn each<'t>(&mut self, text: &'t str, word: impl FnMut(&'t str)) {
        let Words { han, unspaced } = self;
        let mut batch = Batch::new(word);
        match *unspaced {
            Unspaced::Characters => batch.push_words(text, han, None),
            Unspaced::Runs(length) => batch.push_words(text, han, Some(length)),
            Unspaced::Cut(cutter) => each_stretch(text, |stretch, is_cut| {
                if is_cut {
                    let cut = |piece| cutter.each(piece, |found| batch.push(found));
                    each_piece(stretch, cut);
                } else {
                    batch.push_words(stretch, han, None);
                }
            }),
        }
        batch.flush();
    }
}

/// Words on their way to a function, which is called in one place, so that the compiler puts all of it there.
struct Batch<'t, F> {
    words: [&'t str; BATCH],
    count: usize,
    word: F,
}

const BATCH: usize = 64;

impl<'t, F: FnMut(&'t str)> Batch<'t, F> {
    fn new(word: F) -> Batch<'t, F> {
        Batch { words: [""; BATCH], count: 0, word }
    }

    #[inline(always)]
    fn push(&mut self, word: &'t str) {
        self.words[self.count] = word;
        self.count += 1;
        if self.count == BATCH {
            self.flush();
        }
    }

    /// Pushes the words of `text`; those of scripts without spaces in runs of so many characters, if there is a number.
    fn push_words(&mut self, text: &'t str, han: &mut Han, unspaced_run: Option<usize>) {
        each_run(text, |class, run| match class {
            Class::Separator => {}
            Class::Han => each_piece(run, |piece| han.each(piece, |found| self.push(found))),
            Class::Ascii => each_ascii_word(run, |found| self.push(found)),
            Class::Other => run.unicode_words().for_each(|found| match unspaced_run {
                Some(length) if found.starts_with(is_unspaced) => {
                    let end = found.as_ptr() as usize - text.as_ptr() as usize + found.len();
                    self.push(last_characters(&text[..end], length));
                }
                _ => self.push(found),
            }),
        });
    }

    #[inline(never)]
    fn flush(&mut self) {
        self.words[..self.count].iter().for_each(|word| (self.word)(word));
        self.count = 0;
    }
}

impl Han {
    fn each<'t>(&mut self, run: &'t str, mut word: impl FnMut(&'t str)) {
        match self {
            Han::Own(words) => words.each(run, word),
            Han::User(jieba, hmm) => {
                jieba.cut(run, *hmm).iter().for_each(|token| word(token.word));
            }
        }
    }
}

/// The last `length` characters of `text`, or fewer after one that is neither letter nor digit.
fn last_characters(text: &str, length: usize) -> &str {
    let last = text.char_indices().rev().take(length);
    let run = last.take_while(|&(_, c)| is_unspaced(c) || c.is_alphanumeric());
    &text[run.last().map_or(text.len(), |(start, _)| start)..]
}

/// Calls `stretch` with each longest stretch of Han, kana and scripts that a [`Cutter`] has dictionaries of, and with what stands between them;
/// and whether the stretch has a character of such a script: Han and Katakana alone may be Chinese, or a name.
fn each_stretch<'t>(text: &'t str, mut stretch: impl FnMut(&'t str, bool)) {
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_joined = is_joined(first);
        let end = rest.find(|c| self::is_joined(c) != is_joined).unwrap_or(rest.len());
        let (found, after) = rest.split_at(end);
        stretch(found, is_joined && found.contains(has_dictionary));
        rest = after;
    }
}

/// Whether `c` is of a script that a [`Cutter`] has dictionaries of: Thai, Lao, Burmese, Khmer or Hiragana.
fn has_dictionary(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3041}'..='\u{309f}')
}

/// Whether `c` is of such a script, or of one that Japanese is written in beside Hiragana.
fn is_joined(c: char) -> bool {
    c >= '\u{e00}'
        && (has_dictionary(c)
            || is_han(c)
            || matches!(c, '\u{30a1}'..='\u{30fa}' | '\u{30fc}'..='\u{30ff}' | '\u{ff66}'..='\u{ff9f}'))
}

/// Calls `word` with each word of `text`, in order, where each character of Han is a word by itself.
/// This needs no dictionary, and the same words come of a text whatever stands around it.
pub fn each_plain<'t>(text: &'t str, mut word: impl FnMut(&'t str)) {
    each_run(text, |class, run| match class {
        Class::Separator => {}
        Class::Han => {
            let ends = run.char_indices().map(|(at, c)| (at, at + c.len_utf8()));
            ends.for_each(|(start, end)| word(&run[start..end]));
        }
        Class::Ascii => each_ascii_word(run, &mut word),
        Class::Other => run.unicode_words().for_each(&mut word),
    });
}

/// Whether `c` is of a script whose words no space divides, and of which each character is a plain word:
/// Hiragana, and the blocks of line breaking class SA of Unicode Standard Annex #14, such as Thai, Lao,
/// Burmese and Khmer. (Han is not meant: a character of Han says as much as a word.)
pub(super) fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}')
        || matches!(c, '\u{1950}'..='\u{19df}' | '\u{1a20}'..='\u{1aaf}' | '\u{3041}'..='\u{309f}')
        || matches!(c, '\u{a9e0}'..='\u{a9ff}' | '\u{aa60}'..='\u{aadf}' | '\u{11700}'..='\u{1174f}')
}

/// Whether `text` has so many plain words ([`each_plain`]). Of a long text this mostly reads the beginning.
pub fn has_plain(text: &str, count: usize) -> bool {
    let has = |text: &str| {
        let mut words = 0;
        each_plain(text, |_| words += 1);
        words >= count
    };
    let beginning = &text[..text.floor_char_boundary(count.saturating_mul(WORD_BYTES))];
    has(beginning) || beginning.len() < text.len() && has(text)
}

/// Whether half of the letters of `text`, or more, are of scripts without spaces, such as Thai; not if it has none.
pub(crate) fn is_mostly_unspaced(text: &str) -> bool {
    let letters = text.chars().filter(|c| c.is_alphabetic());
    let (letters, unspaced) = letters.fold((0_u64, 0_u64), |(letters, unspaced), c| {
        (letters + 1, unspaced + u64::from(is_unspaced(c)))
    });
    unspaced > 0 && 2 * unspaced >= letters
}

/// Whether `c` is an ideograph: the unified and compatibility ideographs of every plane (planes 2
/// and 3 are set aside for them, assigned yet or not), the iteration mark and the ideographic zero.
pub fn is_han(c: char) -> bool {
    matches!(c, '\u{4e00}'..='\u{9fff}')
        || matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
        || matches!(c, '々' | '〇')
}

/// The share of a text's letters that are ideographs, from 0 to 1; 0 if it has no letter.
pub fn han_share(text: &str) -> f64 {
    let letters = text.chars().filter(|c| c.is_alphabetic());
    let (letters, han) =
        letters.fold((0_u64, 0_u64), |(letters, han), c| (letters + 1, han + u64::from(is_han(c))));
    han as f64 / letters.max(1) as f64
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Han,
    Separator,
    Other,
    /// Separators and others, all of them ASCII.
    Ascii,
}

impl Class {
    #[inline]
    fn of(c: char) -> Class {
        match c {
            '\u{21}'..='\u{7e}' => Class::Other,
            _ if is_han(c) => Class::Han,
            '\u{3000}'..='\u{3003}' | '\u{3008}'..='\u{3011}' => Class::Separator,
            _ if c.is_whitespace() => Class::Separator,
            _ => Class::Other,
        }
    }
}

#[inline(always)]
fn is_separator(byte: u8) -> bool {
    matches!(byte, b'\t'..=b'\r' | b' ')
}

/// Calls `run` with each longest run of Han and of others, and with what is all ASCII between them, separators included.
fn each_run<'t>(text: &'t str, mut run: impl FnMut(Class, &'t str)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let ascii = ascii_bytes(&bytes[at..]);
        let (class, end) = run_from(text, at + ascii);
        let start = match class {
            // It begins before its first character that is no ASCII.
            Class::Other => {
                let run = bytes[at..at + ascii].iter().rev();
                at + ascii - run.take_while(|&&byte| !is_separator(byte)).count()
            }
            _ => at + ascii,
        };
        run(Class::Ascii, &text[at..start]);
        run(class, &text[start..end]);
        at = end;
    }
}

fn ascii_bytes(bytes: &[u8]) -> usize {
    const TOGETHER: usize = 32;
    let whole = bytes.as_chunks::<TOGETHER>().0.iter().take_while(|it| it.is_ascii()).count();
    let rest = &bytes[TOGETHER * whole..];
    TOGETHER * whole + rest.iter().take_while(|byte| byte.is_ascii()).count()
}

fn run_from(text: &str, mut at: usize) -> (Class, usize) {
    let mut chars = text[at..].chars();
    let class = chars.next().map_or(Class::Separator, Class::of);
    loop {
        at = text.len() - chars.as_str().len();
        if class == Class::Han {
            // Most Han is from U+5000 to U+9FFF, which the first of three bytes tells.
            let more = text.as_bytes()[at..].as_chunks::<3>().0.iter();
            at += 3 * more.take_while(|char| matches!(char[0], 0xe5..=0xe9)).count();
            chars = text[at..].chars();
        }
        if chars.next().map(Class::of) != Some(class) {
            return (class, at);
        }
    }
}

/// Calls `piece` with pieces of `run` of a bounded length, since jieba takes 30 bytes of memory and
/// more for each byte of a run. No sentence is as long as that.
fn each_piece<'t>(mut run: &'t str, mut piece: impl FnMut(&'t str)) {
    while !run.is_empty() {
        let (first, rest) = run.split_at(run.floor_char_boundary(LONGEST_PIECE));
        piece(first);
        run = rest;
    }
}

/// The Unicode words of ASCII: longest runs of letters, digits and `_`, never of `_` alone. Some marks join letters, or digits.
#[inline(always)]
fn each_ascii_word<'t>(run: &'t str, mut word: impl FnMut(&'t str)) {
    let bytes = run.as_bytes();
    let mut end_word = |start, end| {
        if bytes[start..end].iter().any(|&byte| byte != b'_') {
            word(&run[start..end]);
        }
    };
    // The word at hand, which a mark may join to what follows it.
    let (mut start, mut end) = (0, 0);
    stretches::each(bytes, is_part, |next_start, next_end| {
        if next_start != end + 1 || !joins(bytes, end) {
            end_word(start, end);
            start = next_start;
        }
        end = next_end;
    });
    end_word(start, end);
}

/// Whether this byte of ASCII is part of a word wherever it stands.
#[inline(always)]
fn is_part(byte: u8) -> bool {
    let in_range = |byte: u8, first: u8, last: u8| byte.wrapping_sub(first) <= last - first;
    in_range(byte | 0x20, b'a', b'z') | in_range(byte, b'0', b'9') | (byte == b'_')
}

/// Whether the mark at `at` joins what stands before it to what stands behind it.
#[inline(always)]
fn joins(bytes: &[u8], at: usize) -> bool {
    let Some(&[before, mark, behind]) = bytes[at.saturating_sub(1)..].first_chunk() else {
        return false;
    };
    let letters = before.is_ascii_alphabetic() && behind.is_ascii_alphabetic();
    let digits = before.is_ascii_digit() && behind.is_ascii_digit();
    match mark {
        b'.' | b'\'' => letters || digits,
        b':' => letters,
        b',' | b';' => digits,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
