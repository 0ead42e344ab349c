//! `verify` proves: it recomputes the matches and a sample of the verdicts from the batch and the store.
//! Forged outputs whose files agree with each other, and whose sums are right, are found.

use std::fs;

use serde_json::{Value, json};
use xxhash_rust::xxh3::xxh3_128;

use crate::support::{Bench, Page};

/// Six pages far from each other; copies, near pages, and a page of the batch near two of the store.
fn joined(flags: &str) -> Bench {
    let bench = Bench::new();
    let far = |page: u64| u128::from(page.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let named = |pages: &[(&str, u128)]| -> Vec<Page> {
        pages.iter().map(|&(id, bits)| (id.to_owned(), bits)).collect()
    };
    let old = [("held-far", far(1) ^ 7), ("held-near", far(1) ^ 1), ("held-other", far(2))];
    bench.segment("old", 64, &named(&old));
    bench.done("store init store");
    bench.done("store add store --segment old.seg --day 2026-01-01");
    let mut pages = named(&[
        ("a-first", far(3)),
        ("b-copy", far(3)),
        ("c-near", far(3) ^ 3),
        ("d-of-store", far(1)),
        ("e-of-store", far(2) ^ 1),
        ("f-alone", far(4)),
        ("g-pair", far(5)),
        ("h-pair", far(5) ^ 1),
    ]);
    pages.extend((10..60).map(|page| (format!("x-{page}"), far(page))));
    bench.segment("batch", 64, &pages);
    bench.done(&format!("dedup --batch batch.seg --store store --output out {flags}"));
    bench
}

/// Rewrites files of the output, puts their sums into the report, changes it, and seals it.
fn forge(bench: &Bench, files: &[(&str, &str, &str)], change: impl Fn(&mut Value)) {
    let digest = |text: &str| format!("{:032x}", xxh3_128(text.as_bytes()));
    let mut report = bench.report("out");
    for (name, from, to) in files {
        let before = bench.read(&format!("out/{name}"));
        let after = before.replacen(from, to, 1);
        assert_ne!(before, after, "{name} does not hold `{from}`");
        report["outcome"]["files"][name] = json!({ "bytes": after.len(), "xxh3": digest(&after) });
        bench.write(&format!("out/{name}"), after);
    }
    change(&mut report);
    report["run"]["xxh3"] = "0".repeat(32).into();
    let unsealed = serde_json::to_string_pretty(&report).unwrap() + "\n";
    let seal = digest(&unsealed);
    bench.write("out/report.json", unsealed.replace(&"0".repeat(32), &seal));
}

/// Adds to counts of the outcome.
fn add(report: &mut Value, counts: &[(&str, i64)]) {
    for (pointer, more) in counts {
        let parent = report["outcome"].as_object_mut().unwrap();
        let (name, distance) = pointer.split_once('/').unwrap_or((pointer, ""));
        let count = match distance {
            "" => &mut parent[name],
            _ => parent[name].as_object_mut().unwrap().entry(distance).or_insert(json!(0)),
        };
        *count = json!(count.as_i64().unwrap() + more);
    }
    let distances = report["outcome"]["distances"].as_object_mut().unwrap();
    distances.retain(|_, count| *count != json!(0));
}

#[test]
fn what_was_joined_is_recomputed() {
    for flags in ["", "--matches all", "--keep first-id --distance 2"] {
        let bench = joined(flags);
        let ended = bench.done("verify out");
        let rows = bench.read("out/matches.tsv").lines().count() as u64 - 1;
        let counts = ["recomputed", "rows_recomputed", "inputs_verified"];
        assert_eq!(counts.map(|it| ended.count(it)), [58, rows, 2], "{flags}");
        assert!(!ended.stderr.contains("nothing was recomputed"));
        let sampled = bench.done("verify out --sample 5 --seed 3").count("recomputed");
        assert!((5..10).contains(&sampled), "{sampled}");
        assert_eq!(bench.done("verify out --sample 5 --all").count("recomputed"), 58);
        bench.done("verify out --memory 1MiB");
    }
}

#[test]
fn forgeries_that_agree_with_themselves_are_65() {
    type Forgery<'a> = (&'a str, &'a [(&'a str, &'a str, &'a str)], &'a [(&'a str, i64)]);
    let keep = ("keep.txt", "a-first\n", "a-first\nb-copy\n");
    let forgeries: [Forgery<'_>; 7] = [
        (
            "matches.tsv:2: this is not the distance of the two pages: expected 0, found 3",
            &[
                ("matches.tsv", "b-copy\ta-first\t0\t", "b-copy\ta-first\t3\t"),
                ("verdicts.tsv", "b-copy\tdrop\ta-first\t0\t", "b-copy\tdrop\ta-first\t3\t"),
            ],
            &[("distances/0", -1), ("distances/3", 1)],
        ),
        (
            "the store holds no such page under this day: found `nobody`",
            &[
                ("matches.tsv", "\theld-near\t", "\tnobody\t"),
                ("verdicts.tsv", "\theld-near\t", "\tnobody\t"),
            ],
            &[],
        ),
        (
            "the store holds no such page under this day: found `held-near` 2026-01-02",
            &[
                ("matches.tsv", "\theld-near\t1\t2026-01-01", "\theld-near\t1\t2026-01-02"),
                ("verdicts.tsv", "\theld-near\t1\t2026-01-01", "\theld-near\t1\t2026-01-02"),
            ],
            &[],
        ),
        (
            "verdicts.tsv:3: a second page of copies is kept",
            &[
                ("matches.tsv", "b-copy\ta-first\t0\tbatch\tdrop\n", ""),
                ("verdicts.tsv", "b-copy\tdrop\ta-first\t0\tbatch", "b-copy\tkeep\t\t\t"),
                ("drop.txt", "b-copy\n", ""),
                keep,
            ],
            &[("distances/0", -1), ("matches", -1), ("dropped", -1), ("kept", 1)],
        ),
        (
            "verdicts.tsv:6: the page is kept, but it is near one that is held or kept",
            &[
                ("matches.tsv", "e-of-store\theld-other\t1\t2026-01-01\tdrop\n", ""),
                (
                    "verdicts.tsv",
                    "e-of-store\tdrop\theld-other\t1\t2026-01-01",
                    "e-of-store\tkeep\t\t\t",
                ),
                ("drop.txt", "e-of-store\n", ""),
                ("keep.txt", "a-first\n", "a-first\ne-of-store\n"),
            ],
            &[("distances/1", -1), ("matches", -1), ("dropped", -1), ("kept", 1)],
        ),
        (
            "verdicts.tsv:5: this is not the verdict of the keep rule: \
               expected drop held-near 1 2026-01-01, found drop held-far 3 2026-01-01",
            &[
                ("matches.tsv", "\theld-near\t1\t", "\theld-far\t3\t"),
                ("verdicts.tsv", "\theld-near\t1\t", "\theld-far\t3\t"),
            ],
            &[("distances/1", -1), ("distances/3", 1)],
        ),
        (
            "verdicts.tsv:8: the page is dropped, but",
            &[
                (
                    "verdicts.tsv",
                    "g-pair\tkeep\t\t\t\nh-pair\tdrop\tg-pair\t1\tbatch",
                    "g-pair\tdrop\th-pair\t1\tbatch\nh-pair\tkeep\t\t\t",
                ),
                ("matches.tsv", "h-pair\tg-pair\t1\tbatch\tdrop", "h-pair\tg-pair\t1\tbatch\tkeep"),
                ("keep.txt", "g-pair", "h-pair"),
                ("drop.txt", "h-pair", "g-pair"),
            ],
            &[],
        ),
    ];
    let bench = joined("");
    let sound = bench.files("out");
    let report = bench.read("out/report.json");
    let restore = |bench: &Bench| {
        sound.iter().for_each(|(name, bytes)| bench.write(&format!("out/{name}"), bytes));
        bench.write("out/report.json", &report);
        bench.done("verify out");
    };
    for (number, (told, files, counts)) in forgeries.iter().enumerate() {
        forge(&bench, files, |report| add(report, counts));
        bench.fails(65, "verify out");
        // The first three are found row by row, whatever is sampled.
        let sample = if number < 3 { "--sample 0" } else { "" };
        let said = bench.fails(65, &format!("verify out {sample}"));
        assert!(said.contains(told), "{told}: {said}");
        restore(&bench);
    }
}

