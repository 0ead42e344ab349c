//! `query`: the answers are those of `dedup`, page by page, with any index and without.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::Value;

use crate::oracle::{Texts, families, lines as lines_of};
use crate::support::Bench;
use crate::world::{json_lines, skewed};

/// A store of three days of texts, and other pages in `asked.jsonl`: some are near to pages of the store, short, or
/// without a word.
fn texts() -> Bench {
    let bench = Bench::new();
    for day in 1..=3 {
        let (from, to) = (300 * day, 300 * day + 300);
        bench.write("day.jsonl", bench.documents(from, to));
        bench.done(&format!("fingerprint --input day.jsonl --output {day}.seg"));
        bench.done("store init store");
        bench.done(&format!("store add store --segment {day}.seg --day 2026-11-0{day}"));
    }
    let mut asked = bench.documents(200, 700);
    asked += "{\"id\": \"none\", \"text\": \"...\"}\n{\"id\": 7, \"text\": \"a short text\"}\n";
    bench.write("asked.jsonl", asked);
    bench
}

/// The near pages of each page: distance, id and day.
fn near(lines: &[Value]) -> BTreeMap<String, BTreeSet<(u64, String, String)>> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let pages = |line: &Value| {
        let pages = line["near"].as_array().unwrap().iter();
        pages
            .map(|it| (it["distance"].as_u64().unwrap(), text(&it["id"]), text(&it["day"])))
            .collect()
    };
    lines.iter().map(|line| (text(&line["id"]), pages(line))).collect()
}

/// The same from the matches of an output, for all pages of `lines`. Among them are pages that the page asked for contains, and
/// that do not contain it.
fn matched(bench: &Bench, lines: &[Value]) -> BTreeMap<String, BTreeSet<(u64, String, String)>> {
    let ids = lines.iter().map(|line| (line["id"].as_str().unwrap().to_owned(), BTreeSet::new()));
    let mut near: BTreeMap<_, BTreeSet<_>> = ids.collect();
    for row in bench.rows("found/matches.tsv") {
        if row[3] != "batch" {
            let page = (row[2].parse().unwrap(), row[1].clone(), row[3].clone());
            near.get_mut(&row[0]).unwrap().insert(page);
        }
    }
    near
}

#[test]
fn texts_get_the_answers_of_dedup() {
    let bench = texts();
    let asked = "query --store store --input asked.jsonl";
    let answer = bench.answer(asked);
    let told = json_lines(&answer);
    bench.done("fingerprint --input asked.jsonl --output asked.seg");
    bench.done("dedup --batch asked.seg --store store --matches all --output found");
    let (near, matched) = (near(&told), matched(&bench, &told));
    assert!(near.iter().all(|(id, near)| near.is_subset(&matched[id])));
    let verdicts = bench.read("found/verdicts.tsv");
    let mut dropped = BTreeSet::new();
    for line in verdicts.lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        let near = &near[columns[0]];
        assert!(columns[1] != "keep" || near.is_empty(), "{line}");
        if columns[1] == "drop" && columns[4] != "batch" {
            let distance: u64 = columns[3].parse().unwrap();
            assert!(near.contains(&(distance, columns[2].to_owned(), columns[4].to_owned())));
            dropped.insert(columns[0]);
        }
    }
    assert!(dropped.len() > 100, "{}", dropped.len());
    for line in &told {
        let id = line["id"].as_str().unwrap();
        let is_near = !line["near"].as_array().unwrap().is_empty();
        let verdict = if id == "none" {
            "empty"
        } else if is_near {
            "drop"
        } else {
            "keep"
        };
        assert_eq!(
            (&line["verdict"], &line["store_version"]),
            (&verdict.into(), &4.into()),
            "{id}"
        );
        assert!(!dropped.contains(id) || verdict == "drop", "{id}");
    }
    let ids = bench.read("asked.jsonl");
    let ids = json_lines(&ids).into_iter().map(|it| it["id"].to_string().replace('"', ""));
    assert!(ids.eq(told.iter().map(|line| line["id"].as_str().unwrap().to_owned())), "the order");
    for design in ["mirror", "4", "none"] {
        bench.done(&format!("store index store --design {design}"));
        for flags in ["--workers 1", "--workers 3 --resident"] {
            assert!(bench.answer(&format!("{asked} {flags}")) == answer, "{design} {flags}");
        }
    }
}

