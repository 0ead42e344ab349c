//! Reports that were changed and sealed anew: `verify` makes each figure again, and finds the one that was changed.

use serde_json::{Value, json};
use xxhash_rust::xxh3::xxh3_128;

use crate::forgery::forge;
use crate::oracle::{DAYS, crawl, history};
use crate::proof::clustered;
use crate::support::Bench;
use crate::world::{page, spread, words};

/// Replaces the page of an output, and seals a report that has its sum.
fn forge_page(bench: &Bench, output: &str, page: &str, change: impl Fn(&mut Value)) {
    bench.write(&format!("{output}/report.html"), page);
    let sum = json!({ "bytes": page.len(), "xxh3": format!("{:032x}", xxh3_128(page.as_bytes())) });
    forge(bench, (output, ""), &[], |report| {
        report["run"]["page"] = sum.clone();
        change(report);
    });
}

#[test]
fn a_page_for_people_that_shows_something_else_is_65() {
    let bench = &clustered("star");
    for output in ["found-2026-01-02", "first", "second"] {
        let page = bench.read(&format!("{output}/report.html"));
        for (from, to) in [("<strong>", "<strong>1"), ("</main>", "<p>all is well</p></main>")] {
            let forged = page.replacen(from, to, 1);
            assert_ne!(forged, page);
            forge_page(bench, output, &forged, |_| ());
            let said = bench.fails(65, &format!("verify {output}"));
            let told = "the page does not show what report.json says: expected";
            assert!(said.contains(told) && said.contains(", found"), "{said}");
            assert!(said.contains(&format!("{output}/report.html:")), "{said}");
        }
        forge_page(bench, output, &format!("{page}\n"), |_| ());
        bench.fails(65, &format!("verify {output}"));
        // What another version drew is not drawn again.
        forge_page(bench, output, &page, |report| report["run"]["drawn_by"] = json!("another"));
        let told = bench.done(&format!("verify {output}")).stderr;
        assert!(told.contains("another version of dupsieve drew it"), "{told}");
    }
}

/// Another value for each part of a report, the figures and what holds them: where it stands, and the value. How a job ran is told by
/// nothing else.
fn changes(at: &str, value: &Value) -> Vec<(String, Value)> {
    let mut changes = Vec::new();
    let mut within =
        |name: &str, part| changes.extend(self::changes(&format!("{at}/{name}"), part));
    let changed = match value {
        Value::Object(parts) => {
            let recomputed = parts.iter().filter(|(name, _)| &***name != "run");
            recomputed.for_each(|(name, part)| within(name, part));
            // A key that this report lacks, or one that no report has.
            let key = if parts.contains_key("candidates") { "runs" } else { "candidates" };
            let mut more = parts.clone();
            more.insert(key.to_owned(), json!(7));
            json!(more)
        }
        Value::Array(list) => {
            list.first().into_iter().for_each(|part| within("0", part));
            let hot =
                json!([{ "fingerprint": "0x0", "pages": 2000, "matches": 3000, "ids": ["a"] }]);
            list.split_last().map_or(hot, |(_, others)| json!(others))
        }
        Value::Number(number) => number.as_u64().map_or(json!(0.123), |number| json!(number + 1)),
        Value::String(text) => json!(another(text)),
        Value::Null | Value::Bool(_) => json!(DAYS[2]),
    };
    changes.push((at.to_owned(), changed));
    changes
}

/// Another choice or another day, where the text is one.
fn another(text: &str) -> String {
    match text {
        "star" => "components",
        "all" => "best",
        "best" => "all",
        "first-id" => "longest",
        "3" => "2",
        day if day == DAYS[2] => DAYS[1],
        day if day.starts_with("2026-") => DAYS[2],
        other => return format!("{other}x"),
    }
    .to_owned()
}

/// Changes each part of the report of an output, alone.
fn each_change_is_found(bench: &Bench, output: &str) {
    let (name, verify) = (format!("{output}/report.json"), format!("verify {output}"));
    let sound = bench.read(&name);
    bench.done(&verify);
    for (pointer, changed) in changes("", &bench.report(output)) {
        forge(bench, (output, ""), &[], |report| {
            let part = report.pointer_mut(&pointer).unwrap();
            assert_ne!(*part, changed, "{pointer}");
            *part = changed.clone();
        });
        // Some choices are none here, and the store may lack a version.
        let may_lack = ["/parameters", "/store_version"].iter().any(|it| pointer.starts_with(it));
        let codes = if may_lack { &[2, 65, 66][..] } else { &[65] };
        let ended = bench.run(&verify);
        assert!(codes.contains(&ended.code), "{pointer} as {changed}: {ended:?}");
        bench.write(&name, &sound);
    }
    bench.done(&verify);
}