#[test]
fn a_match_that_no_verdict_names_is_missed_where_all_are_listed() {
    let bench = joined("--matches all");
    let row = ("matches.tsv", "d-of-store\theld-far\t3\t2026-01-01\tdrop\n", "");
    forge(&bench, &[row], |report| add(report, &[("matches", -1), ("distances/3", -1)]));
    let said = bench.fails(65, "verify out");
    assert!(said.contains("verdicts.tsv:5: not all matches of this page are listed"), "{said}");
    assert!(said.contains("expected 2 rows of matches.tsv, found 1"), "{said}");
}

#[test]
fn inputs_that_have_moved_are_told_and_nothing_is_called_recomputed() {
    let bench = joined("");
    fs::rename(bench.path("batch.seg"), bench.path("elsewhere.seg")).unwrap();
    let ended = bench.done("verify out");
    assert_eq!([ended.count("recomputed"), ended.count("rows_recomputed")], [0, 0]);
    assert!(ended.stderr.contains("nothing was recomputed, because the batch"), "{ended:?}");
    fs::rename(bench.path("elsewhere.seg"), bench.path("batch.seg")).unwrap();
    fs::rename(bench.path("store"), bench.path("elsewhere")).unwrap();
    let ended = bench.done("verify out");
    assert_eq!(ended.count("recomputed"), 0);
    assert!(ended.stderr.contains("nothing was recomputed, because the store"), "{ended:?}");
}

