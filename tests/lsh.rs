//! Buckets as a source of candidates: every family in one corpus, against the naive definition.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use dupsieve::document::Content;
use dupsieve::fingerprint::{PageTime, Width};
use dupsieve::lsh::Bands;
use serde_json::json;

use crate::support::Bench;
use crate::world::{mixed, page};

/// Sixty pages of ten texts; most copies have a few other words at the beginning.
fn texts() -> Vec<(String, String)> {
    let text = |page: u32, others| mixed(7919 * (page + 1), page % 10, others, 200);
    let page = |page| (format!("p{page:02}"), text(page, if page < 10 { 0 } else { page }));
    (0..60).map(page).collect()
}

fn vectors() -> Vec<(String, Vec<f64>)> {
    let vector = |number: u32| {
        let component = |at: u32| {
            let noise = f64::from((number * 31 + at * 17) % 13) / 40.0;
            if at == number % 8 { 2.0 + noise } else { noise }
        };
        (format!("v{number:02}"), (0..8).map(component).collect())
    };
    (0..40).map(vector).collect()
}

/// In how many bits the fingerprints of the batch of an output differ.
fn apart(bench: &Bench, ids: &[String]) -> impl Fn(usize, usize) -> u32 {
    let of: HashMap<String, u128> = bench.dump("out/batch.seg").into_iter().collect();
    let bits: Vec<u128> = ids.iter().map(|id| of[id]).collect();
    move |one, other| (bits[one] ^ bits[other]).count_ones()
}

/// The keep rule by its definition: in the order of their ids, documents are dropped if a kept one is similar enough, of those that share a
/// bucket with them or are within three bits. They name the most similar one. As the lines of verdicts.
fn expected(
    ids: &[String],
    shares: impl Fn(usize, usize) -> bool,
    apart: impl Fn(usize, usize) -> u32,
    similarity: impl Fn(usize, usize) -> f64,
    least: f64,
) -> Vec<String> {
    let near = |one, other| {
        (shares(one, other) || apart(one, other) <= 3) && similarity(one, other) >= least
    };
    let mut kept: Vec<usize> = Vec::new();
    for page in 0..ids.len() {
        if !kept.iter().any(|&other| near(page, other)) {
            kept.push(page);
        }
    }
    let verdict = |page: usize| {
        if kept.contains(&page) {
            return format!("{}\tkeep\t\t\t", ids[page]);
        }
        let near = kept.iter().copied().filter(|&other| near(page, other));
        let rounded = |other| (1e4 * similarity(page, other)).round() as u32;
        let best = near.min_by_key(|&other| (Reverse(rounded(other)), apart(page, other), other));
        let best = best.unwrap();
        format!("{}\tdrop\t{}\t{}\tbatch", ids[page], ids[best], apart(page, best))
    };
    (0..ids.len()).map(verdict).collect()
}

fn verdicts(bench: &Bench, output: &str) -> Vec<String> {
    bench.read(&format!("{output}/verdicts.tsv")).lines().skip(1).map(str::to_owned).collect()
}

/// Whether two documents share a key of these bands.
fn sharing(bands: &str, contents: Vec<Content<'_>>) -> impl Fn(usize, usize) -> bool {
    let mut sketches = bands.parse::<Bands>().unwrap().sketches(Width::W64, PageTime::default());
    let keys: Vec<Vec<u8>> = contents.iter().map(|it| sketches.of(it).unwrap().keys).collect();
    move |one, other| {
        keys[one].chunks(5).zip(keys[other].chunks(5)).any(|(one, other)| one == other)
    }
}

