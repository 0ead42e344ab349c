//! Whole days with `run` and `[clusters]`: after every day, the clusters beside it are those of all days so far,
//! byte for byte, whatever happened to the days.

use std::fs;

use crate::clusters::state;
use crate::support::Bench;

const DAYS: [&str; 3] = ["2026-11-18", "2026-11-19", "2026-11-20"];

/// The bundled sample, with the section `[clusters]` in `sample.toml` and without it in `plain.toml`.
fn sample(method: &str) -> Bench {
    let bench = Bench::new();
    let config = format!(
        "dates = {DAYS:?}\n[fingerprint]\ntime_field = \"fetched\"\n[dedup]\nmatches = \"all\"\n\
         [machines]\nworkers = 1\n"
    );
    bench.sample("plain.toml", &config);
    bench.sample("sample.toml", &format!("{config}[clusters]\nmethod = \"{method}\"\n"));
    bench
}

/// Fails unless the clusters of the last of these days, in the order in which they entered the store, are those
/// of all of them. `name` is of a folder that no other check uses.
fn check(bench: &Bench, days: &[&str], method: &str, name: &str) {
    let last = days.last().unwrap();
    let all: Vec<String> = days.iter().map(|day| format!("out/{day}")).collect();
    bench.done(&format!("cluster --matches {} --output {name} --method {method}", all.join(" ")));
    let own = format!("out/{last}/clusters");
    assert_eq!(state(bench, &own), state(bench, name), "{name}");
    bench.done(&format!("verify out/{last}"));
}

#[test]
fn each_day_has_the_clusters_of_all_days_so_far() {
    for method in ["star", "components"] {
        let bench = sample(method);
        let ended = bench.done("run sample.toml");
        assert!(ended.count("members") > ended.count("clusters") && ended.count("clusters") > 10);
        assert!(ended.summary()["paths"]["clusters"].as_str().unwrap().ends_with("20/clusters"));
        for (at, day) in DAYS.iter().enumerate() {
            check(&bench, &DAYS[..=at], method, &format!("all-{at}"));
            let names = bench.names(&format!("out/{day}"));
            assert!(names.iter().all(|name| !name.starts_with('.')), "{names:?}");
            assert_eq!(bench.path(&format!("out/{day}/clusters/changes.tsv")).exists(), at > 0);
        }
        let (files, times) = (bench.files("out"), bench.times("out"));
        for flags in ["", "--workers 2", "--processes 2", "--date 2026-11-19"] {
            bench.again(&format!("run sample.toml {flags}"));
        }
        assert_eq!(bench.times("out"), times);
        for flags in ["--workers 7", "--processes 2", "--memory 1MiB"] {
            let other = sample(method);
            other.done(&format!("run sample.toml {flags}"));
            assert_eq!(other.files("out"), files, "{flags}");
        }
    }
}

#[test]
fn days_out_of_order_and_clusters_that_were_lost_or_asked_for_late() {
    let bench = sample("star");
    let [first, second, third] = DAYS;
    bench.done(&format!("run sample.toml --date {second} --date {third} --date {first}"));
    check(&bench, &[second], "star", "a");
    check(&bench, &[second, third], "star", "b");
    check(&bench, &[second, third, first], "star", "c");
    let whole = bench.files("out");
    // Those of a day in between are lost: the last day still has its own.
    fs::remove_dir_all(bench.path(&format!("out/{third}/clusters"))).unwrap();
    bench.again(&format!("run sample.toml --date {first}"));
    // The last are lost too: both are made again.
    fs::remove_dir_all(bench.path(&format!("out/{first}/clusters"))).unwrap();
    assert_eq!(
        bench.done(&format!("run sample.toml --date {first}")).summary()["already_done"],
        false
    );
    assert_eq!(bench.files("out"), whole);

    let late = sample("components");
    late.done("run plain.toml");
    assert!(!late.path(&format!("out/{third}/clusters")).exists());
    late.done(&format!("run sample.toml --date {third}"));
    check(&late, &DAYS, "components", "late");
    assert!(!late.path(&format!("out/{second}/clusters")).exists());
    late.done("run sample.toml");
    check(&late, &DAYS[..2], "components", "second");
}

#[test]
fn days_that_left_the_store_and_came_again_in_another_order() {
    let bench = sample("star");
    bench.done("run sample.toml");
    let [first, second, third] = DAYS;
    bench.done(&format!("store rollback out/store --before-day {second}"));
    bench.done(&format!("run sample.toml --date {third}"));
    bench.refuses(65, &format!("verify out/{second}"), &["the store does not hold"]);
    check(&bench, &[first, third], "star", "without");
    bench.done("run sample.toml --overwrite");
    check(&bench, &[first, third, second], "star", "all");
}

#[test]
fn clusters_that_are_damaged_or_of_other_matches_or_by_another_method() {
    let bench = sample("star");
    bench.done("run sample.toml");
    let [first, second, third] = DAYS;
    let files = bench.files("out");
    let path = bench.path(&format!("out/{second}/clusters/clusters.tsv"));
    let whole = fs::read(&path).unwrap();
    let mut bytes = whole.clone();
    bytes[100] ^= 1;
    fs::write(&path, &bytes).unwrap();
    for line in [format!("verify out/{second}"), "run sample.toml".to_owned()] {
        bench.refuses(65, &line, &["clusters.tsv"]);
    }
    bench.done(&format!("run sample.toml --date {second} --overwrite"));
    assert_eq!(bench.files("out"), files);

    // Those of the first day in place of the second day's.
    let [from, to] = [first, second].map(|day| bench.path(&format!("out/{day}/clusters")));
    fs::remove_dir_all(&to).unwrap();
    fs::create_dir(&to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
    bench.refuses(65, &format!("verify out/{second}"), &["other outputs"]);
    bench.refuses(65, &format!("verify out/{third}"), &["the day before"]);
    bench.done("run sample.toml");
    assert_eq!(bench.files("out"), files);

    let config = bench.read("sample.toml");
    bench.write("other.toml", config.replace("\"star\"", "\"components\""));
    bench.refuses(73, "run other.toml", &["method = components", "--overwrite"]);
    bench.done("run other.toml --overwrite");
    check(&bench, &DAYS, "components", "other");
    bench.write("other.toml", config.replace("\"star\"", "\"moon\""));
    bench.refuses(78, "run other.toml", &["moon", "components"]);

    fs::remove_dir_all(bench.path(&format!("out/{first}/dedup"))).unwrap();
    for day in DAYS {
        fs::remove_dir_all(bench.path(&format!("out/{day}/clusters"))).unwrap();
    }
    bench.refuses(66, &format!("run sample.toml --date {third}"), &[first, "[clusters]"]);
}
