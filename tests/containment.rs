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

/// A page that is written on in another one is found however far apart the fingerprints are: of a batch, and of a store.
#[test]
fn what_is_contained_is_found_by_anchors() {
    let bench = Bench::new();
    let page = |name: &str, page: usize, more: usize| {
        (format!("{name}-{page}"), words(page * 1000..page * 1000 + 300 + more))
    };
    let short: Texts = (0..20).map(|number| page("a", number, 0)).collect();
    let long: Texts = (0..20).map(|number| page("b", number, 30 + 3 * number)).collect();
    bench.write("old.jsonl", lines(&long));
    bench.write("new.jsonl", lines(&short));
    bench.write("both.jsonl", lines(&long) + &lines(&short));
    for name in ["old", "new", "both"] {
        bench.fingerprint(name, "");
    }
    bench.store(&[("2026-11-20", "old")]);
    bench.done("dedup --batch both.seg --output both");
    bench.done("dedup --batch new.seg --store store --output new");
    for output in ["both", "new"] {
        let found: Verdicts =
            told(&bench, output).into_iter().filter(|it| it.1.is_some()).collect();
        let expected = (0..20).map(|page| (format!("a-{page}"), Some((format!("b-{page}"), 1.0))));
        assert_eq!(found, expected.collect(), "{output}");
        let rows = bench.rows(&format!("{output}/verdicts.tsv"));
        let far = rows.iter().filter(|row| row[3].parse::<u32>().is_ok_and(|it| it > 3));
        assert!(far.count() > 0, "the fingerprints find all of them");
        bench.done(&format!("verify {output}"));
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

/// A hundred and fifty versions of one page, each with words of its own.
fn crowd() -> Texts {
    let mut random = numbers(11);
    let words: Vec<String> = (0..200).map(|at| format!("word{at}")).collect();
    let pages = (0..150).map(|page| {
        let mut words = words.clone();
        for _ in 0..random(14) {
            words[random(200) as usize] = format!("new{}", random(40));
        }
        (format!("page-{page:03}"), words.join(" "))
    });
    pages.collect()
}

/// Near pages by the hundred are a crowd, whose pairs are not all listed. A page of it has more near pages than it is compared with, so some
/// that could go may stay, and none goes that should stay.
#[test]
fn a_crowd_loses_nothing() {
    let bench = Bench::new();
    let texts = crowd();
    bench.write("pages.jsonl", lines(&texts));
    bench.done(&format!("{DEDUP} pages.jsonl --output best"));
    let found = told(&bench, "best/dedup");
    let mut dropped = 0;
    for (id, of) in &found {
        let Some((of, share)) = of else { continue };
        dropped += 1;
        assert!(found[of].is_none(), "{id} is a duplicate of {of}, which is dropped");
        let exact = containment(&shingles(&texts[id]), &shingles(&texts[of]));
        assert!(exact >= 0.9 - CHANCE && (exact - share).abs() <= CHANCE, "{id} {of}: {exact}");
    }
    assert!(dropped > 20, "{dropped}");
    bench.done("verify best");
}