#[test]
fn similar_texts_are_dropped_as_the_definition_says() {
    let bench = Bench::new();
    let pages = texts();
    let lines = pages.iter().map(|(id, text)| page(id, text));
    bench.write("pages.jsonl", lines.collect::<String>());
    let runs: Vec<BTreeSet<Vec<&str>>> = pages
        .iter()
        .map(|(_, text)| {
            text.split(' ').collect::<Vec<_>>().windows(5).map(<[_]>::to_vec).collect()
        })
        .collect();
    let similarity = |one: usize, other: usize| {
        let shared = runs[one].intersection(&runs[other]).count() as f64;
        shared / runs[one].union(&runs[other]).count() as f64
    };
    let ids: Vec<String> = pages.iter().map(|page| page.0.clone()).collect();
    let contents = || pages.iter().map(|(_, text)| Content::Text(text.into())).collect();
    for (flags, bands, least) in [
        ("--similarity 0.7", "jaccard-22x5", 0.7),
        ("--similarity 0.5 --bands 40 --rows 3 --seed 7", "jaccard-40x3,seed:7", 0.5),
    ] {
        bench.done(&format!("lsh --input pages.jsonl --output out --overwrite {flags}"));
        let shares = sharing(bands, contents());
        let expected = expected(&ids, shares, apart(&bench, &ids), similarity, least);
        assert_eq!(verdicts(&bench, "out/dedup"), expected, "{flags}");
        assert!(expected.iter().filter(|it| it.contains("drop")).count() > 20);
    }
    // Ten other words at the beginning: 186 of 196 runs are left, of 196 + 196 - 186.
    let matches = bench.read("out/dedup/matches.tsv");
    assert!(matches.starts_with("new\texisting\tdistance\tagainst\tcheck\tverdict\n"), "{matches}");
    let row = matches.lines().find(|line| line.starts_with("p10\tp00\t")).unwrap();
    assert!(row.ends_with("\tbatch\t0.9029\tdrop"), "{row}");
    let ended = bench.done("verify out/dedup");
    assert_eq!(ended.count("made_again"), 60);
}

#[test]
fn vectors_are_compared_by_angle_and_by_distance_as_the_definition_says() {
    let bench = Bench::new();
    let vectors = vectors();
    let lines =
        vectors.iter().map(|(id, vector)| json!({ "id": id, "vector": vector }).to_string());
    bench.write("vectors.jsonl", lines.collect::<Vec<_>>().join("\n"));
    let ids: Vec<String> = vectors.iter().map(|it| it.0.clone()).collect();
    let contents = || vectors.iter().map(|it| Content::Vector(it.1.clone())).collect();
    let product = |one: usize, other: usize| -> f64 {
        vectors[one].1.iter().zip(&vectors[other].1).map(|(a, b)| a * b).sum()
    };
    let cosine = |a, b| product(a, b) / (product(a, a) * product(b, b)).sqrt();
    let squares = |a, b| product(a, a) + product(b, b) - 2.0 * product(a, b);
    let place = |a, b| 1.0 / (1.0 + f64::max(squares(a, b), 0.0).sqrt());
    type Similarity<'a> = &'a dyn Fn(usize, usize) -> f64;
    let similar: [(&str, &str, f64, Similarity<'_>); 2] = [
        ("--format vectors --similarity 0.97 --bands 40 --rows 2", "cosine-40x2", 0.97, &cosine),
        ("--family euclidean --similarity 0.6 --bands 20 --rows 2", "", 0.6, &place),
    ];
    for (flags, bands, least, similarity) in similar {
        bench.done(&format!("lsh {flags} --input vectors.jsonl --output out --overwrite"));
        let report = bench.report("out/dedup");
        let kept = report["recipe"]["bands"]["keys"].as_str().unwrap();
        assert!(bands.is_empty() || kept == bands, "{kept}");
        let shares = sharing(kept, contents());
        let expected = expected(&ids, shares, apart(&bench, &ids), similarity, least);
        assert_eq!(verdicts(&bench, "out/dedup"), expected, "{flags}");
        assert!(expected.iter().filter(|it| it.contains("drop")).count() > 5, "{expected:?}");
        bench.done("verify out/dedup");
    }
}
