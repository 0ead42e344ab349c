//! Random texts, Chinese and English, some of them copies of earlier ones with a few words replaced.

use std::ops::Range;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub struct SyntheticDocument<'v> {
    pub words: Vec<&'v str>,
    separator: &'static str,
    /// For a copy the number of its original, and how many words were replaced.
    pub copied: Option<(u64, usize)>,
}

impl SyntheticDocument<'_> {
    pub fn text(&self) -> String {
        self.words.join(self.separator)
    }
}

/// Generates documents by their numbers, each from the seed alone, so that a copy can be made without
/// keeping its original in memory.
pub struct DocumentGenerator {
    seed: u64,
    near_share: f64,
    vocabulary: Vocabulary,
}

impl DocumentGenerator {
    const REPLACED: [f64; 5] = [0.0, 0.003, 0.01, 0.03, 0.1];
    const LENGTH: Range<usize> = 100..600;

    pub fn new(seed: u64, near_share: f64) -> DocumentGenerator {
        DocumentGenerator { seed, near_share, vocabulary: Vocabulary::new(seed) }
    }

    pub fn is_copy(&self, number: u64) -> bool {
        self.start(number).1
    }

    fn start(&self, number: u64) -> (ChaCha8Rng, bool) {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        random.set_stream(number + 1);
        let copy = random.random_bool(self.near_share) && number > 0;
        (random, copy)
    }

    pub fn document(&self, number: u64) -> SyntheticDocument<'_> {
        let (random, is_copy) = self.start(number);
        if is_copy { self.copy(number, random) } else { self.original(random) }
    }

    fn original(&self, mut random: ChaCha8Rng) -> SyntheticDocument<'_> {
        let (language, separator) = self.vocabulary.language(&mut random);
        let length = random.random_range(DocumentGenerator::LENGTH);
        let words = (0..length).map(|_| self.vocabulary.word(&language, &mut random)).collect();
        SyntheticDocument { words, separator, copied: None }
    }

    /// A copy of an earlier original. It is never the copy of a copy, which would differ from the
    /// original in more words than it says.
    fn copy(&self, number: u64, mut random: ChaCha8Rng) -> SyntheticDocument<'_> {
        let (original, source) = loop {
            let earlier = random.random_range(0..number);
            if let (source, false) = self.start(earlier) {
                break (earlier, source);
            }
        };
        let mut document = self.original(source);
        let share =
            DocumentGenerator::REPLACED[random.random_range(0..DocumentGenerator::REPLACED.len())];
        let replaced = (document.words.len() as f64 * share).ceil() as usize;
        for place in rand::seq::index::sample(&mut random, document.words.len(), replaced) {
            document.words[place] = self.vocabulary.word(&(0..Vocabulary::SIZE), &mut random);
        }
        document.copied = Some((original, replaced));
        document
    }
}

/// Made-up words: the first half English, the second half Chinese, each from frequent to rare.
struct Vocabulary(Vec<String>);

impl Vocabulary {
    const SIZE: usize = 20_000;
    const HALF: usize = Vocabulary::SIZE / 2;
    /// The shift of ranks in the law of Zipf and Mandelbrot. It is larger than in books, so that unrelated
    /// texts are not alike only by their commonest words.
    const SHIFT: f64 = 100.0;

    fn new(seed: u64) -> Vocabulary {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let english = (0..Vocabulary::HALF).map(|_| english(&mut random)).collect::<Vec<_>>();
        let chinese = (0..Vocabulary::HALF).map(|_| chinese(&mut random));
        Vocabulary(english.into_iter().chain(chinese).collect())
    }

    /// The words that a text is made of, and the separator between them. Two texts in five are English, two
    /// Chinese and one mixed.
    fn language(&self, random: &mut ChaCha8Rng) -> (Range<usize>, &'static str) {
        match random.random_range(0..5) {
            0 | 1 => (0..Vocabulary::HALF, " "),
            2 | 3 => (Vocabulary::HALF..Vocabulary::SIZE, ""),
            _ => (0..Vocabulary::SIZE, " "),
        }
    }

    /// A word of `language` by the law of Zipf and Mandelbrot: the chance of rank r falls as
    /// 1 / (r + shift).
    fn word(&self, language: &Range<usize>, random: &mut ChaCha8Rng) -> &str {
        let is_mixed = language.len() == Vocabulary::SIZE;
        let half =
            if is_mixed { random.random_range(0..2) * Vocabulary::HALF } else { language.start };
        let ratio = Vocabulary::HALF as f64 / Vocabulary::SHIFT + 1.0;
        let rank = Vocabulary::SHIFT * (ratio.powf(random.random::<f64>()) - 1.0);
        &self.0[half + (rank as usize).min(Vocabulary::HALF - 1)]
    }
}

fn english(random: &mut ChaCha8Rng) -> String {
    const ONSETS: [&str; 16] =
        ["b", "br", "c", "d", "f", "g", "gl", "h", "l", "m", "n", "p", "s", "st", "t", "w"];
    const RHYMES: [&str; 12] =
        ["a", "an", "ar", "e", "ed", "er", "i", "in", "o", "on", "ough", "um"];
    let syllables = random.random_range(1..5);
    let mut part = |parts: &[&'static str]| parts[random.random_range(0..parts.len())];
    (0..syllables).map(|_| [part(&ONSETS), part(&RHYMES)].concat()).collect()
}

fn chinese(random: &mut ChaCha8Rng) -> String {
    let length = random.random_range(1..4);
    (0..length).map(|_| random.random_range('\u{4e00}'..='\u{9fa5}')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generator(near_share: f64) -> DocumentGenerator {
        DocumentGenerator::new(7, near_share)
    }

    #[test]
    fn a_copy_differs_in_no_more_words_than_it_says() {
        let generator = generator(0.5);
        let mut copies = 0;
        for number in 0..200 {
            let copy = generator.document(number);
            let Some((original, replaced)) = copy.copied else { continue };
            let original = generator.document(original);
            assert!(original.copied.is_none());
            assert_eq!(copy.words.len(), original.words.len());
            let differ = copy.words.iter().zip(&original.words).filter(|(a, b)| a != b).count();
            assert!(differ <= replaced, "{differ} > {replaced}");
            copies += 1;
        }
        assert!((70..130).contains(&copies), "{copies} of 200");
    }
}
