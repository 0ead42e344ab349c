//! `generate documents`: texts drawn from a seeded vocabulary, Chinese and English, some of them
//! copies of earlier ones with a few words replaced.

use std::ops::Range;
use std::path::{Path, PathBuf};

use dupsieve::{Error, Kind, Result};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::json;

use crate::flags::common::Common;
use crate::flags::settings::parse_count;
use crate::outcome::summary::Summary;
use dupsieve::output::PackedFile;

/// Write documents to try things on, as JSON lines of id and text
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// How many documents
    #[arg(long, value_name = "N", value_parser = parse_count)]
    count: u64,
    /// What they are drawn from
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// The share of documents that are copies of earlier ones with words replaced, below 1
    #[arg(long, value_name = "P", default_value_t = 0.2)]
    near_share: f64,
    /// Where to, - for standard output; a name that ends in .gz or .zst is compressed
    #[arg(long, value_name = "FILE.jsonl")]
    output: PathBuf,
    /// Where the planted pairs go: `new existing edit`
    #[arg(long, value_name = "FILE")]
    truth: Option<PathBuf>,
}

/// Runs `generate documents`.
pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<Summary> {
    let Arguments { count, seed, near_share, output, truth } = arguments;
    if !(0.0..1.0).contains(near_share) {
        return Err(Error::new(Kind::Usage, "--near-share is a share")
            .expected("at least 0 and below 1")
            .found(near_share));
    }
    let author =
        Author { seed: *seed, near_share: *near_share, vocabulary: Vocabulary::new(*seed) };
    let (planted, stood) = match common.dry_run {
        true => ((0..*count).filter(|&number| author.start(number).1).count() as u64, false),
        false => write(&author, *count, output, truth.as_deref(), common.overwrite)?,
    };
    let summary =
        Summary::new().count("documents", *count).count("planted", planted).path("output", output);
    let summary = truth.iter().fold(summary, |summary, truth| summary.path("truth", truth));
    Ok(if stood { summary.already_done() } else { summary })
}

/// Writes `count` documents, then moves the truth and the output into place; the number of copies, and
/// whether both stood there already.
fn write(
    author: &Author,
    count: u64,
    output: &Path,
    truth: Option<&Path>,
    overwrite: bool,
) -> Result<(u64, bool)> {
    let mut documents = PackedFile::create(output)?;
    let mut pairs = truth.map(PackedFile::create).transpose()?;
    if let Some(pairs) = &mut pairs {
        pairs.line(b"new\texisting\tedit")?;
    }
    let mut planted = 0;
    for number in 0..count {
        let document = author.document(number);
        let line = json!({"id": id(number), "text": document.text()}).to_string();
        documents.line(line.as_bytes())?;
        if let Some((original, replaced)) = document.copied {
            planted += 1;
            let words = document.words.len();
            let pair = format!("{}\t{}\t{replaced} of {words} words", id(number), id(original));
            pairs.iter_mut().try_for_each(|pairs| pairs.line(pair.as_bytes()))?;
        }
    }
    let stood = pairs.map_or(Ok(true), |pairs| pairs.finish(overwrite))?;
    Ok((planted, documents.finish(overwrite)? && stood))
}

/// Ids are padded, so that their order as bytes is the order they were written in.
fn id(number: u64) -> String {
    format!("document-{number:012}")
}

/// A text as its words, and where it was copied from.
struct Document<'v> {
    words: Vec<&'v str>,
    separator: &'static str,
    /// The number of the original, and how many words were replaced.
    copied: Option<(u64, usize)>,
}

impl Document<'_> {
    fn text(&self) -> String {
        self.words.join(self.separator)
    }
}

/// Writes document `number` from the seed alone, so that a copy needs no memory of its original.
struct Author {
    seed: u64,
    near_share: f64,
    vocabulary: Vocabulary,
}

impl Author {
    /// The shares of words that a copy has replaced.
    const REPLACED: [f64; 5] = [0.0, 0.003, 0.01, 0.03, 0.1];
    /// How many words a text has.
    const LENGTH: Range<usize> = 100..600;

    /// The random numbers of one document, and whether it is a copy.
    fn start(&self, number: u64) -> (ChaCha8Rng, bool) {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        random.set_stream(number + 1);
        let copy = random.random_bool(self.near_share) && number > 0;
        (random, copy)
    }

