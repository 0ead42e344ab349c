//! MinHash signatures a second on one core: 112 hashes of sets that are hashed already, and of texts.
//!
//! ```text
//! cargo bench --bench signatures -- FILE [--times 3]
//! python3 bench-data/overlap_rivals.py signatures FOLDER
//! ```
//!
//! FILE has one JSON object with a `text` a line. Prints `name seconds signatures`, one line a way and round. The
//! second command measures rensa on the same texts.

use std::hint::black_box;
use std::time::Instant;

use dupsieve::rooms::document::Content;
use dupsieve::rooms::fingerprint::{PageTime, Width};
use dupsieve::rooms::lsh::{Banding, Bands, Family, MinHashes, Permutations, Space};

const BANDING: Banding = Banding { bands: 14, rows: 8 };

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    let times = match arguments.iter().position(|it| it == "--times") {
        Some(at) => arguments[at + 1].parse().expect("how many times"),
        None => 3,
    };
    let texts = read(&arguments[0]);
    let sets: Vec<Vec<u64>> = texts.iter().map(|text| elements(text)).collect();
    for _ in 0..times {
        for (name, permutations) in [("many", Permutations::Many), ("one", Permutations::One)] {
            report(&format!("sets, {name}"), sets.len(), || of_sets(&sets, permutations));
            report(&format!("texts, {name}"), texts.len(), || of_texts(&texts, permutations));
        }
    }
}

fn report(name: &str, count: usize, work: impl FnOnce()) {
    let start = Instant::now();
    work();
    println!("{name}\t{:.4}\t{count}", start.elapsed().as_secs_f64());
}

fn read(file: &str) -> Vec<String> {
    let lines = std::fs::read_to_string(file).expect("a file of lines");
    let text = |line| {
        let page: serde_json::Value = serde_json::from_str(line).expect("JSON");
        page["text"].as_str().expect("a text").to_owned()
    };
    lines.lines().map(text).collect()
}

/// As many numbers as the text has different runs of five words.
fn elements(text: &str) -> Vec<u64> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let hash = |run: &[&str]| xxhash_rust::xxh3::xxh3_64(run.join(" ").as_bytes());
    let mut elements: Vec<u64> = words.windows(5).map(hash).collect();
    elements.sort_unstable();
    elements.dedup();
    elements
}

fn of_sets(sets: &[Vec<u64>], permutations: Permutations) {
    let mut family = MinHashes::new(permutations, BANDING.hashes(), 0);
    let mut hashes = Vec::new();
    for set in sets {
        hashes.clear();
        family.hash(set, &mut hashes);
        black_box(&hashes);
    }
}

fn of_texts(texts: &[String], permutations: Permutations) {
    let bands = Bands { permutations, ..Bands::new(Space::Jaccard, BANDING) };
    let mut sketches = bands.sketches(Width::W64, PageTime::default());
    for text in texts {
        black_box(sketches.of(&Content::Text(text.into())).expect("a sketch"));
    }
}
