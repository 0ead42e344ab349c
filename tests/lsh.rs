//! Documents that overlap, found by buckets: every family, its files, and what is refused.

use serde_json::Value;

use crate::support::{Bench, Running};

/// Words that stand for a text; `replaced` of them are others.
fn text(page: u32, words: u32, replaced: u32) -> String {
    let word = |at: u32| {
        let of = if at < replaced { 7919 * (page + 1) } else { page % 10 };
        let number = (of * 1_000 + at).wrapping_mul(2_654_435_761);
        (0..4)
            .map(|digit| char::from(b'a' + (number >> (6 * digit)) as u8 % 26))
            .collect::<String>()
    };
    (0..words).map(word).collect::<Vec<_>>().join(" ")
}

/// Sixty pages of ten texts; most copies have a few other words at the beginning.
fn pages() -> String {
    let page = |page| {
        let text = text(page, 200, if page < 10 { 0 } else { page / 10 * 4 });
        format!("{{\"id\": \"p{page:02}\", \"text\": \"{text}\"}}\n")
    };
    (0..60).map(page).collect()
}

fn lines(text: &str) -> Vec<Vec<&str>> {
    text.lines().skip(1).map(|line| line.split('\t').collect()).collect()
}

#[test]
fn copies_with_other_words_are_found_and_the_first_is_kept() {
    let bench = Bench::new();
    bench.write("pages.jsonl", pages());
    let ended = bench.done("lsh --input pages.jsonl --similarity 0.7 --confirm exact --output out");
    assert_eq!(
        [ended.count("documents"), ended.count("kept"), ended.count("dropped")],
        [60, 10, 50]
    );
    let verdicts = bench.read("out/verdicts.tsv");
    assert!(verdicts.starts_with("id\tverdict\tof\tsimilarity\tagainst\n"));
    // Four other words at the beginning: 192 of 196 runs of five words are left, of 196 + 196 - 192.
    assert!(verdicts.contains("p13\tdrop\tp03\t0.9600\tbatch\n"), "{verdicts}");
    for row in lines(&verdicts) {
        let [id, verdict, of, ..] = row[..] else { panic!("{row:?}") };
        let expected =
            if id < "p10" { ("keep", String::new()) } else { ("drop", format!("p0{}", &id[2..])) };
        assert_eq!((verdict, of), (expected.0, &*expected.1), "{id}");
    }
    assert_eq!(bench.read("out/keep.txt").lines().count(), 10);
    assert_eq!(lines(&bench.read("out/matches.tsv")).len(), 50);
    let report: Value = serde_json::from_str(&bench.read("out/report.json")).unwrap();
    assert_eq!(report["buckets"]["groups"], 60);
    assert!(report["buckets"]["confirmed"].as_u64().unwrap() >= 50);
    bench.done("verify out");
}

#[test]
fn of_two_documents_the_one_with_less_text_goes() {
    let bench = Bench::new();
    let page = |id, words| format!("{{\"id\": \"{id}\", \"text\": \"{}\"}}\n", text(1, words, 0));
    bench.write(
        "pages.jsonl",
        ["a", "b", "c"].map(|id| page(id, if id == "b" { 250 } else { 200 })).concat(),
    );
    for keep in ["first-id", "longest"] {
        let line =
            "lsh --input pages.jsonl --similarity 0.7 --confirm exact --output out --overwrite";
        bench.done(&format!("{line} --keep {keep}"));
        assert_eq!(bench.read("out/keep.txt"), "b\n", "{keep}");
    }
    bench.done("verify out");
}

#[test]
fn any_number_of_workers_and_processes_writes_the_same_bytes() {
    let bench = Bench::new();
    bench.write("pages.jsonl", pages());
    let files = ["verdicts.tsv", "matches.tsv", "keep.txt", "drop.txt"];
    for confirm in ["signature", "exact", "simhash:12"] {
        let line =
            format!("lsh --input pages.jsonl --similarity 0.7 --matches all --confirm {confirm}");
        let outputs = ["--workers 1", "--workers 2", "--workers 7", "--workers 1 --processes 2"];
        let made: Vec<Vec<String>> = outputs
            .iter()
            .map(|cluster| {
                bench.done(&format!("{line} {cluster} --output out --overwrite"));
                files.map(|file| bench.read(&format!("out/{file}"))).into()
            })
            .collect();
        assert!(made.iter().all(|it| *it == made[0]), "{confirm}");
        assert!(made[0][1].lines().count() > 50, "{confirm}");
    }
}

