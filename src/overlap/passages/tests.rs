//! Passages against their definition.

use std::collections::HashMap;
use std::env;

use proptest::prelude::*;

use super::tables::NumberedPage;
use super::*;
use crate::results::ResultFormat;
use crate::runs::Spool;

/// The passages of pages as they are defined: page, begin, end, words, and the page and the byte where the first window stood first.
fn defined(texts: &[Vec<&str>], size: usize, older: usize) -> Vec<[usize; 6]> {
    let mut first: HashMap<&[&str], [usize; 2]> = HashMap::new();
    let mut passages: Vec<[usize; 6]> = Vec::new();
    for (page, words) in texts.iter().enumerate() {
        let begin = |word: usize| words[..word].iter().map(|it| it.len() + 1).sum::<usize>();
        let mut last_repeated = None;
        for (at, window) in words.windows(size).enumerate() {
            let place = [page, begin(at)];
            let earlier = *first.entry(window).or_insert(place);
            if earlier == place || page < older {
                continue;
            }
            let end = begin(at + size) - 1;
            match passages.last_mut() {
                Some(passage) if last_repeated.is_some_and(|last: usize| last + 1 == at) => {
                    passage[2] = end;
                    passage[3] += 1;
                }
                _ => passages.push([page, begin(at), end, size, earlier[0], earlier[1]]),
            }
            last_repeated = Some(at);
        }
    }
    passages
}

/// What is found in a corpus, and how many windows are sorted for it.
fn found_in_corpus(
    pages: impl IntoIterator<Item = PageWords>,
    [size, memory_bytes, workers]: [usize; 3],
) -> (Vec<Passage>, u64) {
    let mut words = 0;
    let rows = (0..).zip(pages).map(|(page, of_page)| {
        words += of_page.hashes.len() as u64;
        let mut row = Vec::new();
        of_page.write(&mut row);
        Ok(NumberedPage { page, words: row })
    });
    let folder = env::temp_dir();
    let pages = Spool::write(&folder, rows).unwrap();
    let format = ResultFormat::default();
    let tables = PassageTables { size, format, folder: &folder, memory_bytes, workers };
    let finder = tables.windows_met_twice(&pages, words).unwrap();
    let taken = finder.taken();
    (finder.finish().unwrap().map(Result::unwrap).collect(), taken)
}

/// A page of these words, of three letters each.
fn page_of(hashes: Vec<u32>) -> PageWords {
    let mut page = PageWords::default();
    page.places = (0..hashes.len() as u32).map(|at| 4 * at..4 * at + 3).collect();
    page.hashes = hashes;
    page
}

fn row(passage: &Passage) -> [usize; 6] {
    let &Passage { page, begin, end, words, of, of_begin, .. } = passage;
    [page, begin, end, words, of, of_begin].map(|it| it as usize)
}

fn found(texts: &[Vec<&str>], [size, older, memory_bytes, workers]: [usize; 4]) -> Vec<[usize; 6]> {
    let finder = PassageFinder::new(size, older as u32, &env::temp_dir(), memory_bytes, workers);
    let mut words = PageWords::default();
    for (page, text) in (0..).zip(texts) {
        words.take(&text.join(" ")).unwrap();
        finder.take(page, &words).unwrap();
    }
    finder.finish().unwrap().map(|passage| row(&passage.unwrap())).collect()
}

proptest! {
    #[test]
    fn passages_are_those_of_the_definition(
        texts in prop::collection::vec(
            prop::collection::vec(prop::sample::select(vec!["a", "bee", "c", "día"]), 0..30), 0..6
        ),
        size in 1_usize..8,
        older in 0_usize..3,
        memory_bytes in prop::sample::select(vec![100_usize, 1 << 20]),
        workers in 1_usize..4,
    ) {
        prop_assert_eq!(found(&texts, [size, older, memory_bytes, workers]), defined(&texts, size, older));
        let pages = texts.iter().map(|text| {
            let mut page = PageWords::default();
            page.take(&text.join(" ")).unwrap();
            page
        });
        let (passages, _) = found_in_corpus(pages, [size, memory_bytes, workers]);
        let rows: Vec<_> = passages.iter().map(row).collect();
        prop_assert_eq!(rows, defined(&texts, size, 0));
    }
}

#[test]
fn a_word_many_times_is_one_passage() {
    let text = vec![vec!["again"; 200_000], vec!["again"; 50]];
    let found = found(&text, [50, 0, 1 << 20, 2]);
    assert_eq!(found, [[0, 6, 1_199_999, 199_999, 0, 0], [1, 0, 299, 50, 0, 0]]);
}

/// Pages of one template, in which each 80th word is another one: each passage of 79 words has 30 windows.
#[test]
fn pages_of_a_template_take_work_that_is_linear_in_them() {
    for pages in [1_000, 8_000] {
        let page = |page| {
            page_of(
                (1..=200)
                    .map(|at| if at % 80 == 0 { 1_000 + 201 * page + at } else { at })
                    .collect(),
            )
        };
        let (passages, sorted) = found_in_corpus((0..pages).map(page), [50, 16 << 20, 2]);
        assert_eq!(passages.len() as u32, 2 * (pages - 1));
        assert!(passages.iter().all(|passage| passage.of == 0 && passage.words == 79));
        let [repeated, all] = [2 * 30, 151].map(|windows| u64::from(pages * windows));
        assert!((repeated..repeated + all / 20).contains(&sorted), "{sorted} of {all}");
    }
}

/// All windows are met many times, and there is memory for one in six.
#[test]
fn periodic_texts_are_one_passage() {
    let pages = [1, 3].map(|period| page_of((0..200_000).map(|at| at % period).collect()));
    let (passages, sorted) = found_in_corpus(pages, [50, 2 << 20, 2]);
    assert_eq!(sorted, 2 * 199_951);
    let rows: Vec<_> = passages.iter().map(row).collect();
    assert_eq!(rows, [[0, 4, 799_999, 199_999, 0, 0], [1, 12, 799_999, 199_997, 1, 0]]);
}