/// Parts of pages of the store, which only anchors find, its pages in versions, and others, each asked alone and joined alone.
#[test]
fn a_page_is_judged_as_dedup_judges_it_alone() {
    let bench = Bench::new();
    bench.done("store init store");
    let mut held = Vec::new();
    for day in 1..=3 {
        let pages: Texts =
            families(day).into_iter().map(|(id, text)| (format!("{day}-{id}"), text)).collect();
        bench.write("day.jsonl", lines_of(&pages));
        bench.done(&format!("fingerprint --input day.jsonl --output {day}.seg"));
        bench.done(&format!("store add store --segment {day}.seg --day 2026-11-0{day}"));
        held.extend(pages);
    }
    let removed: String = held.iter().step_by(3).map(|(id, _)| format!("{id}\n")).collect();
    bench.write("removed.txt", removed);
    bench.done("store remove store --ids removed.txt");
    let part = |at: usize, text: &str| {
        let words: Vec<&str> = text.split(' ').collect();
        let third = words.len() / 3;
        match at % 3 {
            0 => words[third..2 * third].join(" "),
            1 => format!("{text} {}", words[..third].join(" more ")),
            _ => text.replace("x1", "y1"),
        }
    };
    let asked = held.iter().step_by(11).enumerate();
    let asked: Texts =
        asked.map(|(at, (id, text))| (format!("asked-{id}"), part(at, text))).collect();
    bench.write("asked.jsonl", lines_of(&asked));
    let answer = bench.answer("query --store store --input asked.jsonl");
    let told = json_lines(&answer);
    bench.done("store index store");
    let indexed = bench.answer("query --store store --input asked.jsonl --workers 2");
    assert_eq!(indexed, answer, "with an index");
    let near = near(&told);
    let mut by_anchors = 0;
    for (line, page) in told.iter().zip(&asked) {
        let id = page.0.as_str();
        bench.write("one.jsonl", lines_of([page]));
        bench.done("fingerprint --input one.jsonl --output one.seg --overwrite");
        bench.done("dedup --batch one.seg --store store --output one --overwrite");
        let verdicts = bench.read("one/verdicts.tsv");
        let row: Vec<&str> = verdicts.lines().nth(1).unwrap().split('\t').collect();
        assert_eq!((line["id"].as_str(), line["verdict"].as_str()), (Some(id), Some(row[1])));
        if row[1] == "drop" {
            let distance = row[3].parse().unwrap();
            assert!(near[id].contains(&(distance, row[2].to_owned(), row[4].to_owned())), "{id}");
            by_anchors += usize::from(distance > 3);
        }
    }
    assert!(by_anchors > 3 && near.values().any(BTreeSet::is_empty), "{by_anchors}");
}

#[test]
fn an_index_is_kept_through_additions_merges_and_rollbacks() {
    let bench = Bench::new();
    bench.done("store init store");
    bench.done("store index store");
    for day in 1..=12 {
        bench.segment(&format!("{day:02}"), 64, &skewed("page", day, 64, 3, 30));
        bench.done(&format!("store add store --segment {day:02}.seg --day 2026-11-{day:02}"));
        let list = bench.json("store list store --json");
        assert_eq!(list["index"]["design"], "mirror");
        assert_eq!(
            (&list["index"]["files"], &list["index"]["missing"]),
            (&list["segments"], &0.into())
        );
    }
    bench.done("store compact store");
    assert_eq!(bench.names("store/index").len(), 1);
    bench.done("store rollback store --to 5");
    assert_eq!(bench.names("store/index").len(), 4);
    bench.done("store index store --design none");
    assert!(!bench.path("store/index").exists() && !bench.path("store/INDEX").exists());
    assert_eq!(bench.json("store list store --json")["index"]["design"], "none");
}

#[test]
fn what_cannot_be_asked_is_said() {
    let bench = texts();
    bench.write("bad.jsonl", bench.documents(300, 302) + "{\"id\": \"no text\"}\n\n{");
    bench.refuses_to_answer(
        65,
        "query --store store --input bad.jsonl --quarantine bad.tsv",
        &["2 of 4", "--quarantine"],
    );
    assert_eq!(bench.read("bad.tsv").lines().count(), 3);
    let ended = bench.run("query --store store --input bad.jsonl --max-bad 2");
    assert_eq!((ended.code, ended.stdout.lines().count()), (0, 2), "{}", ended.stderr);
    assert!(ended.stderr.contains("2 records could not be read"), "{}", ended.stderr);
    bench.fails_to_answer(66, "query --store nowhere --fingerprint 0");
    bench.fails_to_answer(66, "query --store store --as-of 9 --fingerprint 0");
    for flags in [
        "--fingerprint xyz",
        "--fingerprint 0 -k 16",
        "--recipe words --input bad.jsonl",
        "--fingerprint 0 --check minhash",
    ] {
        bench.fails_to_answer(2, &format!("query --store store {flags}"));
    }
    bench.fails_to_answer(2, "query --store store");
    let names = bench.names("store/segments");
    bench.done("store index store");
    let index = bench.names("store/index");
    bench.write(&format!("store/index/{}", index[0]), "damaged");
    bench.refuses_to_answer(65, "query --store store --fingerprint 0", &[&index[0]]);
    bench.refuses(65, "store verify store", &[&index[0]]);
    bench.done("store index store");
    assert_eq!(bench.done("store verify store").count("index_files"), 6);
    let [one, other] = [0, 1].map(|at| format!("store/index/{}", index[at]));
    let sound = bench.bytes(&one);
    bench.write(&one, bench.bytes(&other));
    bench.refuses(65, "store verify store", &["made from another segment", &index[0]]);
    fs::remove_file(bench.path(&one)).unwrap();
    bench.refuses(66, "store verify store", &["is missing", "store index store --design"]);
    bench.write(&one, sound);
    bench.done("store verify store");
    bench.answer("query --store store --fingerprint 0");
    let mut bytes = bench.bytes(&format!("store/segments/{}", names[0]));
    bytes[40] ^= 1;
    bench.write(&format!("store/segments/{}", names[0]), bytes);
    bench.fails_to_answer(65, "query --store store --fingerprint 0");
}
