//! Verdicts by sketches are those of the keep rule with the sets of 3-word shingles: a page goes only if a page that stays contains nine tenths of it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::proof::forge_in;
use crate::support::Bench;

/// Pages by their ids.
pub(crate) type Texts = BTreeMap<String, String>;

/// Of each page that goes: in favour of which page, and the share that is told.
type Verdicts = BTreeMap<String, Option<(String, f64)>>;

/// Random numbers below a bound, the same ones for a seed.
fn numbers(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed;
    move |below| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (state >> 33) % below
    }
}

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
    let line =
        |(id, text): (&String, &String)| format!("{{\"id\":\"{id}\",\"text\":\"{text}\"}}\n");
    texts.into_iter().map(line).collect()
}

/// The runs of three words.
fn runs(text: &str) -> BTreeSet<Vec<&str>> {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.windows(3).map(<[&str]>::to_vec).collect()
}

/// The share of the runs of one text that another one has.
fn held(one: &str, other: &str) -> f64 {
    let [one, other] = [one, other].map(runs);
    one.intersection(&other).count() as f64 / one.len() as f64
}

/// The class of a length: those within a tenth are one.
fn class(text: &str) -> usize {
    let next = |&begin: &usize| Some(begin + (begin / 10).max(1));
    let length = runs(text).len();
    std::iter::successors(Some(0), next).take_while(|&begin| begin <= length).count()
}

fn cells(table: &str) -> impl Iterator<Item = Vec<&str>> {
    table.lines().skip(1).map(|line| line.split('\t').collect())
}

/// How far a share by sketches may be from the exact one: of two texts a shingle or two have a hash in common by chance.
const CHANCE: f64 = 0.01;

/// Checks what is told of pages against the rule as it is defined. The longest class comes first, then the ids: a page goes if a page that stays
/// contains nine tenths of it, and names the one that contains most. Within [`CHANCE`] of nine tenths both are right.
fn expect_the_rule(texts: &Texts, told: &Verdicts) {
    let kept: Vec<&String> = told.iter().filter(|it| it.1.is_none()).map(|it| it.0).collect();
    let mut order: Vec<&String> = texts.keys().collect();
    order.sort_by_key(|id| (Reverse(class(&texts[*id])), *id));
    let place: BTreeMap<&String, usize> = order.iter().copied().zip(0..).collect();
    for id in order {
        let share = |other: &String| held(&texts[id], &texts[other]);
        let before = kept.iter().filter(|other| place[**other] < place[id]);
        let most_before = before.map(|other| share(other)).fold(0.0, f64::max);
        let Some((of, told_share)) = &told[id] else {
            assert!(most_before < 0.9 + CHANCE, "{id} is kept, and {most_before} of it is");
            continue;
        };
        assert!(most_before >= 0.9 - CHANCE, "{id} is dropped, and {most_before} of it is kept");
        assert!(kept.contains(&of), "{id} goes in favour of {of}, which is dropped");
        assert!((share(of) - told_share).abs() <= CHANCE, "{id} {of}: {told_share}");
        let most =
            kept.iter().filter(|other| **other != id).map(|other| share(other)).fold(0.0, f64::max);
        assert!(share(of) >= most - 2.0 * CHANCE, "{id} {of}: {most} of it is in another page");
    }
}

