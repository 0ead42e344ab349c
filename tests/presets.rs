//! Presets: one name sets recipe, distance and check; the join knows them by the batch, and each part can be
//! overridden.

use serde_json::Value;

use crate::support::Bench;

/// Two days of pages, the second of copies of the first and of others.
fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("old.jsonl", bench.documents(0, 60));
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
    for (flags, distance, check, bytes) in [
        ("", "7", "word-minhash-128x2:0.4".into(), 32),
        ("--preset balanced", "7", "word-minhash-128x2:0.4".into(), 32),
        ("--preset thorough", "10", "word-minhash-512x2:0.4".into(), 128),
        ("--preset paper", "3", Value::Null, 0),
        ("--recipe wide", "3", Value::Null, 0),
    ] {
        bench.done(&format!("fingerprint --input new.jsonl --output new.seg --overwrite {flags}"));
        assert_eq!(settings(&bench, ""), (distance.to_owned(), check), "{flags}");
        let told: Value = serde_json::from_str(&bench.answer("inspect new.seg --json")).unwrap();
        let columns = told["columns"].as_array().unwrap();
        let checks = columns.iter().find(|column| column["column"] == "checks");
        assert_eq!(
            checks.map_or(0, |column| column["bytes"].as_u64().unwrap()),
            60 * bytes,
            "{flags}"
        );
    }
}

#[test]
fn each_part_can_be_overridden() {
    let bench = bench();
    let make = |flags: &str| {
        bench.done(&format!("fingerprint --input new.jsonl --output new.seg --overwrite {flags}"));
    };
    make("");
    let check = |least: &str| Value::from(format!("word-minhash-128x2:{least}"));
    assert_eq!(settings(&bench, "--distance 5"), ("5".to_owned(), check("0.4")));
    assert_eq!(settings(&bench, "--check word-minhash:0.8"), ("7".to_owned(), check("0.8")));
    assert_eq!(settings(&bench, "--preset paper"), ("3".to_owned(), Value::Null));
    make("--recipe shingles --preset balanced");
    assert_eq!(settings(&bench, "--preset balanced"), ("7".to_owned(), check("0.4")));
    bench.fails(2, "fingerprint --input new.jsonl --output x.seg --preset cheap");
    make("--preset paper");
    bench.fails(2, "dedup --batch new.seg --output out --overwrite --preset balanced");
}

#[test]
fn a_configuration_names_it_once() {
    let bench = bench();
    let config = |preset: &str| {
        format!(
            "inputs = [\"{{date}}.jsonl\"]\noutput = \"out/{{date}}\"\nstore = \"store\"\n\
             dates = [\"2026-01-01\", \"2026-01-02\"]\n{preset}"
        )
    };
    bench.write("2026-01-01.jsonl", bench.documents(0, 60));
    bench.write("2026-01-02.jsonl", bench.documents(30, 90));
    for (preset, distance) in
        [("", "7"), ("preset = \"paper\"\n", "3"), ("preset = \"thorough\"\n", "10")]
    {
        bench.write("days.toml", config(preset));
        bench.done("run days.toml");
        let report = bench.report("out/2026-01-02/dedup");
        assert_eq!(report["parameters"]["distance"], distance, "{preset}");
        assert!(report["outcome"]["dropped"].as_u64().unwrap() >= 30, "{preset}: {report}");
        std::fs::remove_dir_all(bench.path("out")).unwrap();
        std::fs::remove_dir_all(bench.path("store")).unwrap();
    }
    bench.write("days.toml", config("preset = \"cheap\"\n"));
    bench.fails(78, "run days.toml");
}
