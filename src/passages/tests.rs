//! Passages against their definition.

use std::collections::HashMap;
use std::env;

use proptest::prelude::*;

use super::*;

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

fn found(texts: &[Vec<&str>], size: usize, older: usize, memory_bytes: usize) -> Vec<[usize; 6]> {
    let mut finder = PassageFinder::new(size, older as u32, &env::temp_dir(), memory_bytes);
    let mut words = PageWords::default();
    for (page, text) in (0..).zip(texts) {
        words.take(&text.join(" ")).unwrap();
        finder.take(page, &words).unwrap();
    }
    let passages = finder.finish().unwrap().map(|passage| {
        let Passage { page, begin, end, words, of, of_begin, .. } = passage.unwrap();
        [page, begin, end, words, of, of_begin].map(|it| it as usize)
    });
    passages.collect()
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
    ) {
        prop_assert_eq!(found(&texts, size, older, memory_bytes), defined(&texts, size, older));
    }
}

#[test]
fn a_word_many_times_is_one_passage() {
    let text = vec![vec!["again"; 200_000], vec!["again"; 50]];
    let found = found(&text, 50, 0, 1 << 20);
    assert_eq!(found, [[0, 6, 1_199_999, 199_999, 0, 0], [1, 0, 299, 50, 0, 0]]);
}