#[test]
fn a_report_has_the_recipe_and_no_json_in_strings() {
    let bench = joined("");
    let report = bench.report("out");
    assert_eq!(report["recipe"]["width"], 64);
    assert_eq!(report["day"], Value::Null);
    let mut values = vec![&report];
    while let Some(value) = values.pop() {
        match value {
            Value::String(text) => assert!(!text.starts_with(['{', '[']), "{text}"),
            Value::Array(array) => values.extend(array),
            Value::Object(object) => values.extend(object.values()),
            _ => {}
        }
    }
}

/// What a report lacks is not guessed.
#[test]
fn a_report_without_the_recipe_is_refused() {
    let bench = joined("");
    forge(&bench, &[], |report| _ = report.as_object_mut().unwrap().remove("recipe"));
    for line in ["verify out", "dedup --batch batch.seg --store store --output out"] {
        let said = bench.fails(65, line);
        assert!(said.contains("missing field `recipe`"), "{said}");
    }
}

#[test]
fn a_row_on_a_page_that_is_not_in_the_batch_is_found_at_the_end_too() {
    let bench = joined("--matches all");
    let last = "h-pair\tg-pair\t1\tbatch\tdrop\n";
    let more = format!("{last}z-nobody\ta-first\t1\tbatch\tdrop\n");
    forge(&bench, &[("matches.tsv", last, &more)], |report| {
        add(report, &[("distances/1", 1), ("matches", 1)]);
    });
    let said = bench.fails(65, "verify out");
    assert!(said.contains("no page of the batch that can match"), "{said}");
}

/// A page with words and one without.
fn with_an_empty_page() -> Bench {
    let bench = Bench::new();
    let pages = "{\"id\": \"a\", \"text\": \"some words\"}\n{\"id\": \"b\", \"text\": \"\"}\n";
    bench.write("pages.jsonl", pages);
    bench.done("fingerprint --input pages.jsonl --check minhash --output batch.seg");
    bench.done("dedup --batch batch.seg --output out");
    bench
}

#[test]
fn a_page_with_words_is_not_called_empty() {
    let bench = with_an_empty_page();
    let (told, forged) = ("a\tkeep\t\t\t\nb\tempty\t\t\t\n", "a\tempty\t\t\t\nb\tkeep\t\t\t\n");
    let files = [("verdicts.tsv", told, forged), ("keep.txt", "a\n", "b\n")];
    forge(&bench, &files, |_| ());
    let said = bench.fails(65, "verify out");
    assert!(said.contains("verdicts.tsv:2") && said.contains("the empty ones"), "{said}");
}

