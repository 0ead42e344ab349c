//! The definition for texts: sets of shingles, and what contains what.

use std::collections::{BTreeMap, BTreeSet};
use std::iter;

use crate::world::{numbers, page};

/// Pages by their ids.
pub(crate) type Texts = BTreeMap<String, String>;

pub(crate) type ShingleSet = BTreeSet<Vec<String>>;

/// How far a share by sketches may be from the exact one: of two texts a shingle or two have a hash in common by chance.
pub(crate) const CHANCE: f64 = 0.01;

/// Pages of some families: each a text in versions, with words left out, changed and added, so that many shares are close to nine tenths. Some have a copy.
pub(crate) fn families(seed: u64) -> Texts {
    let mut random = numbers(seed);
    let mut texts = Texts::new();
    for family in 0..8 {
        let length = 120 + random(300);
        let words: Vec<String> = (0..length).map(|at| format!("w{family}x{at}")).collect();
        for version in 0..12 {
            let mut words = words.clone();
            for _ in 0..random(6) {
                let at = random(words.len() as u64) as usize;
                words[at] = format!("v{family}x{version}x{at}");
            }
            let from = random(length / 12) as usize;
            words.drain(..from);
            let more = random(length / 5);
            words.extend((0..more).map(|at| format!("m{family}x{}x{at}", version % 3)));
            let text = words.join(" ");
            if random(6) == 0 {
                texts.insert(format!("c{version:02}-{family}"), text.clone());
            }
            texts.insert(format!("p{:02}-{family}", (version * 7 + family) % 97), text);
        }
    }
    texts
}

pub(crate) fn lines<'a>(texts: impl IntoIterator<Item = (&'a String, &'a String)>) -> String {
    texts.into_iter().map(|(id, text)| page(id, text)).collect()
}

/// The runs of three words. An ideograph is a word.
pub(crate) fn shingles(text: &str) -> ShingleSet {
    let mut words = vec![String::new()];
    for letter in text.to_lowercase().chars() {
        match letter {
            '\u{3400}'..='\u{9fff}' if words.last().unwrap().is_empty() => {
                words.extend([letter.to_string(), String::new()]);
            }
            _ if letter.is_alphanumeric() => words.last_mut().unwrap().push(letter),
            _ => words.push(String::new()),
        }
    }
    words.retain(|word| !word.is_empty());
    words.windows(3).map(<[String]>::to_vec).collect()
}

/// The share of the shingles of one text that another one has.
pub(crate) fn containment(one: &ShingleSet, other: &ShingleSet) -> f64 {
    one.intersection(other).count() as f64 / one.len() as f64
}

/// The class of a length in shingles: each class begins a tenth above the one before.
pub(crate) fn length_class(shingles: usize) -> usize {
    let begins = iter::successors(Some(0), |&begin| Some(begin + (begin / 10).max(1)));
    begins.take_while(|&begin| begin <= shingles).count()
}