/// What an output says.
fn told(bench: &Bench, output: &str) -> Verdicts {
    let table = bench.read(&format!("{output}/verdicts.tsv"));
    let verdict = |row: Vec<&str>| {
        let of = (row[1] == "drop").then(|| (row[2].to_owned(), row[5].parse().unwrap()));
        (row[0].to_owned(), of)
    };
    cells(&table).map(verdict).collect()
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
        let matches = bench.read("all/dedup/matches.tsv");
        let listed: BTreeSet<[&str; 2]> = cells(&matches).map(|row| [row[1], row[0]]).collect();
        for (one, text) in &texts {
            for (other, another) in texts.range(one.clone()..).skip(1) {
                let most = held(text, another).max(held(another, text));
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
            let all = runs(&texts[id]).len() as f64;
            let share = of.as_ref().map(|(of, _)| held(&texts[id], &texts[of]));
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
    // Words of letters, since fingerprints see no figures.
    let letter = |digit: u8| char::from(digit - b'0' + b'a');
    let word = |number: usize| number.to_string().bytes().map(letter).collect::<String>() + " ";
    let words = |page: usize, count: usize| -> String {
        (0..count).map(|at| word((page * 1000 + at) * 7919)).collect()
    };
    let short: Texts = (0..20).map(|page| (format!("a-{page}"), words(page, 300))).collect();
    let long: Texts =
        (0..20).map(|page| (format!("b-{page}"), words(page, 330 + 3 * page))).collect();
    bench.write("old.jsonl", lines(&long));
    bench.write("new.jsonl", lines(&short));
    bench.write("both.jsonl", lines(&long) + &lines(&short));
    for name in ["old", "new", "both"] {
        bench.done(&format!("fingerprint --input {name}.jsonl --output {name}.seg"));
    }
    bench.done("store init store");
    bench.done("store add store --segment old.seg --day 2026-11-20");
    bench.done("dedup --batch both.seg --output both");
    bench.done("dedup --batch new.seg --store store --output new");
    for output in ["both", "new"] {
        let found: Verdicts =
            told(&bench, output).into_iter().filter(|it| it.1.is_some()).collect();
        let expected = (0..20).map(|page| (format!("a-{page}"), Some((format!("b-{page}"), 1.0))));
        assert_eq!(found, expected.collect(), "{output}");
        let table = bench.read(&format!("{output}/verdicts.tsv"));
        let far =
            cells(&table).filter(|row| row[3].parse::<u32>().is_ok_and(|distance| distance > 3));
        assert!(far.count() > 0, "the fingerprints find all of them");
        bench.done(&format!("verify {output}"));
    }
}

/// The bytes do not depend on how the inputs are divided, on the workers and on the processes. Of records with one id the first counts.
#[test]
fn the_same_verdicts_come_of_any_files_workers_and_processes() {
    let bench = Bench::new();
    let texts = families(7);
    let half = texts.len() / 2;
    let again = texts.keys().map(|id| format!("{{\"id\":\"{id}\",\"text\":\"another text\"}}\n"));
    let second = lines(texts.iter().skip(half));
    let empty = "{\"id\":\"nothing\",\"text\":\"\"}\n".repeat(2);
    bench.write("one.jsonl", lines(&texts) + &empty + "no record\n");
    bench.write("many/a.jsonl", lines(texts.iter().take(half)) + &empty);
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(second.as_bytes()).unwrap();
    bench.write("many/b.jsonl.gz", packed.finish().unwrap());
    bench.write("many/c.jsonl", again.collect::<String>() + "no record\n");
    let made = |name: &str, inputs: &str, flags: &str| {
        let flags = format!("--max-bad 5 --max-repeated 100% {flags} --memory 64MiB");
        bench.done(&format!("{DEDUP} {inputs} {flags} --output {name}"));
        bench.done(&format!("verify {name}"));
        bench.read(&format!("{name}/dedup/verdicts.tsv"))
    };
    let expected = made("one", "one.jsonl", "--workers 1");
    assert!(expected.lines().any(|line| line.contains("\tdrop\t")));
    assert!(expected.contains("nothing\tempty\t"));
    for (name, flags) in
        [("w1", "--workers 1"), ("w3", "--workers 3"), ("p2", "--processes 2 --workers 2")]
    {
        assert_eq!(made(name, "many", flags), expected, "{name}");
    }
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
        assert!(found[of].is_none(), "{id} goes in favour of {of}, which is dropped");
        let exact = held(&texts[id], &texts[of]);
        assert!(exact >= 0.9 - CHANCE && (exact - share).abs() <= CHANCE, "{id} {of}: {exact}");
    }
    assert!(dropped > 20, "{dropped}");
    bench.done("verify best");
}

/// A template whose numbers differ: as many pages of one fingerprint and of the same anchors. Each is compared with so many others, however many there
/// are.
#[test]
fn pages_of_one_template_take_linear_time() {
    let bench = Bench::new();
    let words: String = (0..200).map(|at| format!("word{at} ")).collect();
    let page = |page: usize| {
        let figures: String =
            (0..40).map(|at| format!("{} ", page * 1000 + at * 7 % 1000)).collect();
        format!("{{\"id\":\"page-{page:04}\",\"text\":\"{words}{figures}\"}}\n")
    };
    let joined = |pages: usize| {
        bench.write("pages.jsonl", (0..pages).map(page).collect::<String>());
        bench.done(&format!("fingerprint --input pages.jsonl --output {pages}.seg"));
        let join = format!("dedup --batch {pages}.seg --workers 1 --output out-{pages}");
        let ended = bench.done(&join);
        assert_eq!(ended.count("kept"), pages as u64, "the figures of each are its own");
        assert!(bench.report(&format!("out-{pages}"))["outcome"]["left_out"].as_u64().unwrap() > 0);
        ended.worked
    };
    let [few, many] = [2000, 8000].map(joined);
    assert!(many.as_secs_f64() < 4.6 * few.as_secs_f64(), "{few:?} {many:?}");
}

/// A share that is false by a hundredth is found.
#[test]
fn a_forged_share_is_found_out() {
    let bench = Bench::new();
    bench.write("pages.jsonl", lines(&families(3)));
    bench.done(&format!("{DEDUP} pages.jsonl --output out"));
    let table = bench.read("out/dedup/verdicts.tsv");
    let row = cells(&table).find(|row| row[1] == "drop" && row[5] < "0.9900").unwrap();
    let forged = format!("{:.4}", row[5].parse::<f64>().unwrap() + 0.0001);
    let mut other = row.clone();
    other[5] = &forged;
    let files = [("verdicts.tsv", &*row.join("\t"), &*other.join("\t"))];
    forge_in(&bench, ("out/dedup", "outcome"), &files, |_| ());
    let said = bench.fails(65, "verify out");
    assert!(said.contains("made again, the output has another `verdicts.tsv`"), "{said}");
}
