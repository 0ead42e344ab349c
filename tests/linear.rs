//! Time linear in the length of a page, whatever it holds: hostile texts of two lengths, one four
//! times as long as the other, by every way in which the library takes a text; and pages that take too long.

use std::ops::RangeInclusive;

use dupsieve::fingerprint::{Check, Recipe};
use dupsieve::progress;
use rand::prelude::*;
use rand_chacha::ChaCha8Rng;

use crate::readers::texts::{self, Way};
use crate::support::Bench;

/// The shorter length, in bytes.
const LENGTH: usize = 48 << 10;

/// What is repeated to make a text, with bars between: openings without an end, words without an end, and characters that
/// make libraries look ahead or look back.
const REPEATED: [&str; 8] = [
    "<!--|<!-- -->|<|<a|<a |</|<////|<a>|<!|-->",
    "&|&amp|&#|&a;",
    "http:|https://a |http://|](|](a |](a\n|](a)|[a](<!--&",
    "a|A|a |aB1_|1|1 |12/|2024-02-|2024年|年 |May |1 May |Jan 1, ",
    "一二|中|的|中国|的 ",
    "\u{300}|e\u{301}\u{327}|a\u{345}\u{301}\u{5b0}|\u{1100}|\u{1100}\u{1161}|\u{fdfa}|Ａ|İ|Σ",
    "a\u{200d}|😀\u{200d}|🇩",
    "a:|a.|1,|א\"|_| |\n|。|. |\0",
];

/// A text of about so many bytes of characters drawn from a range, in words of `word` characters, or in
/// one where that is 0.
fn drawn(range: RangeInclusive<char>, word: usize, bytes: usize) -> String {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut text = String::with_capacity(bytes);
    let mut characters = 0;
    while text.len() < bytes {
        text.push(random.random_range(range.clone()));
        characters += 1;
        if word > 0 && characters % word == 0 {
            text.push(' ');
        }
    }
    text
}

fn hostile(bytes: usize) -> Vec<(String, String)> {
    let repeated = |unit: &str| unit.repeat(bytes / unit.len());
    let units = REPEATED.iter().flat_map(|units| units.split('|'));
    let named = units.map(|unit| (format!("{unit:?}"), repeated(unit)));
    let drawn = [
        ("letters", drawn('a'..='z', 0, bytes)),
        ("words", drawn('a'..='z', 5, bytes)),
        ("ideographs", drawn('一'..='龥', 0, bytes)),
        ("pairs of ideographs", drawn('一'..='龥', 2, bytes)),
        ("combining marks", drawn('\u{300}'..='\u{36f}', 0, bytes)),
        ("characters", drawn('\0'..='\u{2ffff}', 0, bytes)),
        ("an end at last", format!("{}-->)>;", repeated("<!--](a <b&"))),
    ];
    named.chain(drawn.map(|(name, text)| (name.to_owned(), text))).collect()
}

fn hold(ways: &[Way]) {
    let mut late = Vec::new();
    for ((name, short), (_, long)) in hostile(LENGTH).into_iter().zip(hostile(4 * LENGTH)) {
        let too_long = ways.iter().filter_map(|way| way.too_long([&short, &long]));
        late.extend(too_long.map(|told| format!("{name} by {told}")));
    }
    assert!(late.is_empty(), "{}", late.join("\n"));
}

#[test]
fn named_recipes() {
    let ways = texts::named();
    assert_eq!(ways.len(), 7);
    hold(&ways);
}

#[test]
fn weights() {
    hold(&texts::weights());
}

#[test]
fn features_and_normalisers() {
    hold(&texts::features());
}

#[test]
fn checks_and_comparisons() {
    hold(&texts::checks());
}

/// A character that NFKC takes apart into eighteen, in a page of about a MiB, makes six million shingles of 64 characters, and MD5 takes
/// some three seconds for them.
#[test]
fn a_page_that_takes_too_long_is_quarantined_with_its_id() {
    let bench = Bench::new();
    let recipe = include_str!("../src/text/fingerprint/recipe/plain_words.toml")
        .replace("\"words\"\nhmm = true", "\"character-shingles\"\nlength = 64")
        .replace("\"xxh3\"", "\"md5\"");
    bench.write("slow.toml", recipe);
    let long = "\u{fdfa}".repeat(345_000);
    let pages = format!(
        "{{\"id\":\"slow\",\"text\":\"{long}\"}}\n{{\"id\":\"quick\",\"text\":\"a page\"}}\n"
    );
    bench.write("pages.jsonl", pages);
    let line = "fingerprint --recipe slow.toml --input pages.jsonl --max-bad 1";
    let ended = bench.done(&format!("{line} --page-time 1 --output short.seg"));
    assert_eq!((ended.count("fingerprinted"), ended.count("quarantined")), (1, 1));
    let listed = bench.read("short.seg.quarantine.tsv");
    let row = listed.lines().nth(1).unwrap();
    for part in ["pages.jsonl\t1\t", "the page takes too long", "\"slow\"", "`page-time`"] {
        assert!(row.contains(part), "{row}");
    }
}

/// The stall deadline sees that work goes on inside a long page.
#[test]
fn a_long_page_gives_signs_of_progress() {
    let words = drawn('a'..='z', 5, 6 << 20);
    let recipe = Recipe::named("words-1", None).unwrap();
    let check: Check = "minhash".parse().unwrap();
    let takes: [&dyn Fn(); 2] =
        [&|| assert!(recipe.sketcher().unwrap().text(&words).unwrap().is_some()), &|| {
            check.signer().sign(&words, &mut Vec::new()).unwrap()
        }];
    for take in takes {
        let before = progress::own_ticks();
        take();
        assert!(progress::own_ticks() >= before + 200);
    }
}