#[test]
fn a_report_with_other_counts_than_its_batch_is_refused() {
    let bench = with_an_empty_page();
    forge(
        &bench,
        &[("keep.txt", "a\n", "a\nb\n"), ("verdicts.tsv", "b\tempty", "b\tkeep")],
        |report| {
            add(report, &[("kept", 1)]);
            report["batch"]["fingerprinted"] = json!(2);
            report["batch"]["empty"] = json!(0);
        },
    );
    let said = bench.fails(65, "verify out");
    assert!(said.contains("the counts of the report and of the batch differ"), "{said}");
}

#[test]
fn a_day_on_which_nothing_was_kept_disturbs_no_check() {
    let bench = with_an_empty_page();
    bench.write("nobody.txt", "");
    bench.done("store init store");
    bench.done("store add store --segment batch.seg --day 2026-01-01 --only nobody.txt");
    bench.done("dedup --batch batch.seg --store store --check minhash:0.5 --output later");
    assert_eq!(bench.done("verify later").count("recomputed"), 1);
}

/// So many words of a page; the first `others` of them are its own, and the rest are those of `of`.
fn words(page: u32, of: u32, others: u32) -> String {
    let word = |at: u32| {
        let number =
            ((if at < others { page } else { of }) * 1000 + at).wrapping_mul(2_654_435_761);
        (0..4)
            .map(|digit| char::from(b'a' + (number >> (6 * digit)) as u8 % 26))
            .collect::<String>()
    };
    (0..120).map(word).collect::<Vec<_>>().join(" ")
}

/// Pages of the store, a copy, pages that overlap, one that is near two of the store, and others.
fn bucketed(flags: &str) -> Bench {
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
        bench.done(&format!("fingerprint --input {name}.jsonl --check word-minhash-64x8 --keep-bands minhash-30x3 --output {name}.seg"));
    }
    bench.done("store init store");
    bench.done("store add store --segment old.seg --day 2026-01-01");
    bench.done(&format!("lsh --batch new.seg --store store --output out {flags}"));
    bench
}

/// The line of a file that begins so.
fn line(bench: &Bench, file: &str, begin: &str) -> String {
    let text = bench.read(&format!("out/{file}"));
    let found = text.lines().find(|line| line.starts_with(begin));
    found.unwrap_or_else(|| panic!("{file} has no {begin}: {text}")).to_owned()
}

#[test]
fn what_shares_buckets_is_recomputed() {
    for flags in [
        "--similarity 0.4",
        "--similarity 0.4 --matches all",
        "--confirm simhash:20 --similarity 0.9",
    ] {
        let bench = bucketed(flags);
        let report = bench.report("out");
        assert_eq!(report["probe"]["pairs"], report["buckets"]["stored_candidates"]);
        let ended = bench.done("verify out");
        let rows = bench.read("out/matches.tsv").lines().count() as u64 - 1;
        assert!(rows >= 3, "{flags}");
        let counts = ["recomputed", "rows_recomputed", "inputs_verified"];
        assert_eq!(counts.map(|it| ended.count(it)), [45, rows, 2], "{flags}");
        assert!(!ended.stderr.contains("nothing was recomputed"));
        assert!(bench.done("verify out --sample 5 --seed 3").count("recomputed") >= 5);
        bench.done("verify out --memory 1MiB");
        fs::rename(bench.path("store"), bench.path("elsewhere")).unwrap();
        let ended = bench.done("verify out");
        assert_eq!(ended.count("recomputed"), 0);
        assert!(ended.stderr.contains("nothing was recomputed, because the store"), "{ended:?}");
    }
}

#[test]
fn documents_that_overlap_are_recomputed_if_they_are_there() {
    let bench = bucketed("--similarity 0.4");
    for flags in [
        "--similarity 0.4",
        "--similarity 0.4 --matches all --keep longest",
        "--similarity 0.7 --family cosine --confirm exact",
    ] {
        bench.done(&format!("lsh --input new.jsonl --output out --overwrite {flags}"));
        let ended = bench.done("verify out");
        let rows = bench.read("out/matches.tsv").lines().count() as u64 - 1;
        assert!(rows >= 2, "{flags}");
        let counts = ["recomputed", "rows_recomputed", "inputs_verified"];
        assert_eq!(counts.map(|it| ended.count(it)), [45, rows, 1], "{flags}");
    }
    let more = bench.read("new.jsonl") + "\n";
    bench.write("new.jsonl", more);
    let ended = bench.done("verify out");
    assert_eq!(ended.count("recomputed"), 0);
    assert!(ended.stderr.contains("nothing was recomputed, because the input"), "{ended:?}");
}

