//! Reports that were changed and sealed anew: `verify` makes each figure again, and finds the one that was changed.

use serde_json::{Value, json};
use xxhash_rust::xxh3::xxh3_128;

use crate::forgery::forge;
use crate::oracle::{DAYS, crawl, history};
use crate::proof::{clustered, joined};
use crate::support::Bench;
use crate::world::{mixed, spread};

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
    let (join, clusters) = (joined(""), clustered("star"));
    for (bench, output) in [(&join, "out"), (&clusters, "first"), (&clusters, "second")] {
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

/// Forges figures of a report one by one, each found with this command. A pointer that leads nowhere adds a key.
fn each_is_found(bench: &Bench, output: &str, command: &str, figures: &[(&str, Value)]) {
    let report = bench.read(&format!("{output}/report.json"));
    bench.done(command);
    for (pointer, forged) in figures {
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        forge(bench, (output, ""), &[], |report| {
            let parent = report.pointer_mut(parent).unwrap().as_object_mut().unwrap();
            let told = parent.insert(name.to_owned(), forged.clone());
            assert_ne!(told.as_ref(), Some(forged), "{pointer}");
        });
        let said = bench.fails(65, command);
        let part = pointer
            .split('/')
            .find(|part| !part.is_empty() && *part != "outcome" && *part != "found")
            .unwrap();
        let is_told = [name, part].iter().any(|name| said.contains(&format!("another `{name}`")));
        assert!(is_told && said.contains("expected "), "{pointer}: {said}");
        assert!(said.contains(&format!("{output}/report.json: ")), "{said}");
        bench.write(&format!("{output}/report.json"), &report);
    }
    bench.done(command);
}

fn hot() -> Value {
    json!([{ "fingerprint": "0x0", "pages": 2000, "matches": 3000, "ids": ["a"] }])
}

fn one_more(report: &Value, pointer: &str) -> Value {
    json!(report.pointer(pointer).unwrap().as_u64().unwrap() + 1)
}

fn words(page: u32, of: u32, others: u32) -> String {
    mixed(page, of, others, 120)
}

/// Pages of the store, a copy, pages that overlap, one that is near two of the store, and others.
fn overlapping() -> Bench {
    let bench = Bench::new();
    let write = |name: &str, pages: &[(&str, String)]| {
        let line =
            |(id, text): &(&str, String)| format!("{{\"id\": \"{id}\", \"text\": \"{text}\"}}\n");
        bench.write(name, pages.iter().map(line).collect::<String>());
    };
    let old =
        [("held-far", words(1, 0, 30)), ("held-near", words(2, 0, 6)), ("held-x", words(3, 3, 0))];
    write("old.jsonl", &old);
    let mut pages = vec![
        ("a-first", words(10, 10, 0)),
        ("b-copy", words(10, 10, 0)),
        ("c-like", words(11, 10, 12)),
        ("d-of-store", words(0, 0, 0)),
        ("ab-alone", words(12, 12, 0)),
        ("f-empty", String::new()),
    ];
    let more: Vec<String> = (0..40).map(|page| format!("x-{page:02}")).collect();
    pages.extend((20..).zip(&more).map(|(page, id)| (&**id, words(page, page, 0))));
    write("new.jsonl", &pages);
    for name in ["old", "new"] {
        bench.done(&format!(
            "fingerprint --input {name}.jsonl --sketch minhash-64x8 --output {name}.seg"
        ));
    }
    bench.store(&[("2026-01-01", "old")]);
    bench
}

#[test]
fn figures_of_all_pairs_that_the_batch_and_the_store_contradict_are_65() {
    let checked = overlapping();
    let dedup = "dedup --batch new.seg --store store --overwrite --distance 12";
    for flags in ["--matches all --check minhash:0.3", "--matches all", ""] {
        checked.done(&format!("{dedup} --output checked {flags}"));
        let report = checked.report("checked");
        let candidates = match report.pointer("/outcome/candidates") {
            Some(count) => json!(count.as_u64().unwrap() + 1),
            None => json!(7),
        };
        assert_eq!(flags.contains("check"), candidates != json!(7), "{report}");
        let pairs = one_more(&report, "/probe/pairs");
        let figures = [("/outcome/candidates", candidates), ("/probe/pairs", pairs)];
        each_is_found(&checked, "checked", "verify checked", &figures);
    }
    for bench in [joined(""), joined("--matches all")] {
        let pairs = one_more(&bench.report("out"), "/probe/pairs");
        let report = bench.report("out");
        let figures = [
            ("/probe/pairs", pairs),
            ("/outcome/copies", one_more(&report, "/outcome/copies")),
            ("/outcome/largest_group", one_more(&report, "/outcome/largest_group")),
            ("/outcome/hot_copies", hot()),
            ("/outcome/hot_matches", hot()),
            ("/outcome/candidates", json!(3)),
        ];
        each_is_found(&bench, "out", "verify out", &figures);
    }
}

#[test]
fn what_came_very_often_is_counted_again() {
    let bench = Bench::new();
    for (name, zeros) in [("old", 40), ("few", 30), ("many", 1100)] {
        let row = |page: u64| {
            let bits = if page < zeros { 0 } else { spread(page) };
            format!("{name}{page}\t{bits}\n")
        };
        bench.write(&format!("{name}.tsv"), (0..1200).map(row).collect::<String>());
        let external = "--format fingerprints --recipe external-64";
        bench.done(&format!("fingerprint --input {name}.tsv {external} --output {name}.seg"));
    }
    bench.store(&[("2026-01-01", "old")]);
    let outputs =
        [("few", "all", "hot_matches", "matches"), ("many", "best", "hot_copies", "pages")];
    for (output, rows, list, key) in outputs {
        let line =
            format!("dedup --batch {output}.seg --store store --distance 1 --matches {rows}");
        bench.done(&format!("{line} --output {output}"));
        let listed = bench.report(output)["outcome"][list].clone();
        assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
        let mut forged = listed.clone();
        forged[0][key] = json!(listed[0][key].as_u64().unwrap() + 1);
        let pointer = format!("/outcome/{list}");
        let figures = [(&*pointer, forged), (&*pointer, json!([]))];
        each_is_found(&bench, output, &format!("verify {output}"), &figures);
    }
}

#[test]
fn dropped_pages_are_counted_and_shown_again() {
    for bench in [joined(""), joined("--matches all")] {
        let told = bench.report("out")["outcome"]["dropped_pages"].clone();
        let (day, count) = told["against"].as_object().unwrap().iter().next().unwrap();
        let mut forged = told.clone();
        forged["against"][day] = json!(count.as_u64().unwrap() + 1);
        let pointer = "/outcome/dropped_pages";
        let examples = bench.report("out")["outcome"]["dropped_examples"].clone();
        let mut other = examples.clone();
        other[0]["distance"] = json!(7);
        let shown = "/outcome/dropped_examples";
        let figures = [
            (pointer, forged),
            (pointer, json!({"against": {}})),
            (shown, other),
            (shown, json!([examples[0]])),
        ];
        each_is_found(&bench, "out", "verify out", &figures);
    }
}

#[test]
fn replaced_pages_and_days_that_the_store_contradicts_are_65() {
    let bench = crawl(&history(3));
    for day in DAYS {
        bench.done(&format!("run days.toml --date {day}"));
    }
    let mut tried = 0;
    for day in DAYS {
        let output = format!("out/{day}/dedup");
        let command = format!("verify out/{day}");
        let replaced = one_more(&bench.report(&output), "/outcome/replaced");
        let mut dropped_pages = bench.report(&output)["outcome"]["dropped_pages"].clone();
        dropped_pages["containment"]["0.0000"] = json!(7);
        let mut dropped_examples = bench.report(&output)["outcome"]["dropped_examples"].clone();
        match dropped_examples.get_mut(0) {
            Some(example) => example["containment"] = json!(0.5),
            None => {
                dropped_examples =
                    json!([{"id": "a", "of": "b", "distance": 0, "against": "batch"}])
            }
        }
        let other = json!(if day == DAYS[0] { DAYS[1] } else { DAYS[0] });
        let figures = [
            ("/outcome/replaced", replaced),
            ("/outcome/dropped_pages", dropped_pages),
            ("/outcome/dropped_examples", dropped_examples),
            ("/day", other),
        ];
        each_is_found(&bench, &output, &command, &figures);
        let table = bench.read(&format!("{output}/replaced.tsv"));
        let Some(row) = table.lines().skip(1).last() else { continue };
        tried += 1;
        let cells: Vec<&str> = row.split('\t').collect();
        let kept = bench.read(&format!("{output}/keep.txt"));
        let another = kept.lines().find(|id| *id != cells[2]).unwrap();
        let dropped = bench.read(&format!("{output}/drop.txt"));
        let changed = |at: usize, to: &str| {
            let cell =
                |(place, cell): (usize, &&str)| if place == at { to } else { *cell }.to_owned();
            let cells: Vec<String> = cells.iter().enumerate().map(cell).collect();
            cells.join("\t") + "\n"
        };
        let row = format!("{row}\n");
        let sound = bench.read(&format!("{output}/report.json"));
        let forgeries = [
            String::new(),
            changed(2, another),
            changed(2, dropped.lines().next().unwrap_or("nobody")),
            changed(3, "0.9001"),
            changed(0, "zz-nobody"),
            format!("{row}zz-nobody\t2026-11-01\t{}\t1.0000\n", cells[2]),
        ];
        for forged in forgeries {
            let count = table.lines().count() as i64 - 1 + forged.lines().count() as i64 - 1;
            forge(&bench, (&output, "outcome"), &[("replaced.tsv", &row, &forged)], |report| {
                report["outcome"]["replaced"] = json!(count);
            });
            bench.refuses(65, &command, &["replaced.tsv", "expected", "found"]);
            bench.write(&format!("{output}/replaced.tsv"), &table);
            bench.write(&format!("{output}/report.json"), &sound);
        }
        let slack = bench.read(&format!("{output}/slack.tsv"));
        let row = slack.lines().last().unwrap();
        let (page, _) = row.rsplit_once('\t').unwrap();
        for forged in [String::new(), format!("{page}\t77777\n")] {
            let forgery = ("slack.tsv", &*format!("{row}\n"), &*forged);
            forge(&bench, (&output, "outcome"), &[forgery], |_| {});
            bench.refuses(65, &command, &["slack.tsv"]);
            bench.write(&format!("{output}/slack.tsv"), &slack);
            bench.write(&format!("{output}/report.json"), &sound);
        }
        bench.done(&command);
    }
    assert!(tried > 0, "no day replaces a page");
}

#[test]
fn days_and_the_method_of_clusters_that_others_were_made_of_are_65() {
    let bench = clustered("star");
    let figures = [
        ("/days", json!(["2026-01-01", "2026-01-03"])),
        ("/method", json!("components")),
        ("/found/members", json!(9)),
        ("/found/clusters", json!(4)),
        ("/found/stars", json!(4)),
        ("/found/links", json!(1)),
        ("/found/changes", json!(3)),
        ("/found/sizes/0/clusters", json!(2)),
        ("/found/largest/0/cluster", json!("b")),
        ("/found/largest/0/members", json!(4)),
        ("/found/largest/0/kept", json!(2)),
        ("/found/largest/0/farthest", json!(3)),
        ("/found/largest/0/steps_at_most", json!(1)),
        ("/found/largest/0/diameter_at_most", json!(1)),
    ];
    each_is_found(&bench, "second", "verify second", &figures);
    let figures = [("/days", json!([])), ("/method", json!("components"))];
    each_is_found(&bench, "first", "verify first", &figures);
}

fn two_pages() -> Bench {
    let bench = Bench::new();
    let words = |other: usize| {
        (0..120)
            .map(|at| format!("w{} ", if at == 60 { other } else { at * 7919 }))
            .collect::<String>()
    };
    let page = |id: usize| json!({ "id": id, "text": words(id) }).to_string() + "\n";
    bench.write("pages.jsonl", page(1) + &page(2));
    bench.done("dedup --input pages.jsonl --output out");
    bench
}

#[test]
fn figures_of_what_is_lost_are_made_again() {
    let bench = two_pages();
    let report = bench.report("out/dedup");
    let more = |pointer: &str| one_more(&report, pointer);
    let figures = [
        ("/lost/shingles", more("/lost/shingles")),
        ("/lost/dropped_shingles", more("/lost/dropped_shingles")),
        ("/lost/share", json!(0.5)),
        ("/lost/over_tenth", json!(0.5)),
    ];
    each_is_found(&bench, "out/dedup", "verify out/dedup", &figures);
    forge(&bench, ("out/dedup", ""), &[], |report| report["lost"]["shingles"] = json!(1));
    bench.refuses(65, "verify out/dedup", &["do not add up"]);
}

/// A figure of a name that no report has is one that nobody recomputes.
#[test]
fn figures_of_other_names_are_65() {
    let lost = two_pages();
    let parts = ["", "/batch", "/outcome", "/outcome/dropped_pages", "/outcome/dropped_examples/0"];
    let of_corpus = ["/lost", "/outcome/files/verdicts.tsv"].into_iter().chain(parts);
    let checked = joined("");
    let of_join = ["/probe"].into_iter().chain(parts);
    let clustered = clustered("star");
    let of_clusters = ["", "/found", "/found/sizes/0", "/found/largest/0"];
    for (bench, output, parts) in [
        (&lost, "out/dedup", of_corpus.collect::<Vec<_>>()),
        (&checked, "out", of_join.collect()),
        (&clustered, "first", of_clusters.to_vec()),
    ] {
        let report = bench.read(&format!("{output}/report.json"));
        for part in parts {
            forge(bench, (output, ""), &[], |report| {
                report.pointer_mut(part).unwrap()["runs"] = json!(7);
            });
            bench.refuses(65, &format!("verify {output}"), &["unknown field `runs`"]);
            bench.write(&format!("{output}/report.json"), &report);
        }
        bench.done(&format!("verify {output}"));
    }
}
