//! Verdicts by sketches are those of the keep rule with the sets of 3-word shingles: a page goes only if a page that stays contains nine tenths of it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::oracle::{CHANCE, Texts, containment, families, length_class, lines, shingles};
use crate::support::Bench;
use crate::world::{numbers, words};

/// Of each dropped page: the page that it is a duplicate of, and the share that is told.
type Verdicts = BTreeMap<String, Option<(String, f64)>>;

/// Checks what is told of pages against the rule as it is defined. The longest class comes first, then the ids: a page is kept if no kept page
/// before it contains nine tenths of it, unless it is not needed: a kept page contains nine tenths of it, and one of each page that it does.
/// A dropped page names the kept one that contains most. Within [`CHANCE`] of nine tenths both are right.
fn expect_the_rule(texts: &Texts, told: &Verdicts) {
    let sets: BTreeMap<&String, _> = texts.iter().map(|(id, text)| (id, shingles(text))).collect();
    let (kept, dropped): (Vec<&String>, Vec<&String>) =
        texts.keys().partition(|id| told[*id].is_none());
    let share = |of: &String, by: &String| containment(&sets[of], &sets[by]);
    let most = |of: &String, by: &dyn Fn(&String) -> bool| {
        let shares = kept.iter().filter(|it| **it != of && by(it)).map(|it| share(of, it));
        shares.fold(0.0, f64::max)
    };
    let place = |id: &String| (Reverse(length_class(sets[id].len())), id.clone());
    for id in &kept {
        let before = most(id, &|other| place(other) < place(id));
        assert!(before < 0.9 + CHANCE, "{id} is kept, and {before} of it is");
        let needs = |other: &String| {
            share(other, id) >= 0.9 - CHANCE && most(other, &|it| it != *id) < 0.9 + CHANCE
        };
        let covered = most(id, &|_| true);
        assert!(covered < 0.9 + CHANCE || dropped.iter().any(|it| needs(it)), "{id}: {covered}");
    }
    for id in dropped {
        let (of, told_share) = told[id].as_ref().unwrap();
        assert!(kept.contains(&of), "{id} is a duplicate of {of}, which is dropped");
        assert!(share(id, of) >= 0.9 - CHANCE, "{id} {of}");
        assert!((share(id, of) - told_share).abs() <= CHANCE, "{id} {of}: {told_share}");
        let most = most(id, &|_| true);
        assert!(share(id, of) >= most - 2.0 * CHANCE, "{id} {of}: {most} of it is in another page");
    }
}

fn told(bench: &Bench, output: &str) -> Verdicts {
    let verdict = |row: Vec<String>| {
        let of = (row[1] == "drop").then(|| (row[2].clone(), row[5].parse().unwrap()));
        (row[0].clone(), of)
    };
    bench.rows(&format!("{output}/verdicts.tsv")).into_iter().map(verdict).collect()
}

const DEDUP: &str = "dedup --keep first-id --input";

#[test]
fn verdicts_are_those_of_the_sets_of_shingles() {
    for seed in 1..4 {
        let bench = Bench::new();
        let texts = families(seed);
        bench.write("pages.jsonl", lines(&texts));
        bench.done(&format!("{DEDUP} pages.jsonl --matches all --output all"));
        bench.done(&format!("{DEDUP} pages.jsonl --output best"));
        // What is listed is contained, and all that is contained is listed.
        let sets: Vec<_> = texts.iter().map(|(id, text)| (id, shingles(text))).collect();
        let rows = bench.rows("all/dedup/matches.tsv");
        let listed: BTreeSet<[&str; 2]> = rows.iter().map(|row| [&*row[1], &*row[0]]).collect();
        for (at, (one, set)) in sets.iter().enumerate() {
            for (other, another) in &sets[at + 1..] {
                let most = containment(set, another).max(containment(another, set));
                let is_listed = listed.contains(&[one.as_str(), other.as_str()]);
                assert!(most >= 0.9 - CHANCE || !is_listed, "{one} {other}: {most}");
                assert!(most < 0.9 + CHANCE || is_listed, "{one} {other}: {most}");
            }
        }
        let found = told(&bench, "best/dedup");
        assert_eq!(told(&bench, "all/dedup"), found);
        expect_the_rule(&texts, &found);
        let (mut dropped, mut lacking) = (0.0, 0.0);
        for (id, of) in &found {
            let set = shingles(&texts[id]);
            let all = set.len() as f64;
            let share = of.as_ref().map(|(of, _)| containment(&set, &shingles(&texts[of])));
            dropped += share.map_or(0.0, |_| all);
            lacking += share.map_or(0.0, |share| (1.0 - share) * all);
        }
        let lost = bench.report("best/dedup")["lost"].clone();
        assert!((lost["share"].as_f64().unwrap() - lacking / dropped).abs() < 0.003, "{lost}");
        for output in ["all", "best"] {
            assert_eq!(
                bench.done(&format!("verify {output}")).count("made_again"),
                texts.len() as u64
            );
        }
    }
}

/// A short page that stands in one of hundreds of times its length most likely shares no anchor with it. Within a batch it is found.
#[test]
fn short_pages_in_much_longer_ones_are_found() {
    let bench = Bench::new();
    let mut random = numbers(5);
    let long =
        (0..4).map(|page| (format!("long-{page}"), words(page * 20_000..page * 20_000 + 8000)));
    let short = (0..80).map(|number| {
        let at = (number % 4) * 20_000 + random(7800) as usize;
        (format!("short-{number}"), words(at..at + 3 + number * 3 / 2))
    });
    let strangers = (0..20).map(|number| {
        (format!("other-{number}"), words(90_000 + number * 9..90_000 + number * 9 + 7))
    });
    let texts: Texts = long.chain(short).chain(strangers).collect();
    bench.write("pages.jsonl", lines(&texts));
    bench.done(&format!("{DEDUP} pages.jsonl --output one --workers 1"));
    bench.done(&format!("{DEDUP} pages.jsonl --output two --processes 2 --workers 2"));
    let found = told(&bench, "one/dedup");
    assert_eq!(bench.files("two/dedup")["verdicts.tsv"], bench.files("one/dedup")["verdicts.tsv"]);
    let stays = |id: &str| found[id].is_none();
    assert!(texts.keys().all(|id| stays(id) != id.starts_with("short-")), "{found:?}");
    expect_the_rule(&texts, &found);
    bench.done("verify one");
}