#[test]
fn forged_overlaps_that_agree_with_themselves_are_65() {
    let bench = bucketed("--similarity 0.4");
    let sound = bench.files("out");
    let report = bench.read("out/report.json");
    let like = line(&bench, "matches.tsv", "c-like\ta-first\t");
    let of_store = line(&bench, "matches.tsv", "d-of-store\theld-near\t");
    let verdict = |id: &str| line(&bench, "verdicts.tsv", id);
    let [verdict_like, verdict_store] = ["c-like", "d-of-store"].map(verdict);
    let far = |of: &str, by: &str| of.replacen("held-near", by, 1);
    let share = |of: &str| {
        let at = of.rfind("\tbatch").unwrap();
        of[..at - 6].to_owned() + "0.5001" + &of[at..]
    };
    let alone = |of: &str| of.replacen("a-first", "ab-alone", 1);
    let kept = "c-like\tkeep\t\t\t".to_owned();
    let [like_line, store_line] = [&like, &of_store].map(|row| format!("{row}\n"));
    type Forgery<'a> = (&'a str, Vec<(&'a str, String, String)>, &'a [(&'a str, i64)]);
    let forgeries: Vec<Forgery<'_>> = vec![
        (
            "this is not the similarity of the two pages",
            vec![
                ("matches.tsv", like.clone(), share(&like)),
                ("verdicts.tsv", verdict_like.clone(), share(&verdict_like)),
            ],
            &[],
        ),
        (
            "the two pages share no bucket",
            vec![
                ("matches.tsv", like.clone(), alone(&like)),
                ("verdicts.tsv", verdict_like.clone(), alone(&verdict_like)),
            ],
            &[],
        ),
        (
            "the store holds no such page under this day: found `nobody` 2026-01-01",
            vec![
                ("matches.tsv", of_store.clone(), far(&of_store, "nobody")),
                ("verdicts.tsv", verdict_store.clone(), far(&verdict_store, "nobody")),
            ],
            &[],
        ),
        (
            "the two pages share no bucket",
            vec![
                ("matches.tsv", of_store.clone(), far(&of_store, "held-x")),
                ("verdicts.tsv", verdict_store.clone(), far(&verdict_store, "held-x")),
            ],
            &[],
        ),
        (
            "the page is kept, but it is near one that is held or kept",
            vec![
                ("matches.tsv", like_line, String::new()),
                ("verdicts.tsv", verdict_like, kept),
                ("drop.txt", "c-like\n".to_owned(), String::new()),
                ("keep.txt", "ab-alone\n".to_owned(), "ab-alone\nc-like\n".to_owned()),
            ],
            &[("matches", -1), ("dropped", -1), ("kept", 1)],
        ),
        (
            "the page is kept, but it is near one that is held or kept",
            vec![
                ("matches.tsv", store_line, String::new()),
                ("verdicts.tsv", verdict_store, "d-of-store\tkeep\t\t\t".to_owned()),
                ("drop.txt", "d-of-store\n".to_owned(), String::new()),
                ("keep.txt", "ab-alone\n".to_owned(), "ab-alone\nd-of-store\n".to_owned()),
            ],
            &[("matches", -1), ("dropped", -1), ("kept", 1)],
        ),
    ];
    for (number, (told, files, counts)) in forgeries.iter().enumerate() {
        let files: Vec<(&str, &str, &str)> =
            files.iter().map(|(name, from, to)| (*name, &**from, &**to)).collect();
        forge(&bench, &files, |report| add(report, counts));
        // The first four are found row by row, whatever is sampled.
        let sample = if number < 4 { "--sample 0" } else { "" };
        let said = bench.fails(65, &format!("verify out {sample}"));
        assert!(said.contains(told), "{told}: {said}");
        sound.iter().for_each(|(name, bytes)| bench.write(&format!("out/{name}"), bytes));
        bench.write("out/report.json", &report);
        bench.done("verify out");
    }
}
