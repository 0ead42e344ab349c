//! What is too old: days that have expired are in no answer of the versions that they have left.

use crate::support::Bench;

/// Six days, each with pages of the three days before it.
fn crawl() -> Bench {
    let bench = Bench::new();
    bench.november(6, 30, 100, "");
    bench
}

fn config(bench: &Bench, name: &str, keys: &str) {
    let config = format!(
        "inputs = [\"crawl/{{date}}.jsonl\"]\noutput = \"{name}/{{date}}\"\n\
         dates = [\"2026-11-01..2026-11-06\"]\n[store]\npath = \"{name}-store\"\n{keys}"
    );
    bench.write(&format!("{name}.toml"), config);
}

fn outputs(bench: &Bench, name: &str) -> Vec<[String; 2]> {
    let read = |day: u32, file: &str| bench.read(&format!("{name}/2026-11-0{day}/dedup/{file}"));
    (1..=6).map(|day| ["verdicts.tsv", "keep.txt"].map(|file| read(day, file))).collect()
}

#[test]
fn each_day_of_run_is_joined_with_the_days_that_are_kept() {
    let bench = crawl();
    config(&bench, "kept", "keep_days = 3\n");
    bench.done("run kept.toml");
    let log = bench.answer("store log kept-store");
    assert_eq!(log.matches("expire before").count(), 3, "{log}");
    for day in 2..=6 {
        // The same by hand: a store of the kept pages of the three days before.
        let reference = format!("store-{day}");
        bench.done(&format!("store init {reference}"));
        for held in (1..day).filter(|held| held + 3 >= day) {
            let of = format!("kept/2026-11-0{held}");
            bench.done(&format!(
                "store add {reference} --segment {of}/batch.seg --only {of}/dedup/keep.txt --day 2026-11-0{held}"
            ));
        }
        let output = format!("joined-{day}");
        let batch = format!("kept/2026-11-0{day}/batch.seg");
        bench.done(&format!("dedup --batch {batch} --store {reference} --output {output}"));
        let verdicts = bench.read(&format!("{output}/verdicts.tsv"));
        assert_eq!(bench.read(&format!("kept/2026-11-0{day}/dedup/verdicts.tsv")), verdicts);
    }
    // A page that was dropped as a duplicate of the first day is kept again when that has gone.
    let verdicts = bench.read("kept/2026-11-05/dedup/verdicts.tsv");
    assert!(!verdicts.contains("2026-11-01") && verdicts.contains("2026-11-02"), "{verdicts}");
}

#[test]
fn a_day_that_is_made_again_carries_the_expiry_over() {
    for (keys, redone) in [("keep_days = 3\n", "2026-11-04"), ("keep_days = 4\n", "2026-11-03")] {
        let bench = crawl();
        config(&bench, "kept", keys);
        bench.done("run kept.toml");
        bench.write(&format!("crawl/{redone}.jsonl"), bench.documents(100, 170));
        config(&bench, "anew", keys);
        bench.done("run anew.toml");
        let told = bench.done(&format!("run kept.toml --redo {redone}"));
        assert!(told.count("days") >= 3);
        assert_eq!(outputs(&bench, "kept"), outputs(&bench, "anew"), "{keys}");
        let listed = |store: &str| {
            let list = bench.json(&format!("store list {store} --json"));
            let days = list["days"].as_array().unwrap().iter();
            let days: Vec<_> =
                days.map(|day| (day["day"].clone(), day["digest"].clone())).collect();
            (days, list["expired_before"].clone())
        };
        assert_eq!(listed("kept-store"), listed("anew-store"), "{keys}");
        bench.again("run kept.toml");
        bench.again(&format!("run kept.toml --redo {redone}"));
        for day in 1..=6 {
            bench.done(&format!("verify kept/2026-11-0{day}"));
        }
        bench.done("store verify kept-store");
    }
}