#[test]
fn done_is_done_and_other_parameters_are_refused() {
    let bench = Bench::new();
    bench.write("pages.jsonl", pages());
    let line = "lsh --input pages.jsonl --output out";
    bench.done(&format!("{line} --dry-run"));
    assert!(!bench.path("out").exists());
    bench.done(line);
    let again = bench.done(&format!("{line} --workers 3 --memory 64MiB"));
    assert_eq!(again.summary()["already_done"], true);
    for other in
        ["--similarity 0.9", "--seed 1", "--confirm exact", "--shingle words:3", "--matches all"]
    {
        bench.fails(73, &format!("{line} {other}"));
    }
    bench.done(&format!("{line} --seed 1 --overwrite"));
    bench.write("mine/note.txt", "mine");
    bench.fails(73, "lsh --input pages.jsonl --output mine --overwrite");
}

#[test]
fn bad_empty_and_repeated_records_are_counted_and_listed() {
    let bench = Bench::new();
    let empty = r#"{"id": "e", "text": "?!"}"#;
    let short = r#"{"id": "s", "text": "two words"}"#;
    let again = r#"{"id": "p01", "text": "other"}"#;
    bench.write("pages.jsonl", pages() + &[empty, short, again, "not json", ""].join("\n"));
    let ended = bench.done("lsh --input pages.jsonl --max-bad 5% --output out");
    let counted = ["read", "kept", "dropped", "empty", "repeated", "quarantined"];
    let [read, kept, dropped, empty, repeated, bad] = counted.map(|name| ended.count(name));
    assert_eq!([read, kept + dropped, empty, repeated, bad], [64, 61, 1, 1, 1]);
    assert!(bench.read("out/verdicts.tsv").contains("e\tempty\t\t\t\n"));
    assert!(bench.read("out/verdicts.tsv").contains("s\tkeep\t\t\t\n"));
    assert!(bench.read("out.repeated.tsv").contains("p01\t"));
    assert!(bench.read("out.quarantine.tsv").contains("broken JSON"));
    bench.fails(65, "lsh --input pages.jsonl --output strict");
    bench.fails(65, "lsh --input pages.jsonl --max-bad 5% --max-repeated 0 --output strict");
    assert!(!bench.path("strict").exists());
}

