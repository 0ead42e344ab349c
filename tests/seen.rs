//! What a store has seen is known exactly: ids and texts, with filters and without, and a page whose text is held is not
//! computed again, which changes no byte.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::support::Bench;

/// The flags by which all segments are made: everything that a row can have.
const RECIPE: &str = "--sketch points --keep-bands minhash-4x4";

fn page(id: &str, text: &str) -> String {
    format!("{{\"id\": \"{id}\", \"text\": {text:?}}}\n")
}

/// The segment is the same, whatever the store holds of its pages.
#[test]
fn a_page_that_is_held_is_not_computed_again() {
    let bench = Bench::new();
    bench.write("one.jsonl", bench.documents(0, 400));
    // Of the second day, 300 pages are of the first, and 100 of these under other ids.
    let other = |line: &str| line.replacen("\"id\":\"", "\"id\":\"again-", 1);
    let renamed: String = bench.documents(100, 200).lines().map(|it| other(it) + "\n").collect();
    bench.write("two.jsonl", renamed + &bench.documents(200, 500) + &page("blank", "?!"));
    bench.done("store init store");
    bench.done("store index store --filters");
    let make = |input: &str, more: &str, output: &str| {
        let _ = fs::remove_file(bench.path(&format!("{output}.seg")));
        bench.done(&format!(
            "fingerprint --keep-digests {RECIPE} --input {input}.jsonl --output {output}.seg {more}"
        ))
    };
    make("one", "--store store", "one");
    bench.done("store add store --segment one.seg --day 2026-11-20");
    let plain = make("two", "", "plain");
    assert_eq!(plain.summary()["counts"].get("unchanged"), None);
    let two = bench.read("two.jsonl");
    let expected = held(&two, &bench.read("one.jsonl"));
    assert!((300..400).contains(&expected), "{expected}");
    for more in ["", "--workers 3", "--processes 2"] {
        let known = make("two", &format!("--store store {more}"), "known");
        assert_eq!(known.count("unchanged"), expected, "{more}");
        assert_eq!(bench.bytes("known.seg"), bench.bytes("plain.seg"), "{more}");
    }
    bench.again(&format!(
        "fingerprint --keep-digests {RECIPE} --input two.jsonl --output known.seg"
    ));
    let gone: Vec<String> = fields(&bench.documents(300, 310), "id");
    bench.write("gone.txt", gone.join("\n"));
    bench.done("store remove store --ids gone.txt");
    let left = held(&two, &(bench.documents(0, 300) + &bench.documents(310, 400)));
    assert!(left < expected);
    assert_eq!(make("two", "--store store", "known").count("unchanged"), left);
    // Damage to a filter is not the fault of a page: what cannot be looked up is computed.
    let table =
        bench.names("store/filters").into_iter().find(|it| it.ends_with("texts.seg")).unwrap();
    let mut damaged = bench.bytes(&format!("store/filters/{table}"));
    damaged[40] ^= 1;
    bench.write(&format!("store/filters/{table}"), damaged);
    let ended = make("two", "--store store", "known");
    assert_eq!((ended.count("quarantined"), ended.count("unchanged")), (0, 0));
    assert!(ended.stderr.contains("computed again"), "{}", ended.stderr);
    assert_eq!(bench.bytes("known.seg"), bench.bytes("plain.seg"));
    bench.done("store index store --filters false");
    assert_eq!(make("two", "--store store", "known").count("unchanged"), 0);
    assert_eq!(bench.bytes("known.seg"), bench.bytes("plain.seg"));
}

fn fields(lines: &str, name: &str) -> Vec<String> {
    let field =
        |line| serde_json::from_str::<Value>(line).unwrap()[name].as_str().unwrap().to_owned();
    lines.lines().map(field).collect()
}

/// How many of these pages have the text of one of the others.
fn held(pages: &str, others: &str) -> u64 {
    let texts: BTreeSet<String> = fields(others, "text").into_iter().collect();
    fields(pages, "text").iter().filter(|text| texts.contains(*text)).count() as u64
}

/// Each day of a run knows what the store had before it, and its outputs are what they would be without.
#[test]
fn a_run_counts_the_pages_that_have_not_changed() {
    let bench = Bench::new();
    for (day, from, to) in [("2026-11-20", 0, 300), ("2026-11-21", 100, 400)] {
        bench.write(&format!("crawl/{day}.jsonl"), bench.documents(from, to));
    }
    for name in ["plain", "known"] {
        bench.write(
            &format!("{name}.toml"),
            format!(
                "inputs = [\"crawl/{{date}}.jsonl\"]\noutput = \"{name}/{{date}}\"\nstore = \"{name}/store\"\nadd = \"all\"\n\
                 dates = [\"2026-11-20..2026-11-21\"]\n[fingerprint]\nkeep_digests = true\n"
            ),
        );
    }
    bench.done("run plain.toml");
    fs::create_dir(bench.path("known")).unwrap();
    bench.done("store init known/store");
    bench.done("store index known/store --filters");
    let ended = bench.done("run known.toml");
    let expected = held(&bench.documents(100, 400), &bench.documents(0, 300));
    assert!(expected >= 200);
    assert_eq!(ended.count("unchanged"), expected);
    for day in ["2026-11-20", "2026-11-21"] {
        assert_eq!(bench.files(&format!("known/{day}")), bench.files(&format!("plain/{day}")));
    }
    let report = bench.report("known/2026-11-21/dedup");
    assert_eq!(report["run"]["unchanged"], expected);
    assert!(bench.read("known/2026-11-21/dedup/report.html").contains("text in the store already"));
    assert_eq!(bench.report("plain/2026-11-21/dedup")["run"].get("unchanged"), Some(&0.into()));
    assert_eq!(bench.names("known/store/filters").len(), 8, "two days, by ids and by texts");
    let redone = bench.done("run known.toml --redo 2026-11-21 --dry-run");
    assert_eq!(redone.code, 0);
}
