//! The cost of features and fingerprints on one core, compared with jieba-rs that only cuts the same texts
//! into words.
//!
//! ```text
//! cargo bench --bench features -- [--times 3] [--recipes jieba-rs+words-1+my.toml] FILE...
//! ```
//!
//! Each file has one JSON object with a `text` a line. Prints `name file seconds megabytes`, one line a
//! recipe and round. A recipe is given by its name or its file; `jieba-rs` is one more name.
//!
//! The clock is read by hand and not by `criterion`: the recipes take turns, so that a change of the
//! machine's speed affects all of them, and `features.py` reads the lines beside those of other programs.

use std::hint::black_box;
use std::time::Instant;

use dupsieve::fingerprint::Recipe;
use jieba_rs::Jieba;

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let mut times = 3;
    let mut recipes = "jieba-rs+words-1".to_owned();
    let mut files = Vec::new();
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().expect("a value");
        match argument.as_str() {
            "--times" => times = value().parse().expect("how many times"),
            "--recipes" => recipes = value(),
            _ => files.push(argument),
        }
    }
    for file in &files {
        let texts = read(file);
        let megabytes = texts.iter().map(String::len).sum::<usize>() as f64 / 1e6;
        for _ in 0..times {
            for name in recipes.split('+') {
                let seconds = measure(name, &texts);
                println!("{name}\t{file}\t{seconds:.4}\t{megabytes:.3}");
            }
        }
    }
}

fn read(file: &str) -> Vec<String> {
    let lines = std::fs::read_to_string(file).expect("a file of lines");
    let text = |line| {
        let page: serde_json::Value = serde_json::from_str(line).expect("JSON");
        page["text"].as_str().expect("a text").to_owned()
    };
    lines.lines().map(text).collect()
}

/// How long a recipe, or jieba alone, takes over the texts; what is loaded once is loaded before.
fn measure(name: &str, texts: &[String]) -> f64 {
    let jieba = (name == "jieba-rs").then(Jieba::new);
    let choice = || {
        if name.ends_with(".toml") {
            Recipe::from_toml(&std::fs::read_to_string(name).expect("a recipe"))
        } else {
            Recipe::named(name, None)
        }
    };
    let mut sketcher =
        jieba.is_none().then(|| choice().and_then(|it| it.sketcher()).expect("a recipe"));
    if let Some(sketcher) = &mut sketcher {
        sketcher.text("中文 words").expect("text");
    }
    let start = Instant::now();
    for text in texts {
        match (&jieba, &mut sketcher) {
            (Some(jieba), _) => drop(black_box(jieba.cut(black_box(text), true))),
            (None, Some(sketcher)) => drop(black_box(sketcher.text(black_box(text)))),
            (None, None) => unreachable!("one of the two"),
        }
    }
    start.elapsed().as_secs_f64()
}
