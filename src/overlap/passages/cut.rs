//! A text without its passages: to the word, or by whole lines and sentences, or by whole paragraphs, that stand in them.
//!
//! ```text
//! text          All rights reserved. New.\nAll rights reserved.\nNew.
//! passages      --------------------       --------------------
//! by lines      New.\nNew.
//! ```

use std::ops::Range;

use crate::error::named;
use crate::features::shingle_hashes::each_place;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Passages, to the word.
    Words,
    /// Lines, and sentences of lines, all words of which stand in passages.
    Lines,
    /// Paragraphs, between blank lines, all words of which stand in passages.
    Paragraphs,
}

named!(pub Cut { Words = "words", Lines = "lines", Paragraphs = "paragraphs" } or "no such way to cut");

/// A text, and which of its words stand in passages.
#[derive(Debug)]
pub struct RepeatedText<'a> {
    text: &'a str,
    /// The passages, those that overlap or touch as one.
    passages: Vec<Range<usize>>,
    /// Where each word begins, and whether it stands in a passage.
    words: Vec<(u32, bool)>,
}

impl<'a> RepeatedText<'a> {
    /// A text below 4 GiB, as passages are found in, with these passages, in the order in which they begin.
    pub fn new(text: &'a str, passages: &[Range<usize>]) -> RepeatedText<'a> {
        let mut joined: Vec<Range<usize>> = Vec::new();
        for passage in passages {
            match joined.last_mut() {
                Some(last) if passage.start <= last.end => last.end = last.end.max(passage.end),
                _ => joined.push(passage.clone()),
            }
        }
        let mut words = Vec::new();
        let mut at = 0;
        each_place(text, |place| {
            while joined.get(at).is_some_and(|passage| passage.end <= place.start) {
                at += 1;
            }
            let is_in = |it: &Range<usize>| it.start <= place.start && place.end <= it.end;
            words.push((place.start as u32, joined.get(at).is_some_and(is_in)));
        });
        RepeatedText { text, passages: joined, words }
    }

    pub fn words(&self) -> usize {
        self.words.len()
    }

    pub fn repeated(&self) -> usize {
        self.words.iter().filter(|(_, is_repeated)| *is_repeated).count()
    }

    /// The text without what is cut out, and how many words that are.
    pub fn without(&self, cut: Cut) -> (String, usize) {
        let left_out = match cut {
            Cut::Words => self.passages.clone(),
            Cut::Lines => lines(self.text).flat_map(|line| self.of_line(line)).collect(),
            Cut::Paragraphs => paragraphs(self.text).filter(|it| self.is_repeated(it)).collect(),
        };
        let mut text = String::with_capacity(self.text.len());
        let mut at = 0;
        let mut words = 0;
        for part in left_out {
            text.push_str(&self.text[at..part.start]);
            words += self.words_of(&part).len();
            at = part.end;
        }
        text.push_str(&self.text[at..]);
        (text, words)
    }

    fn words_of(&self, part: &Range<usize>) -> &[(u32, bool)] {
        let before = |end: usize| self.words.partition_point(|&(begin, _)| (begin as usize) < end);
        &self.words[before(part.start)..before(part.end)]
    }

    /// Whether it has words, all of them in passages.
    fn is_repeated(&self, part: &Range<usize>) -> bool {
        let words = self.words_of(part);
        !words.is_empty() && words.iter().all(|(_, is_repeated)| *is_repeated)
    }

    /// What of a line is cut out: the line, or sentences of it. Its end stays with a sentence that stays.
    fn of_line(&self, line: Range<usize>) -> Vec<Range<usize>> {
        if self.is_repeated(&line) {
            return vec![line];
        }
        let end = line.start + self.text[line.clone()].trim_end_matches(['\r', '\n']).len();
        sentences(self.text, line.start..end).filter(|it| self.is_repeated(it)).collect()
    }
}

/// The lines of a text, with their ends.
fn lines(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut end = 0;
    text.split_inclusive('\n').map(move |line| {
        end += line.len();
        end - line.len()..end
    })
}

/// The paragraphs of a text, each with the blank lines that follow it.
fn paragraphs(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut lines = lines(text).peekable();
    let is_blank = |line: &Range<usize>| text[line.clone()].trim().is_empty();
    std::iter::from_fn(move || {
        let mut paragraph = lines.next()?;
        let mut has_ended = is_blank(&paragraph);
        while let Some(line) = lines.next_if(|line| !has_ended || is_blank(line)) {
            has_ended |= is_blank(&line);
            paragraph.end = line.end;
        }
        Some(paragraph)
    })
}

/// The sentences of a line, each with the space behind it.
fn sentences(text: &str, line: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let mut start = line.start;
    std::iter::from_fn(move || {
        if start == line.end {
            return None;
        }
        let rest = &text[start..line.end];
        let mut characters = rest.char_indices().peekable();
        let mut end = rest.len();
        let mut has_ended = false;
        while let Some((at, c)) = characters.next() {
            let next = characters.peek().copied();
            let is_space_next = next.is_none_or(|(_, c)| c.is_whitespace());
            has_ended |= matches!(c, '.' | '!' | '?' | '…') && is_space_next
                || matches!(c, '。' | '！' | '？' | '।' | '؟');
            let goes_on = next.is_some_and(|(_, c)| c.is_whitespace() || is_closing(c));
            if has_ended && !goes_on {
                end = at + c.len_utf8();
                break;
            }
        }
        start += end;
        Some(start - end..start)
    })
}

/// Whether a character can stand behind the end of a sentence that it belongs to.
fn is_closing(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '…' | '。' | '！' | '？' | '”' | '’' | '»' | '」' | '』' | '）')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn without(text: &str, passages: &[&str], cut: Cut) -> String {
        let place = |passage: &&str| {
            let start = text.find(passage).unwrap();
            start..start + passage.len()
        };
        let places: Vec<Range<usize>> = passages.iter().map(place).collect();
        RepeatedText::new(text, &places).without(cut).0
    }