#[test]
fn each_part_of_the_report_of_a_corpus_is_found() {
    let bench = Bench::new();
    let pages = [page("1", &words(0..120)), page("2", &words(1..119)), page("3", "")];
    bench.write("pages.jsonl", pages.concat());
    bench.done("dedup --input pages.jsonl --output out");
    each_change_is_found(&bench, "out/dedup");
}

#[test]
fn each_part_of_the_report_of_clusters_is_found() {
    each_change_is_found(&clustered("star"), "second");
}

#[test]
fn each_part_of_the_report_of_checked_pages_and_passages_is_found() {
    let bench = Bench::new();
    let [old, near] = [words(0..120), words(0..117)];
    bench.write("old.jsonl", page("old", &old) + &page("other", &words(500..620)));
    let part = [words(500..590), words(700..730)].join(" ");
    bench.write("new.jsonl", page("copy", &near) + &page("part", &part));
    for name in ["old", "new"] {
        bench.fingerprint(name, "--sketch minhash-64x8 --keep-passages");
    }
    bench.store(&[("2026-01-01", "old")]);
    bench.done(
        "dedup --batch new.seg --store store --distance 15 --check minhash:0.3 --matches all --passages 50 --output out",
    );
    let report = bench.report("out");
    assert_eq!(
        (&report["outcome"]["dropped"], &report["passages"]["words"]),
        (&json!(1), &json!(90))
    );
    each_change_is_found(&bench, "out");
}

/// Of all matches the fingerprints are listed that have most, and of copies those that come very often.
#[test]
fn each_part_of_the_report_of_crowds_is_found() {
    let bench = Bench::new();
    for (name, zeros) in [("old", 40), ("few", 30), ("many", 1100)] {
        let bits = |number| if number < zeros { 0 } else { spread(number) };
        let row = |number| (format!("{name}{number}"), bits(number).into());
        bench.segment(name, 64, &(0..1200).map(row).collect::<Vec<_>>());
    }
    bench.store(&[("2026-01-01", "old")]);
    for (output, rows, list) in [("few", "all", "hot_matches"), ("many", "best", "hot_copies")] {
        let line = format!("dedup --batch {output}.seg --store store --matches {rows}");
        bench.done(&format!("{line} --distance 1 --output {output}"));
        let listed = &bench.report(output)["outcome"][list];
        assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
        each_change_is_found(&bench, output);
    }
}

#[test]
fn replaced_pages_and_days_that_the_store_contradicts_are_65() {
    let bench = crawl(&history(3));
    for day in DAYS {
        bench.done(&format!("run days.toml --date {day}"));
    }
    let outputs = DAYS.map(|day| format!("out/{day}/dedup"));
    let replaces = |output: &&String| !bench.rows(&format!("{output}/replaced.tsv")).is_empty();
    let output = outputs.iter().find(replaces).expect("a day replaces a page");
    each_change_is_found(&bench, output);
    let sound = ["replaced.tsv", "slack.tsv", "report.json"].map(|name| format!("{output}/{name}"));
    let sound = sound.map(|name| (bench.read(&name), name));
    let forged = |name: &str, from: &str, to: &str| {
        forge(&bench, (output, "outcome"), &[(name, from, to)], |report| {
            let replaced = bench.rows(&format!("{output}/replaced.tsv")).len();
            report["outcome"]["replaced"] = json!(replaced);
        });
        bench.refuses(65, &format!("verify {output}"), &[name]);
        sound.iter().for_each(|(text, name)| bench.write(name, text));
    };
    let row = sound[0].0.lines().last().unwrap().to_owned() + "\n";
    let cells: Vec<&str> = row.trim_end().split('\t').collect();
    let kept = bench.read(&format!("{output}/keep.txt"));
    let another = kept.lines().find(|id| *id != cells[2]).unwrap();
    let dropped = bench.read(&format!("{output}/drop.txt"));
    let dropped = dropped.lines().next().unwrap_or("nobody");
    forged("replaced.tsv", &row, "");
    forged("replaced.tsv", &row, &format!("{row}zz-nobody\t2026-11-01\t{}\t1.0000\n", cells[2]));
    for (place, other) in [(2, another), (2, dropped), (3, "0.9001"), (0, "zz-nobody")] {
        let mut cells = cells.clone();
        cells[place] = other;
        forged("replaced.tsv", &row, &(cells.join("\t") + "\n"));
    }
    let row = sound[1].0.lines().last().unwrap().to_owned() + "\n";
    let (page, _) = row.rsplit_once('\t').unwrap();
    forged("slack.tsv", &row, "");
    forged("slack.tsv", &row, &format!("{page}\t77777\n"));
    bench.done(&format!("verify {output}"));
}
