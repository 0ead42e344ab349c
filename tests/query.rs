//! `query`: the answers are those of `dedup`, page by page, with any index and without.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::oracle::{Texts, families, lines as lines_of};
use crate::support::Bench;
use crate::world::json_lines;

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

/// Parts of pages of the store, which only anchors find, its pages in versions, near pages, a short one and one without a word, each asked
/// alone and joined alone.
#[test]
fn a_page_is_judged_as_dedup_judges_it_alone() {
    let bench = Bench::new();
    bench.done("store init store");
    let documents = |from, to| -> Texts {
        let field = |page: &Value, name: &str| page[name].as_str().unwrap().to_owned();
        let pages = json_lines(&bench.documents(from, to));
        pages.iter().map(|page| (field(page, "id"), field(page, "text"))).collect()
    };
    let mut held = Vec::new();
    for day in 1..=4 {
        let pages: Texts = match day {
            4 => documents(0, 100),
            _ => families(day).into_iter().map(|it| (format!("{day}-{}", it.0), it.1)).collect(),
        };
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
    let mut asked: Texts =
        asked.map(|(at, (id, text))| (format!("asked-{id}"), part(at, text))).collect();
    asked.extend(documents(80, 120));
    asked.extend([("none", "..."), ("short", "a short text")].map(|it| (it.0.into(), it.1.into())));
    bench.write("asked.jsonl", lines_of(&asked));
    let answer = bench.answer("query --store store --input asked.jsonl");
    let told = json_lines(&answer);
    for design in ["mirror", "4", "none"] {
        bench.done(&format!("store index store --design {design}"));
        for flags in ["--workers 1", "--workers 3 --resident"] {
            let again = bench.answer(&format!("query --store store --input asked.jsonl {flags}"));
            assert!(again == answer, "{design} {flags}");
        }
    }
    let near = near(&told);
    let mut by_anchors = 0;
    for (line, page) in told.iter().zip(&asked) {
        let id = page.0.as_str();
        bench.write("one.jsonl", lines_of([page]));
        bench.done("fingerprint --input one.jsonl --output one.seg --overwrite");
        bench.done("dedup --batch one.seg --store store --matches all --output one --overwrite");
        // What the page contains is a match too. The versions are crowds, of which not all pairs are listed.
        let matches = bench.rows("one/matches.tsv").into_iter();
        let matched = matches.map(|row| (row[2].parse().unwrap(), row[1].clone(), row[3].clone()));
        assert!(near[id].is_subset(&matched.collect()) || id.starts_with("asked-"), "{id}");
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
    assert!(near["none"].is_empty() && told.iter().any(|line| line["verdict"] == "empty"));
}
