//! Where the texts are at hand, pages of a batch are compared by them: the verdicts are those of exact shares.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

use crate::proof::forge_in;
use crate::support::Bench;

/// Pages by their ids.
type Texts = BTreeMap<String, String>;

/// Random numbers below a bound, the same ones for a seed.
fn numbers(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed;
    move |below| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (state >> 33) % below
    }
}

/// Pages of some families: each a text in versions, with words left out, changed and added, so that many shares are close to nine tenths. Some have a copy.
fn families(seed: u64) -> Texts {
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

fn lines<'a>(texts: impl IntoIterator<Item = (&'a String, &'a String)>) -> String {
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

/// A share to four decimals, rounded half up.
fn rounded(share: f64) -> String {
    format!("{:.4}", (share * 1e4 + 0.5).floor() / 1e4)
}

/// The verdicts of the rule as it is defined, among the pairs that `matches` lists: the longest class first, then by id; a page goes if a page
/// that stays holds nine tenths of it, and names the one that holds most.
fn verdicts(texts: &Texts, matches: &str) -> BTreeMap<String, Option<(String, String)>> {
    let mut near: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for row in cells(matches) {
        near.entry(row[0]).or_default().push((row[1], row[2]));
        near.entry(row[1]).or_default().push((row[0], row[2]));
    }
    let mut order: Vec<&String> = texts.keys().collect();
    order.sort_by_key(|id| (Reverse(class(&texts[*id])), *id));
    let mut kept = BTreeSet::new();
    let mut dropped = Vec::new();
    for id in order {
        let others = near.get(id.as_str()).into_iter().flatten();
        let mut held_by = others.filter(|it| held(&texts[id], &texts[it.0]) >= 0.9);
        if held_by.any(|it| kept.contains(it.0)) {
            dropped.push(id);
        } else {
            kept.insert(id.as_str());
        }
    }
    let mut verdicts: BTreeMap<_, _> = kept.iter().map(|id| ((*id).to_owned(), None)).collect();
    for id in dropped {
        let stay = near[id.as_str()].iter().filter(|it| kept.contains(it.0));
        let best = stay.map(|(other, distance)| {
            let share = held(&texts[id], &texts[*other]);
            (Reverse(rounded(share)), distance.parse::<u32>().unwrap(), *other, share)
        });
        let best = best.min_by(|a, b| (&a.0, a.1, a.2).cmp(&(&b.0, b.1, b.2))).unwrap();
        verdicts.insert(id.clone(), Some((best.2.to_owned(), rounded(best.3))));
    }
    verdicts
}

/// What an output says.
fn told(bench: &Bench, output: &str) -> BTreeMap<String, Option<(String, String)>> {
    let table = bench.read(&format!("{output}/verdicts.tsv"));
    let verdict = |row: Vec<&str>| {
        let of = (row[1] == "drop").then(|| (row[2].to_owned(), row[5].to_owned()));
        (row[0].to_owned(), of)
    };
    cells(&table).map(verdict).collect()
}

const DEDUP: &str = "dedup --keep first-id --distance 15 --input";

#[test]
fn verdicts_are_those_of_exact_shares() {
    for seed in 1..4 {
        let bench = Bench::new();
        let texts = families(seed);
        bench.write("pages.jsonl", lines(&texts));
        bench.done(&format!("{DEDUP} pages.jsonl --matches all --output all"));
        bench.done(&format!("{DEDUP} pages.jsonl --output best"));
        let matches = bench.read("all/dedup/matches.tsv");
        // What is listed matches by the texts, and little that matches is not listed.
        let listed: BTreeSet<[&str; 2]> = cells(&matches).map(|row| [row[1], row[0]]).collect();
        let mut matching = 0;
        for (one, text) in &texts {
            for (other, another) in texts.range(one.clone()..).skip(1) {
                let holds = held(text, another) >= 0.9 || held(another, text) >= 0.9;
                matching += usize::from(holds);
                assert!(
                    holds || !listed.contains(&[one.as_str(), other.as_str()]),
                    "{one} {other}"
                );
            }
        }
        assert!(listed.len() * 100 >= matching * 95, "{} of {matching}", listed.len());
        let expected = verdicts(&texts, &matches);
        assert_eq!(told(&bench, "best/dedup"), expected);
        assert_eq!(told(&bench, "all/dedup"), expected);
        let dropped = expected.values().flatten().count();
        let lost = bench.report("best/dedup")["lost"].clone();
        assert_eq!((&lost["exact"], &lost["compared"]), (&true.into(), &dropped.into()));
        assert_eq!(bench.report("best/dedup")["parameters"]["compare"], "texts");
        for output in ["all", "best"] {
            bench.done(&format!("verify {output} --all --texts"));
        }
        // The estimates say something else.
        bench.done(&format!("{DEDUP} pages.jsonl --compare signatures --output estimated"));
        assert_ne!(told(&bench, "estimated/dedup"), expected);
        assert_eq!(bench.report("estimated/dedup")["parameters"].get("compare"), None);
    }
}

/// The bytes do not depend on how the inputs are divided, on the workers and on the processes. Of records with one id the first counts, in the second
/// reading as in the first one.
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
        bench.done(&format!("verify {name} --all"));
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

/// Nothing but the texts themselves can be compared with what was read before.
#[test]
fn a_text_that_was_changed_or_is_gone_is_found_out() {
    let bench = Bench::new();
    let (early, late) = (families(1), families(2));
    let moved: Texts = late.iter().map(|(id, text)| (format!("late-{id}"), text.clone())).collect();
    bench.write("crawl/2026-11-01.jsonl", lines(&early));
    bench.write("crawl/2026-11-02.jsonl", lines(&moved));
    bench.write(
        "days.toml",
        "inputs = [\"crawl/{date}.jsonl\"]\noutput = \"out/{date}\"\nstore = \"store\"\n[dedup]\ndistance = 15\n",
    );
    bench.done("run days.toml --date 2026-11-01..2026-11-02");
    bench.done("verify out/2026-11-02 --all --texts");
    let report = bench.report("out/2026-11-02/dedup");
    assert_eq!(report["parameters"]["compare"], "texts");
    let held = || {
        let list: Value = serde_json::from_str(&bench.answer("store list store --json")).unwrap();
        [list["version"].clone(), list["days"].clone()]
    };
    let before = held();
    // A day that is made again joins the later ones again, which reads their texts.
    bench.write("crawl/2026-11-01.jsonl", lines(early.iter().skip(20)));
    let redo = "run days.toml --redo 2026-11-01";
    let (id, text) = moved.iter().find(|(id, _)| id.as_str() > "late-p4").unwrap();
    let changed = text.replacen(' ', " new ", 1);
    for (now, says) in [
        (lines(moved.iter().filter(|it| it.0 != id)), "is not in the inputs any more"),
        (lines(&moved).replace(text.as_str(), &changed), "is not the one that its fingerprint"),
    ] {
        bench.write("crawl/2026-11-02.jsonl", now);
        let said = bench.fails(66, redo);
        assert!(said.contains(says) && said.contains(id.as_str()), "{said}");
        assert!(said.contains("--compare signatures"), "{said}");
        assert_eq!(held(), before, "all or nothing");
        let told = bench.fails(66, "verify out/2026-11-02 --all");
        assert!(told.contains("nothing was recomputed"), "{told}");
    }
    std::fs::remove_file(bench.path("crawl/2026-11-02.jsonl")).unwrap();
    assert!(bench.fails(66, redo).contains("2026-11-02.jsonl"));
    let told = bench.fails(66, "verify out/2026-11-02");
    assert!(told.contains("nothing was recomputed, because the input"), "{told}");
    bench.write("crawl/2026-11-02.jsonl", lines(&moved));
    bench.done(redo);
    assert_eq!(bench.done("verify out/2026-11-02").count("recomputed"), moved.len() as u64);
}

/// A share that is false by a ten-thousandth, and a verdict of the estimates, are no verdicts of the texts.
#[test]
fn a_forged_share_is_found_out() {
    let bench = Bench::new();
    bench.write("pages.jsonl", lines(&families(3)));
    bench.done(&format!("{DEDUP} pages.jsonl --output out"));
    let table = bench.read("out/dedup/verdicts.tsv");
    let row = cells(&table).find(|row| row[1] == "drop" && row[5] < "0.9900").unwrap();
    let share: f64 = row[5].parse().unwrap();
    let forged = |held: f64| {
        let mut row = row.clone();
        let held = format!("{held:.4}");
        row[5] = &held;
        row.join("\t")
    };
    let files = [("verdicts.tsv", row.join("\t"), forged(share + 0.0001))];
    let files = files.each_ref().map(|(name, from, to)| (*name, from.as_str(), to.as_str()));
    forge_in(&bench, ("out/dedup", "outcome"), &files, |_| ());
    assert!(
        bench.fails(65, "verify out --all").contains("this is not the verdict of the keep rule")
    );
    bench.done(&format!("{DEDUP} pages.jsonl --output estimated --compare signatures"));
    forge_in(&bench, ("estimated/dedup", "outcome"), &[], |report| {
        report["parameters"]["compare"] = "texts".into();
    });
    bench.fails(65, "verify estimated --all");
}

/// Near pages by the hundred are a crowd, whose pairs are not all listed.
#[test]
fn crowds_are_compared_by_their_texts() {
    let bench = Bench::new();
    let mut random = numbers(11);
    let words: Vec<String> = (0..200).map(|at| format!("word{at}")).collect();
    let pages = (0..150).map(|page| {
        let mut words = words.clone();
        for _ in 0..random(14) {
            words[random(200) as usize] = format!("new{}", random(40));
        }
        (format!("page-{page:03}"), words.join(" "))
    });
    let texts: Texts = pages.collect();
    bench.write("pages.jsonl", lines(&texts));
    bench.done(&format!("{DEDUP} pages.jsonl --output best"));
    bench.done(&format!("{DEDUP} pages.jsonl --matches all --output all"));
    assert_eq!(told(&bench, "best/dedup"), told(&bench, "all/dedup"));
    let exact = verdicts(&texts, &bench.read("all/dedup/matches.tsv"));
    let stay = |found: &BTreeMap<String, Option<_>>| -> Vec<String> {
        found.iter().filter(|it| it.1.is_none()).map(|it| it.0.clone()).collect()
    };
    assert_eq!(stay(&told(&bench, "best/dedup")), stay(&exact));
    bench.done("verify best --all");
}

#[test]
fn texts_that_cannot_be_compared_are_refused_and_not_taken_by_default() {
    let bench = Bench::new();
    bench.write("pages.jsonl", lines(&families(1)));
    bench.done("fingerprint --input pages.jsonl --output pages.seg");
    let refused = "the texts of the pages cannot be compared";
    for (job, why) in [
        ("dedup --batch pages.seg", "a batch whose inputs are not named"),
        ("dedup --input pages.jsonl --preset paper", "no check"),
        ("dedup --input pages.jsonl --check minhash:0.8", "the check minhash"),
    ] {
        let said = bench.fails(2, &format!("{job} --compare texts --output x"));
        assert!(said.contains(refused) && said.contains(why), "{said}");
    }
    let said = bench.fails(2, "dedup --batch pages.seg --compare words --output x");
    assert!(said.contains("texts or signatures"), "{said}");
    for (name, job) in [
        ("batch", "dedup --batch pages.seg"),
        ("paper", "dedup --input pages.jsonl --preset paper"),
    ] {
        bench.done(&format!("{job} --output {name}"));
        let output = if name == "batch" { name.to_owned() } else { format!("{name}/dedup") };
        assert_eq!(bench.report(&output)["parameters"].get("compare"), None);
    }
    // A stream is read once only.
    let mut command = bench.command("dedup --input - --format jsonl --output stream");
    let file = std::fs::File::open(bench.path("pages.jsonl")).unwrap();
    assert!(command.stdin(file).output().unwrap().status.success());
    assert_eq!(bench.report("stream/dedup")["parameters"].get("compare"), None);
    // What was made by signatures is not what is asked for.
    bench.done("dedup --input pages.jsonl --output made --compare signatures");
    let said = bench.fails(73, "dedup --input pages.jsonl --output made");
    assert!(said.contains("compare"), "{said}");
}