    #[test]
    fn words_lines_sentences_and_paragraphs_go_where_all_their_words_do() {
        let text =
            "Spring. All rights reserved! By the author.\nAll copies.\n\nNone\nother.\n\n \nEnd";
        let cut = |passages: &[&str], cut| without(text, passages, cut);
        let passage = ["rights reserved! By the author.\nAll copies.\n\nNone\nother"];
        assert_eq!(cut(&passage, Cut::Words), "Spring. All .\n\n \nEnd");
        assert_eq!(cut(&passage, Cut::Lines), "Spring. All rights reserved! \n\n\n \nEnd");
        assert_eq!(cut(&passage, Cut::Paragraphs), text.replace("None\nother.\n\n \n", ""));
        assert_eq!(cut(&[text], Cut::Lines), "\n\n \n");
        assert_eq!(cut(&[text], Cut::Paragraphs), "");
        assert_eq!(cut(&[], Cut::Lines), text);
        assert_eq!(without("新春。版权所有！好", &["版权所有"], Cut::Lines), "新春。好");
        assert_eq!(without("Costs 3.14 here. New", &["Costs 3.14 here"], Cut::Lines), "New");
    }

    #[test]
    fn passages_that_overlap_count_their_words_once() {
        let text = RepeatedText::new("one two three four five", &[0..7, 4..13]);
        assert_eq!((text.words(), text.repeated()), (5, 3));
        assert_eq!(text.without(Cut::Words), (" four five".to_owned(), 3));
    }

    proptest! {
        #[test]
        fn what_stays_are_the_words_that_are_not_cut(
            text in "([a-c]{1,2}[ .!\n。一]{0,3}){0,30}",
            from in 0_usize..60,
            words in 1_usize..20,
        ) {
            let mut places = Vec::new();
            each_place(&text, |place| places.push(place));
            let last = places.get(from..).and_then(|rest| rest.get(words - 1));
            let passage = last.map(|last| places[from].start..last.end);
            let passages: Vec<Range<usize>> = passage.into_iter().collect();
            let repeated = RepeatedText::new(&text, &passages);
            prop_assert_eq!(repeated.repeated(), passages.len() * words);
            for cut in [Cut::Words, Cut::Lines, Cut::Paragraphs] {
                let (left, cut_words) = repeated.without(cut);
                let mut count = 0;
                each_place(&left, |_| count += 1);
                // Words to both sides of a passage may become one.
                prop_assert!(count + cut_words <= places.len() && places.len() <= count + cut_words + 1);
                prop_assert!(cut_words <= repeated.repeated());
                if cut == Cut::Words {
                    prop_assert_eq!(cut_words, repeated.repeated());
                }
            }
        }
    }
}
