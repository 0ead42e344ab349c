//! Presets: one name sets recipe, distance and check; the join knows them by the batch, and each part can be
//! overridden.

use serde_json::Value;

use crate::support::Bench;

/// Sixty pages.
fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("new.jsonl", bench.documents(30, 90));
    bench
}

/// What a join of `flags` says of its settings in the report.
fn settings(bench: &Bench, flags: &str) -> (String, Value) {
    let line = format!("dedup --batch new.seg --output out --overwrite {flags}");
    bench.done(&line);
    let parameters = &bench.report("out")["parameters"];
    (parameters["distance"].as_str().unwrap().to_owned(), parameters["check"].clone())
}

#[test]
fn a_preset_sets_recipe_distance_and_check_of_all_steps() {
    let bench = bench();
    for (flags, check) in [
        ("", "containment:0.9".into()),
        ("--preset balanced", "containment:0.9".into()),
        ("--preset paper", Value::Null),
        ("--width 128", "containment:0.9".into()),
        ("--recipe wide", Value::Null),
    ] {
        bench.done(&format!("fingerprint --input new.jsonl --output new.seg --overwrite {flags}"));
        let has_check = !check.is_null();
        assert_eq!(settings(&bench, ""), ("3".to_owned(), check), "{flags}");
        let told: Value = bench.json("inspect new.seg --json");
        let columns = told["columns"].as_array().unwrap();
        for name in ["checks", "anchors"] {
            let has_column = columns.iter().any(|column| column["column"] == name);
            assert_eq!(has_column, has_check, "{name} of {flags}");
        }
    }
}

#[test]
fn each_part_can_be_overridden() {
    let bench = bench();
    let make = |flags: &str| {
        bench.done(&format!("fingerprint --input new.jsonl --output new.seg --overwrite {flags}"));
    };
    make("");
    let check = |least: &str| Value::from(format!("containment:{least}"));
    assert_eq!(settings(&bench, "--distance 5"), ("5".to_owned(), check("0.9")));
    assert_eq!(settings(&bench, "--check containment:0.8"), ("3".to_owned(), check("0.8")));
    assert_eq!(settings(&bench, "--containment 0.95"), ("3".to_owned(), check("0.95")));
    assert_eq!(settings(&bench, "--preset paper"), ("3".to_owned(), Value::Null));
    make("--recipe shingles --preset balanced");
    assert_eq!(settings(&bench, "--preset balanced"), ("3".to_owned(), check("0.9")));
    bench.fails(2, "fingerprint --input new.jsonl --output x.seg --preset cheap");
    make("--preset paper");
    bench.fails(2, "dedup --batch new.seg --output out --overwrite --preset balanced");
}

/// The distance and the check of the only day that `run` makes with these flags after `before`.
fn of_run(bench: &Bench, preset: &str, flags: &str, environment: Option<&str>) -> (Value, Value) {
    let config = "inputs = [\"new.jsonl\"]\noutput = \"days/{date}\"\nstore = \"held\"\n";
    bench.write("day.toml", format!("{config}{preset}"));
    let mut command = bench.command(&format!("run day.toml --date 2026-01-01 {flags}"));
    let ended = command.envs(environment.map(|preset| ("DUPSIEVE_PRESET", preset))).output();
    assert!(ended.unwrap().status.success(), "{preset} {flags} {environment:?}");
    let parameters = bench.report("days/2026-01-01/dedup")["parameters"].clone();
    std::fs::remove_dir_all(bench.path("days")).unwrap();
    std::fs::remove_dir_all(bench.path("held")).unwrap();
    (parameters["distance"].clone(), parameters["check"].clone())
}

#[test]
fn a_flag_wins_over_the_environment_and_that_over_the_file() {
    let bench = bench();
    let (file, paper) = ("preset = \"paper\"\n", (Value::from("3"), Value::Null));
    let balanced = (Value::from("3"), Value::from("containment:0.9"));
    for (file, flags, environment, expected) in [
        (file, "", None, &paper),
        (file, "--preset balanced", None, &balanced),
        ("preset = \"balanced\"\n", "--preset paper", None, &paper),
        (file, "", Some("balanced"), &balanced),
        (file, "--preset balanced", Some("paper"), &balanced),
        ("", "", Some("paper"), &paper),
        ("[fingerprint]\npreset = \"paper\"\n", "", None, &paper),
        ("[fingerprint]\npreset = \"paper\"\n", "--preset balanced", None, &balanced),
    ] {
        let found = of_run(&bench, file, flags, environment);
        assert_eq!(found, *expected, "{file} {flags} {environment:?}");
    }
}

fn word(number: usize) -> String {
    let syllables = ["ba", "ke", "li", "mo", "nu", "ra", "se", "ti", "vo", "zu"];
    number.to_string().bytes().map(|digit| syllables[usize::from(digit - b'0')]).collect()
}

/// Texts of so many words, which no two of them share.
fn text(number: usize, words: usize) -> Vec<String> {
    (0..words).map(|at| word(1000 * (number + 1) + at)).collect()
}

/// Titles and whole pages in one store and one batch. A title with other punctuation says the same, a page with three other
/// words nearly the same. A title with another word is another title.
#[test]
fn a_mixed_crawl_gets_titles_and_pages_right_in_one_pass() {
    const PAGES: usize = 10;
    let bench = Bench::new();
    let [mut old, mut new] = ["id\ttext\n", "id\ttext\n"].map(str::to_owned);
    for page in 0..PAGES {
        let title = text(page, 12);
        let mut body = text(PAGES + page, 400);
        old += &format!("title-{page}\t{}\nbody-{page}\t{}\n", title.join(" "), body.join(" "));
        // A page that quotes the title is no title.
        let quoting = [&title[..], &text(2 * PAGES + page, 400)].concat();
        let mut edited = title.clone();
        edited[1 + page] = word(99);
        (0..3).for_each(|at| body[100 * at] = word(99));
        new += &format!(
            "new-title-{page}\t{}!\nnew-body-{page}\t{}\n",
            title.join(", "),
            body.join(" ")
        );
        new += &format!("edited-title-{page}\t{}\n", edited.join(" "));
        new += &format!("quoting-{page}\t{}\n", quoting.join(" "));
        new += &format!("other-{page}\t{}\n", text(3 * PAGES + page, 12).join(" "));
    }
    bench.write("old.tsv", old);
    bench.write("new.tsv", new);
    for day in ["old", "new"] {
        bench.done(&format!("fingerprint --input {day}.tsv --output {day}.seg"));
    }
    bench.store(&[("2026-11-20", "old")]);
    bench.done("dedup --batch new.seg --store store --matches all --output out");
    let verdicts = bench.read("out/verdicts.tsv");
    let rows = verdicts.lines().map(|row| row.split('\t').collect::<Vec<_>>());
    let dropped = rows.filter(|row| row[1] == "drop").map(|row| format!("{} {}", row[0], row[2]));
    let mut found: Vec<String> = dropped.collect();
    let mut expected: Vec<String> = (0..PAGES)
        .flat_map(|page| ["title", "body"].map(|it| format!("new-{it}-{page} {it}-{page}")))
        .collect();
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
    bench.done("verify out");
}
