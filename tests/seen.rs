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

/// A store of two days: `old` and `both` on the first, `new` and `both` with another text on the second. `blank` has no
/// word.
fn two_days(bench: &Bench, digests: &str) {
    let days = [
        ("2026-11-20", [("old", "the text of an old page"), ("both", "as it was")]),
        ("2026-11-21", [("new", "the text of a new page"), ("both", "as it is now")]),
    ];
    bench.done("store init store");
    for (day, pages) in days {
        let lines: String = pages.iter().map(|(id, text)| page(id, text)).collect();
        bench.write("day.jsonl", lines + &page("blank", "?!"));
        bench.done(&format!(
            "fingerprint {digests} --recipe words --input day.jsonl --output {day}.seg"
        ));
        bench.done(&format!("store add store --segment {day}.seg --day {day}"));
    }
}

#[test]
fn ids_and_texts_are_found_with_filters_and_without() {
    let bench = Bench::new();
    two_days(&bench, "--keep-digests");
    bench.write("ids.txt", "new\nnone\n\nboth\nnew\nblank\nold\n");
    let asked = [
        ("x", "the text of a new page"),
        ("new", "The text of a new page"),
        ("both", "as it was"),
        ("y", "?!"),
    ];
    bench.write("asked.jsonl", asked.map(|(id, text)| page(id, text)).concat());
    let ids = "new\tyes\t2026-11-21\nnone\tno\t\nboth\tyes\t2026-11-21\nnew\tyes\t2026-11-21\n\
               blank\tno\t\nold\tyes\t2026-11-20\n";
    let texts = "x\tyes\t2026-11-21\nnew\tno\t\nboth\tyes\t2026-11-20\ny\tno\t\n";
    let check = |ids: &str, texts: &str| {
        assert_eq!(bench.answer("seen --store store --ids ids.txt"), ids);
        assert_eq!(bench.answer("seen --store store --input asked.jsonl --workers 2"), texts);
    };
    check(ids, texts);
    let made = bench.done("store index store --filters");
    assert_eq!((made.count("filters_made"), made.count("filter_files")), (4, 8));
    assert!(bench.names("store").contains(&"FILTERS".to_owned()));
    assert!(!bench.names("store").contains(&"INDEX".to_owned()), "no index was asked for");
    check(ids, texts);
    bench.again("store index store --filters");
    assert_eq!(bench.done("store verify store").count("filters"), 4);
    assert!(bench.answer("store list store").contains("filters"));

    let lines = bench.answer("seen --store store --ids ids.txt --json");
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0], serde_json::json!({"id": "new", "held": true, "day": "2026-11-21"}));
    assert_eq!(lines[1], serde_json::json!({"id": "none", "held": false, "day": null}));
    let before = bench.answer("seen --store store --as-of 2 --ids ids.txt");
    assert_eq!(before.matches("yes\t2026-11-20").count(), 2, "{before}");

    bench.done("store compact store");
    assert_eq!(bench.names("store/filters").len(), 4, "they follow the merge");
    check(ids, texts);
    bench.write("gone.txt", "new\n");
    bench.done("store remove store --ids gone.txt");
    let gone = |text: &str| text.replace("yes\t2026-11-21", "no\t");
    check(&gone(ids).replace("both\tno\t", "both\tyes\t2026-11-21"), &gone(texts));
    bench.done("store index store --filters false");
    assert!(!bench.path("store/filters").exists() && !bench.path("store/FILTERS").exists());
    check(&gone(ids).replace("both\tno\t", "both\tyes\t2026-11-21"), &gone(texts));
}

/// A store without digests is asked for the ids of records, and says nothing of texts.
#[test]
fn without_digests_records_are_known_by_their_ids() {
    let bench = Bench::new();
    two_days(&bench, "");
    bench.done("store index store --filters --design mirror");
    assert_eq!(bench.names("store/filters").len(), 4);
    bench.write("asked.jsonl", page("x", "as it was") + &page("old", "another text"));
    let seen = bench.answer("seen --store store --input asked.jsonl");
    assert_eq!(seen, "x\tno\t\nold\tyes\t2026-11-20\n");
    let said = bench.fails(2, "fingerprint --keep-digests --recipe words --store store --input asked.jsonl --output x.seg");
    assert!(said.contains("digests"), "{said}");
    bench.fails(2, "fingerprint --store store --recipe words --input asked.jsonl --output x.seg");
    bench.fails(
        2,
        "fingerprint --keep-digests --format fingerprints --input asked.jsonl --output x.seg",
    );
    bench.fails_to_answer(2, "seen --store store");
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

/// A field of each line of JSON.
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

/// Words that no other number has in this order.
fn article(number: usize) -> String {
    let words = ["fox", "dog", "wolf", "lynx", "bear", "goat", "mole", "hare"];
    let digits = format!("{number:04o}");
    let words = digits.bytes().map(|digit| words[usize::from(digit - b'0')]);
    words.collect::<Vec<_>>().join(" ").repeat(4)
}

/// The boilerplate of another host leaves another text of the same page.
#[test]
fn with_boilerplate_by_host_a_text_is_known_on_its_own_host() {
    let bench = Bench::new();
    let site = |host: &str, frame: &str| -> String {
        let page_of = |at: usize| {
            let text = format!("{frame}\n{}\n", article(at));
            page(&format!("http://{host}/{at}"), &text)
        };
        (0..40).map(page_of).collect()
    };
    bench.write(
        "one.jsonl",
        site("a.example", "Home About Contact") + &site("b.example", "Start Shop"),
    );
    bench.done("weights --lines --by host --recipe words --input one.jsonl --output lines.counts");
    let text = format!("Home About Contact\n{}\n", article(7));
    bench
        .write("two.jsonl", page("http://a.example/7", &text) + &page("http://b.example/x", &text));
    bench.done("store init store");
    bench.done("store index store --filters");
    let make = |input: &str, more: &str, output: &str| {
        bench.done(&format!(
            "fingerprint --keep-digests --recipe words --boilerplate lines.counts --input {input}.jsonl --output {output}.seg {more}"
        ))
    };
    make("one", "", "one");
    bench.done("store add store --segment one.seg --day 2026-11-20");
    make("two", "", "plain");
    assert_eq!(make("two", "--store store", "known").count("unchanged"), 1);
    assert_eq!(bench.bytes("known.seg"), bench.bytes("plain.seg"));
    let dump = bench.answer("inspect plain.seg --dump");
    let fingerprints: Vec<&str> =
        dump.lines().map(|line| line.split_once('\t').unwrap().1).collect();
    assert_ne!(fingerprints[0], fingerprints[1], "the hosts matter");
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
