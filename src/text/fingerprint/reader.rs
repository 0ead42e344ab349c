//! A text to its features, as a recipe cuts it.

use std::collections::HashSet;

use crate::features::lists::StopWords;
use crate::features::normalise::Normalise;
use crate::features::shingles::{self, WordWindow};
use crate::features::words::Words;
use crate::fingerprint::page_time::{PageClock, PageTime};
use crate::fingerprint::recipe::Features;

#[derive(Debug)]
pub(super) struct Reader {
    pub(super) clock: PageClock,
    /// None of texts that are taken as another program takes them.
    normalise: Option<Normalise>,
    prepared: String,
    stop_words: HashSet<Box<str>>,
    cut: Cut,
}

#[derive(Debug)]
enum Cut {
    Words(Words),
    WordShingles(Words, WordWindow),
    CharacterShingles(usize),
    WhiteSpaceTokens,
    WordCharacterShingles(usize),
}

impl Cut {
    fn of(features: &Features) -> Cut {
        match features {
            Features::Words { .. } => Cut::Words(words(features)),
            Features::WordShingles { length, .. } => {
                Cut::WordShingles(words(features), WordWindow::new(*length))
            }
            Features::CharacterShingles { length, .. } => Cut::CharacterShingles(*length),
            Features::WhiteSpaceTokens { .. } => Cut::WhiteSpaceTokens,
            Features::WordCharacterShingles { length, .. } => Cut::WordCharacterShingles(*length),
            Features::Given { .. } | Features::Vectors | Features::External => {
                unreachable!("no text is taken")
            }
        }
    }
}

/// What cuts the words that features are made of. Panics if they are not made of words.
pub(super) fn words(features: &Features) -> Words {
    let (Features::Words { hmm, user_dictionary, .. }
    | Features::WordShingles { hmm, user_dictionary, .. }) = features
    else {
        unreachable!("no words are taken")
    };
    let words = match user_dictionary {
        Some(dictionary) => Words::with_dictionary(*hmm, dictionary),
        None => Words::new(*hmm),
    };
    match features {
        Features::Words { unspaced_run: Some(length), .. } => words.in_runs(*length),
        Features::Words { segmenter: Some(segmenter), .. } => words.cut_by(*segmenter),
        _ => words,
    }
}

impl Reader {
    /// A reader of texts for `features`; stop words are normalised as the texts are.
    ///
    /// Panics if they are not taken from text.
    pub(super) fn new(features: &Features) -> Reader {
        let text = features.text();
        let mut reader = Reader {
            clock: PageClock::new(PageTime::default()),
            normalise: text.map(|text| text.normalise),
            prepared: String::new(),
            stop_words: HashSet::new(),
            cut: Cut::of(features),
        };
        if let Some(text) = text {
            for word in text.stop_words.iter().flat_map(StopWords::iter) {
                text.normalise.apply(word, &mut reader.prepared);
                reader.stop_words.insert(reader.prepared.as_str().into());
            }
        }
        reader
    }

    /// Calls `feature` with each occurrence of a feature in `text`. What a recipe leaves out of a text, such as digits and links, stays if the text
    /// has no feature without it: a page of numbers is no empty page.
    pub(super) fn each(&mut self, text: &str, mut feature: impl FnMut(&str)) {
        let mut is_empty = true;
        self.each_of(text, self.normalise, |name| {
            is_empty = false;
            feature(name);
        });
        let of_whole_text = self.normalise.map(Normalise::of_whole_text);
        if is_empty && of_whole_text != self.normalise {
            self.each_of(text, of_whole_text, feature);
        }
    }

    fn each_of(&mut self, text: &str, normalise: Option<Normalise>, mut feature: impl FnMut(&str)) {
        let Reader { clock, prepared, stop_words, cut, .. } = self;
        let text = match (normalise, &cut) {
            (None, Cut::WhiteSpaceTokens) => text,
            (None, _) => {
                shingles::word_characters(text, prepared);
                prepared
            }
            (Some(normalise), _) => {
                normalise.apply(text, prepared);
                prepared
            }
        };
        clock.look();
        let mut feature = |name: &str| {
            if clock.step() {
                feature(name);
            }
        };
        let stops = |word: &str| !stop_words.is_empty() && stop_words.contains(word);
        match cut {
            Cut::Words(words) => words.each(text, |word| {
                if !stops(word) {
                    feature(word);
                }
            }),
            Cut::WordShingles(words, window) => {
                window.clear();
                words.each(text, |word| {
                    if !stops(word) {
                        window.push(word).into_iter().for_each(&mut feature);
                    }
                });
                window.rest().into_iter().for_each(feature);
            }
            Cut::CharacterShingles(length) => shingles::characters(text, *length, feature),
            Cut::WhiteSpaceTokens => {
                let tokens = text.split(|c| char::is_whitespace(c) || is_separator(c));
                tokens.filter(|token| !token.is_empty()).for_each(feature);
            }
            Cut::WordCharacterShingles(length) => shingles::windows(text, *length, feature),
        }
    }
}

/// The separators of files, groups, records and units, white space to Python alone.
fn is_separator(c: char) -> bool {
    matches!(c, '\u{1c}'..='\u{1f}')
}