    fn document(&self, number: u64) -> Document<'_> {
        match self.start(number) {
            (random, false) => self.original(random),
            (random, true) => self.copy(number, random),
        }
    }

    fn original(&self, mut random: ChaCha8Rng) -> Document<'_> {
        let (language, separator) = self.vocabulary.language(&mut random);
        let length = random.random_range(Author::LENGTH);
        let words = (0..length).map(|_| self.vocabulary.word(&language, &mut random)).collect();
        Document { words, separator, copied: None }
    }

    /// A copy of an earlier original: copies of copies would drift away from the pair we name.
    fn copy(&self, number: u64, mut random: ChaCha8Rng) -> Document<'_> {
        let (original, source) = loop {
            let earlier = random.random_range(0..number);
            if let (source, false) = self.start(earlier) {
                break (earlier, source);
            }
        };
        let mut document = self.original(source);
        let share = Author::REPLACED[random.random_range(0..Author::REPLACED.len())];
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
    /// What Mandelbrot added to a word's rank in Zipf's law. Larger than in books, so that the
    /// commonest words do not make strangers look alike.
    const SHIFT: f64 = 100.0;

    fn new(seed: u64) -> Vocabulary {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let english = (0..Vocabulary::HALF).map(|_| english(&mut random)).collect::<Vec<_>>();
        let chinese = (0..Vocabulary::HALF).map(|_| chinese(&mut random));
        Vocabulary(english.into_iter().chain(chinese).collect())
    }

    /// Which words a text draws on, and what stands between them: two texts in five are English,
    /// two Chinese and one mixed.
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
        let half = match language.len() == Vocabulary::SIZE {
            true => random.random_range(0..2) * Vocabulary::HALF,
            false => language.start,
        };
        let ratio = Vocabulary::HALF as f64 / Vocabulary::SHIFT + 1.0;
        let rank = Vocabulary::SHIFT * (ratio.powf(random.random::<f64>()) - 1.0);
        &self.0[half + (rank as usize).min(Vocabulary::HALF - 1)]
    }
}

/// One to four syllables.
fn english(random: &mut ChaCha8Rng) -> String {
    const ONSETS: [&str; 16] =
        ["b", "br", "c", "d", "f", "g", "gl", "h", "l", "m", "n", "p", "s", "st", "t", "w"];
    const RHYMES: [&str; 12] =
        ["a", "an", "ar", "e", "ed", "er", "i", "in", "o", "on", "ough", "um"];
    let syllables = random.random_range(1..5);
    let mut part = |parts: &[&'static str]| parts[random.random_range(0..parts.len())];
    (0..syllables).map(|_| [part(&ONSETS), part(&RHYMES)].concat()).collect()
}

/// One to three ideographs.
fn chinese(random: &mut ChaCha8Rng) -> String {
    let length = random.random_range(1..4);
    (0..length).map(|_| random.random_range('\u{4e00}'..='\u{9fa5}')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn author(near_share: f64) -> Author {
        Author { seed: 7, near_share, vocabulary: Vocabulary::new(7) }
    }

    #[test]
    fn a_copy_differs_from_its_original_in_no_more_words_than_it_says() {
        let author = author(0.5);
        let mut copies = 0;
        for number in 0..200 {
            let copy = author.document(number);
            let Some((original, replaced)) = copy.copied else { continue };
            let original = author.document(original);
            assert!(original.copied.is_none());
            assert_eq!(copy.words.len(), original.words.len());
            let differ = copy.words.iter().zip(&original.words).filter(|(a, b)| a != b).count();
            assert!(differ <= replaced, "{differ} > {replaced}");
            copies += 1;
        }
        assert!((70..130).contains(&copies), "{copies} of 200");
    }

    #[test]
    fn the_same_seed_writes_the_same_documents() {
        let (one, other) = (author(0.3), author(0.3));
        assert!((0..50).all(|number| one.document(number).text() == other.document(number).text()));
    }

    #[test]
    fn every_packing_appears_whole_and_none_is_replaced_unasked() {
        let folder = tempfile::tempdir().unwrap();
        let mut texts = Vec::new();
        for name in ["d.jsonl", "d.jsonl.gz", "d.jsonl.zst"] {
            let path = folder.path().join(name);
            write(&author(0.2), 20, &path, None, false).unwrap();
            assert!(write(&author(0.2), 20, &path, None, false).unwrap().1, "stood there already");
            let other = write(&author(0.3), 20, &path, None, false).unwrap_err();
            assert_eq!(other.kind(), Kind::Exists);
            let bytes = std::fs::read(&path).unwrap();
            texts.push(match name.rsplit('.').next() {
                Some("gz") => {
                    std::io::read_to_string(flate2::read::GzDecoder::new(&bytes[..])).unwrap()
                }
                Some("zst") => String::from_utf8(zstd::decode_all(&bytes[..]).unwrap()).unwrap(),
                _ => String::from_utf8(bytes).unwrap(),
            });
        }
        assert_eq!(texts[0].lines().count(), 20);
        assert!(texts.iter().all(|text| *text == texts[0]));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
    }
}
