//! Clusters: stars are what the verdicts of the days say, and damage in a state is told.

use std::fs;

use rand::prelude::*;
use rand_chacha::ChaCha8Rng;

use crate::support::Bench;

const DAYS: [&str; 4] = ["2026-11-18", "2026-11-19", "2026-11-20", "2026-11-21"];

/// Ids that a careless reader would split, quote, fold or sort as people do.
fn id(number: u64) -> String {
    let odd = ["\"a\"", "狐 狸", "É", "e", "E", "-x", "#", "http://h/?q=a+b&c=%09", "' OR 1"];
    match odd.get(number as usize) {
        Some(id) => (*id).to_owned(),
        None => format!("p{number}"),
    }
}

/// Days of pages around a few fingerprints, many of them crawled again with other contents, taken through `run`.
fn crawled(seed: u64, add: &str) -> Bench {
    let bench = Bench::new();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let centres: Vec<u64> = (0..6).map(|_| random.random()).collect();
    for day in DAYS {
        let mut text = String::new();
        let pages: Vec<u64> = (0..40).filter(|_| random.random_bool(0.4)).collect();
        for page in pages {
            let mut bits = centres[random.random_range(0..centres.len())];
            (0..random.random_range(0..5)).for_each(|_| bits ^= 1 << random.random_range(0..12));
            text += &format!("{}\t{bits:#x}\n", id(page));
        }
        bench.write(&format!("in/{day}.tsv"), text);
    }
    bench.write(
        "days.toml",
        format!(
            "inputs = [\"in/{{date}}.tsv\"]\noutput = \"out/{{date}}\"\nstore = \"out/store\"\n\
             add = \"{add}\"\ndates = {DAYS:?}\n[fingerprint]\nformat = \"fingerprints\"\n\
             [dedup]\ndistance = 3\nmatches = \"all\"\n"
        ),
    );
    bench.done("run days.toml");
    bench
}

fn rows(bench: &Bench, file: &str) -> Vec<String> {
    bench.read(file).lines().skip(1).map(str::to_owned).collect()
}

#[test]
fn stars_are_what_the_verdicts_say() {
    let bench = crawled(3, "kept");
    let all = DAYS.map(|day| format!("out/{day}")).join(" ");
    bench.done(&format!("cluster --matches {all} --output stars"));
    let mut expected: Vec<(String, String, String)> = Vec::new();
    for day in DAYS {
        for row in rows(&bench, &format!("out/{day}/dedup/verdicts.tsv")) {
            let [id, verdict, of, _, against] = row.split('\t').collect::<Vec<_>>()[..] else {
                panic!()
            };
            if verdict == "drop" {
                let kept = if against == "batch" { day } else { against };
                expected.push((id.to_owned(), day.to_owned(), of.to_owned()));
                expected.push((of.to_owned(), kept.to_owned(), of.to_owned()));
            }
        }
    }
    expected.sort();
    expected.dedup();
    let expected: Vec<String> =
        expected.iter().map(|(id, day, cluster)| format!("{id}\t{cluster}\t{day}")).collect();
    assert!(expected.len() > 20);
    assert_eq!(rows(&bench, "stars/clusters.tsv"), expected);
}

#[test]
fn damage_is_found_wherever_it_is() {
    let bench = crawled(11, "kept");
    let [first, second] = [DAYS[0], DAYS[1]];
    bench.done(&format!("cluster --matches out/{first} --output one --method components"));
    bench.done("verify one");
    let next = format!("cluster --matches out/{second} --previous one --output two");
    // The next day reads nothing from the lists again, nor from report.html.
    for name in ["pages.bin", "links.bin", "report.json"] {
        let path = bench.path(&format!("one/{name}"));
        let whole = fs::read(&path).unwrap();
        for at in [0, whole.len() / 2, whole.len() - 1] {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            fs::write(&path, &bytes).unwrap();
            bench.fails(65, &next);
        }
        fs::write(&path, &whole[..whole.len() / 2]).unwrap();
        bench.fails(65, &next);
        fs::remove_file(&path).unwrap();
        bench.fails(if name == "report.json" { 65 } else { 66 }, &next);
        fs::write(&path, &whole).unwrap();
    }
    let matches = bench.path(&format!("out/{second}/dedup/verdicts.tsv"));
    let whole = fs::read_to_string(&matches).unwrap();
    fs::write(&matches, whole.replacen("drop", "keep", 1)).unwrap();
    bench.fails(65, &next);
    fs::write(&matches, whole).unwrap();
    bench.done(&next);
    assert!(!bench.path("two.failed.json").exists());
}