#[test]
fn nothing_and_one_document_are_no_errors() {
    let bench = Bench::new();
    bench.write("none.jsonl", "");
    assert_eq!(bench.done("lsh --input none.jsonl --output none").count("documents"), 0);
    assert_eq!(bench.read("none/verdicts.tsv").lines().count(), 1);
    bench.write("one.jsonl", r#"{"id": "a", "text": "one page"}"#);
    assert_eq!(bench.done("lsh --input one.jsonl --output one").count("kept"), 1);
}

#[test]
fn copies_by_the_thousand_are_one_group() {
    let bench = Bench::new();
    let page = |id| format!("{{\"id\": \"{id}\", \"text\": \"the same error page for all\"}}\n");
    bench.write("pages.jsonl", (0..20_000).map(page).collect::<String>());
    let ended = bench.done("lsh --input pages.jsonl --memory 16MiB --output out");
    let counted = ["kept", "dropped", "groups", "candidates"].map(|name| ended.count(name));
    assert_eq!(counted, [1, 19_999, 1, 0]);
}

#[test]
fn vectors_are_compared_by_angle_and_by_distance() {
    let bench = Bench::new();
    let vectors = [
        ("a", "[1, 0, 0]"),
        ("b", "[0.99, 0.1, 0]"),
        ("c", "[0, 3, 0]"),
        ("d", "[0, 6, 0.1]"),
        ("z", "[0, 0, 0]"),
    ];
    let line = |(id, vector)| format!("{{\"id\": \"{id}\", \"vector\": {vector}}}\n");
    bench.write("vectors.jsonl", vectors.map(line).concat());
    bench.done(
        "lsh --family cosine --format vectors --similarity 0.95 --confirm exact --bands 20 --rows 2 \
         --input vectors.jsonl --output cosine",
    );
    let verdicts = bench.read("cosine/verdicts.tsv");
    assert!(verdicts.contains("b\tdrop\ta\t0.9949\tbatch\n"), "{verdicts}");
    assert!(verdicts.contains("d\tdrop\tc\t0.9999\tbatch\n") && verdicts.contains("z\tempty"));
    bench.done(
        "lsh --family euclidean --similarity 0.8 --confirm exact --bands 20 --rows 2 \
         --input vectors.jsonl --output euclidean",
    );
    let verdicts = bench.read("euclidean/verdicts.tsv");
    assert!(verdicts.contains("b\tdrop\ta\t0.9087\tbatch\n"), "{verdicts}");
    assert!(verdicts.contains("d\tkeep") && verdicts.contains("z\tkeep"));
}

#[test]
fn vectors_that_are_none_are_quarantined_and_other_lengths_refused() {
    let bench = Bench::new();
    let line = |id: u32, vector: &str| format!("{{\"id\": {id}, \"vector\": {vector}}}\n");
    let bad = ["[NaN, 1]", "[null, 1]", "[\"1\", 1]", "7", "[1e200, 1]"];
    let bad: String = (0..).zip(bad).map(|(id, vector)| line(id, vector)).collect();
    bench.write("bad.jsonl", bad + &line(9, "[1, 1]"));
    let lsh = "lsh --family euclidean --input";
    let ended = bench.done(&format!("{lsh} bad.jsonl --max-bad 5 --output out"));
    assert_eq!([ended.count("quarantined"), ended.count("kept")], [5, 1]);
    // Their slots are beyond 64 bits, so they would all be one.
    bench.write("long.jsonl", line(1, "[1e24, 1]") + &line(2, "[1e30, 1]") + &line(3, "[1e9, 1]"));
    let ended = bench.done(&format!("{lsh} long.jsonl --max-bad 2 --output long"));
    assert_eq!([ended.count("quarantined"), ended.count("kept")], [2, 1]);
    bench.write("lengths.jsonl", line(1, "[1, 1]") + &line(2, "[1, 1, 1]"));
    let said = bench.fails(65, &format!("{lsh} lengths.jsonl --output lengths"));
    assert!(said.contains("different lengths") && said.contains("3 components in \"2\""), "{said}");
    bench.fails(
        2,
        "fingerprint --format vectors --text-field vector --input bad.jsonl --output a.seg",
    );
}

/// Lists of half, single and double precision, as several programs write them, are the arrays of JSON with the same numbers.
#[test]
#[cfg(feature = "parquet")]
fn lists_of_parquet_are_vectors() {
    let bench = Bench::new();
    let vectors = [
        ("a", "[0.5, 0.0, 0.0]"),
        ("b", "[0.5, 0.0625, 0.0]"),
        ("c", "[0.0, 3.0, 0.0]"),
        ("d", "[0.0, 6.0, 0.125]"),
        ("null", "null"),
        ("hole", "[null, 1.0, 0.0]"),
    ];
    let line = |(id, vector)| format!("{{\"id\": \"{id}\", \"vector\": {vector}}}\n");
    bench.write("vectors.jsonl", vectors.map(line).concat());
    let data = format!("{}/tests/data/parquet", env!("CARGO_MANIFEST_DIR"));
    let reasons = |name: &str| {
        let list = bench.read(&format!("{name}.quarantine.tsv"));
        let reasons = list.lines().map(|line| line.rsplit('\t').next().unwrap().to_owned());
        reasons.collect::<Vec<String>>()
    };
    for (family, settings) in [
        ("cosine", "--family cosine --format vectors --similarity 0.95 --confirm exact"),
        ("euclidean", "--family euclidean --similarity 0.8 --confirm exact"),
    ] {
        let line = format!("lsh {settings} --bands 20 --rows 2 --max-bad 2 --input");
        bench.done(&format!("{line} vectors.jsonl --output {family}"));
        let expected = bench.read(&format!("{family}/verdicts.tsv"));
        assert!(expected.contains("b\tdrop\ta\t"), "{expected}");
        for name in ["half", "float", "double", "fixed", "polars", "duckdb"] {
            let output = format!("{family}-{name}");
            let ended =
                bench.done(&format!("{line} {data}/vectors-{name}.parquet --output {output}"));
            assert_eq!([ended.count("documents"), ended.count("quarantined")], [4, 2], "{output}");
            assert_eq!(bench.read(&format!("{output}/verdicts.tsv")), expected, "{output}");
            assert_eq!(reasons(&output), reasons(family), "{output}");
        }
    }
    // A folder gives both.
    bench.write("both/vectors.jsonl", bench.read("vectors.jsonl"));
    std::fs::copy(format!("{data}/vectors-half.parquet"), bench.path("both/half.parquet")).unwrap();
    let ended = bench.done("lsh --family euclidean --input both --max-bad 4 --output twice");
    assert_eq!([ended.count("repeated"), ended.count("quarantined")], [4, 4]);
    let said = bench.fails(
        65,
        &format!("lsh --family euclidean --text-field id --id-field vector --input {data}/vectors-half.parquet --output x"),
    );
    assert!(said.contains("lists of floating-point numbers in \"id\", found no lists"), "{said}");
}

#[test]
fn fingerprints_and_features_made_elsewhere_are_taken() {
    let bench = Bench::new();
    bench.write("prints.tsv", "a\t0x0\nb\t0x7\nc\t0xffffffff00000000\n");
    bench.done(
        "lsh --family hamming --format fingerprints --similarity 0.95 --confirm simhash:3 \
         --input prints.tsv --output prints",
    );
    assert!(bench.read("prints/verdicts.tsv").contains("b\tdrop\ta\t0.9531\tbatch\n"));
    bench
        .write("features.tsv", "a\tsea:2 ship:1\nb\tsea:2 ship:1.1\nc\tbread:1\nd\tship:1 sea:1\n");
    bench.done("lsh --format features --confirm exact --input features.tsv --output sets");
    assert!(bench.read("sets/verdicts.tsv").contains("d\tdrop\ta\t1.0000\tbatch\n"));
    bench.done(
        "lsh --family cosine --format features --similarity 0.99 --confirm exact --bands 30 --rows 2 \
         --input features.tsv --output cosine",
    );
    let verdicts = bench.read("cosine/verdicts.tsv");
    assert!(verdicts.contains("b\tdrop\ta\t0.9992\tbatch\n") && verdicts.contains("d\tkeep"));
}

#[test]
fn flags_that_say_nothing_or_nonsense_are_refused() {
    let bench = Bench::new();
    bench.write("pages.jsonl", pages());
    bench.write("prints.tsv", "a\t0x0\n");
    let lsh = "lsh --input pages.jsonl --output out";
    for wrong in [
        "--family simhash",
        "--similarity 2",
        "--bands 5",
        "--bands 0 --rows 3",
        "--bands 5 --rows 5 --hashes 30",
        "--hashes 5000",
        "--confirm none",
        "--confirm simhash:65",
        "--family euclidean --confirm simhash:3",
        "--shingle words:0",
        "--family cosine --permutations one",
        "--width 128",
        "--recipe words",
        "--keep oldest",
    ] {
        bench.fails(2, &format!("{lsh} {wrong}"));
    }
    bench.fails(2, "lsh --format fingerprints --input prints.tsv --output out");
    bench.fails(66, "lsh --input missing.jsonl --output out");
    assert!(!bench.path("out").exists());
}

/// A configuration and the environment are for other commands too.
#[test]
fn a_width_that_was_not_typed_is_no_error() {
    let bench = Bench::new();
    bench.write("pages.jsonl", pages());
    bench.write("wide.toml", "[fingerprint]\nwidth = 128\n");
    bench.done("lsh --input pages.jsonl --config wide.toml --output out");
    let mut command = bench.command("lsh --input pages.jsonl --output out");
    command.env("DUPSIEVE_WIDTH", "128");
    let ended = Running::start(command).end();
    assert_eq!((ended.code, &ended.summary()["already_done"]), (0, &Value::Bool(true)));
}

#[test]
fn outputs_without_distances_are_refused_by_name() {
    let bench = Bench::new();
    bench.write("pages.jsonl", pages());
    bench.done("lsh --input pages.jsonl --output out");
    let said = bench.fails_to_answer(2, "sample out");
    assert!(said.contains("locality-sensitive hashing"), "{said}");
}

#[test]
fn a_plan_shows_the_curve_and_counts_a_sample() {
    let bench = Bench::new();
    bench.write("pages.jsonl", pages());
    let plan: Value =
        serde_json::from_str(&bench.answer("lsh plan --similarity 0.8 --json")).unwrap();
    assert_eq!([&plan["bands"], &plan["rows"]], [16, 7]);
    assert_eq!(plan["curve"][20]["found"], 1.0);
    assert!((plan["curve"][16]["found"].as_f64().unwrap() - 0.977).abs() < 1e-3);
    assert_eq!([&plan["key_bytes"], &plan["evidence_bytes"]], [128, 448]);
    let shown = bench.answer(
        "lsh plan --bands 20 --rows 4 --similarity 0.7 --confirm exact --input pages.jsonl",
    );
    assert!(shown.contains("of 1770 pairs of 60 pages"), "{shown}");
    assert!(shown.contains("<- the least similarity"), "{shown}");
    bench.fails_to_answer(2, "lsh plan --dry-run");
    bench.fails_to_answer(2, "lsh plan --output out");
    bench.fails_to_answer(2, "lsh plan --family euclidean --confirm simhash:3");
    bench.write("bad.jsonl", pages() + "not json\n");
    let said = bench.fails_to_answer(65, "lsh plan --input bad.jsonl");
    assert!(said.contains("broken JSON") && said.contains("1 of 61"), "{said}");
    let shown = bench.answer("lsh plan --input bad.jsonl --max-bad 5%");
    assert!(shown.contains("of 60 pages"), "{shown}");
}

/// Days by days: a segment that keeps bands, compared with the store of the days before, its kept pages added.
#[test]
fn a_store_that_keeps_bands_is_compared_with() {
    let bench = Bench::new();
    let all = pages();
    let lines: Vec<&str> = all.lines().collect();
    bench.done("store init store");
    for (day, pages) in ["2026-11-20", "2026-11-21"].into_iter().zip(lines.chunks(25)) {
        bench.write("day.jsonl", pages.join("\n"));
        bench.done(&format!("fingerprint --input day.jsonl --check minhash-64x8 --keep-bands minhash-20x4 --output {day}.seg"));
        let ended = bench
            .done(&format!("lsh --batch {day}.seg --store store --similarity 0.5 --output {day}"));
        assert_eq!(ended.count("documents"), 25);
        bench.done(&format!(
            "store add store --segment {day}.seg --day {day} --only {day}/keep.txt"
        ));
        bench.done(&format!("verify {day}"));
    }
    assert_eq!(bench.read("2026-11-20/keep.txt").lines().count(), 10);
    let verdicts = bench.read("2026-11-21/verdicts.tsv");
    for row in self::lines(&verdicts) {
        let [id, verdict, of, _, against] = row[..] else { panic!("{row:?}") };
        assert_eq!(
            [verdict, of, against],
            ["drop", &format!("p0{}", &id[2..]), "2026-11-20"],
            "{id}"
        );
    }
    // Any number of workers and processes, and a merged store, give the same bytes.
    bench.write(
        "day.jsonl",
        lines[50..].join("\n")
            + "\n"
            + r#"{"id": "new", "text": "one page that is like no other one here"}"#,
    );
    bench.done("fingerprint --input day.jsonl --check minhash-64x8 --keep-bands minhash-20x4 --output last.seg");
    let files = ["verdicts.tsv", "matches.tsv", "keep.txt", "drop.txt"];
    let make = |flags: &str| -> Vec<String> {
        bench.done(&format!(
            "lsh --batch last.seg --store store --similarity 0.5 --output last --overwrite {flags}"
        ));
        files.map(|file| bench.read(&format!("last/{file}"))).into()
    };
    for detail in ["--matches all", "--matches best"] {
        let made = make(detail);
        assert!(made[1].lines().count() >= 10 && made[1].contains("2026-11-20"), "{made:?}");
        assert_eq!(made[2], "new\n");
        for flags in ["--workers 1", "--workers 7", "--workers 1 --processes 2", "--memory 16MiB"] {
            assert!(make(&format!("{detail} {flags}")) == made, "{flags}");
        }
        bench.done("store compact store");
        assert!(make(detail) == made);
    }
    let simhash = make("--confirm simhash:20");
    assert!(simhash[0].contains("new\tkeep"), "{simhash:?}");
    // What does not fit is refused, with what to do.
    bench.fails(2, "lsh --batch last.seg --confirm exact --output x");
    bench.fails(2, "lsh --batch last.seg --bands 3 --rows 3 --output x");
    let said = bench.fails(2, "lsh --input day.jsonl --store store --output x");
    assert!(said.contains("--keep-bands") && said.contains("lsh --batch"), "{said}");
    bench.done("fingerprint --input day.jsonl --check minhash-64x8 --keep-bands minhash-20x5 --output other.seg");
    let said = bench.fails(2, "lsh --batch other.seg --store store --output x");
    assert!(said.contains("20x4") && said.contains("20x5"), "{said}");
    bench.fails(73, "store add store --segment other.seg --day 2026-11-23");
    bench.done("fingerprint --input day.jsonl --output plain.seg");
    let said = bench.fails(2, "lsh --batch plain.seg --output x");
    assert!(said.contains("--keep-bands"), "{said}");
    bench.fails(2, "fingerprint --input day.jsonl --keep-bands minhash --output x.seg");
}
