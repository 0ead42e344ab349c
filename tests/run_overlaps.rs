//! Whole days with `run` and `[lsh]`: the pages of each day that overlap, beside what `dedup` found, whatever happened to
//! the days.

use std::fs;

use crate::support::Bench;

const DAYS: [&str; 3] = ["2026-11-18", "2026-11-19", "2026-11-20"];

/// The bundled sample, with a section `[lsh]` of these keys.
fn sample(keys: &str) -> Bench {
    let bench = Bench::new();
    let config = format!(
        "inputs = [\"{}/bench-data/sample/crawl/{{date}}/*\"]\noutput = \"out/{{date}}\"\n\
         store = \"out/store\"\ndates = {DAYS:?}\n[fingerprint]\ntime_field = \"fetched\"\n\
         [machines]\nworkers = 1\n[lsh]\n{keys}\n",
        env!("CARGO_MANIFEST_DIR"),
    );
    bench.write("sample.toml", config);
    bench
}

#[test]
fn each_day_is_compared_by_buckets_with_the_days_before_it() {
    let bench = sample("similarity = 0.5\nmatches = \"all\"");
    let ended = bench.done("run sample.toml");
    assert!(ended.count("lsh_dropped") > 20, "{ended:?}");
    assert!(ended.summary()["paths"]["lsh"].as_str().unwrap().ends_with("20/lsh"));
    for (at, day) in DAYS.iter().enumerate() {
        let [own, dedup] = ["lsh", "dedup"].map(|name| bench.report(&format!("out/{day}/{name}")));
        for same in ["day", "store_version"] {
            assert_eq!(own[same], dedup[same], "{day}");
        }
        bench.done(&format!(
            "lsh --batch out/{day}/batch.seg --store out/store --as-of {} --similarity 0.5 --matches all --output by-hand-{at}",
            own["store_version"]
        ));
        for file in ["verdicts.tsv", "matches.tsv", "keep.txt", "drop.txt"] {
            let [run, hand] = [format!("out/{day}/lsh"), format!("by-hand-{at}")]
                .map(|folder| bench.read(&format!("{folder}/{file}")));
            assert!(run == hand, "{day} {file}");
        }
        let verified = bench.done(&format!("verify out/{day}"));
        assert!(!verified.stderr.contains("nothing was made again"), "{verified:?}");
        assert!(verified.summary()["paths"]["lsh"].is_string());
    }
    assert!(bench.read("out/2026-11-20/lsh/matches.tsv").contains("\t2026-11-1"));
    let (files, times) = (bench.files("out"), bench.times("out"));
    for flags in ["", "--workers 2", "--processes 2", "--date 2026-11-19"] {
        let again = bench.done(&format!("run sample.toml {flags}"));
        assert_eq!(again.summary()["already_done"], true, "{flags}");
    }
    assert_eq!(bench.times("out"), times);
    for flags in ["--workers 7", "--processes 2"] {
        let other = sample("similarity = 0.5\nmatches = \"all\"");
        other.done(&format!("run sample.toml {flags}"));
        assert_eq!(other.files("out"), files, "{flags}");
    }
    // What was lost is made again, as it was; what was forged is found.
    fs::remove_dir_all(bench.path("out/2026-11-19/lsh")).unwrap();
    assert_eq!(bench.done("run sample.toml").summary()["already_done"], false);
    assert_eq!(bench.files("out"), files);
    bench.write("out/2026-11-19/lsh/keep.txt", "nobody\n");
    bench.fails(65, "verify out/2026-11-19");
}

#[test]
fn a_day_made_again_takes_its_overlaps_along() {
    let bench = sample("similarity = 0.6\nbands = 28\nrows = 4\nconfirm = \"simhash:20\"");
    bench.done("run sample.toml");
    let before = bench.read("out/2026-11-20/lsh/verdicts.tsv");
    let changed = bench.read("sample.toml").replace("dates =", "add = \"all\"\ndates =");
    bench.write("sample.toml", changed);
    bench.done("run sample.toml --redo 2026-11-18");
    for day in DAYS {
        bench.done(&format!("verify out/{day}"));
        let names = bench.names(&format!("out/{day}"));
        assert!(names.iter().all(|name| !name.starts_with('.')), "{names:?}");
    }
    assert!(bench.read("out/2026-11-20/lsh/verdicts.tsv") != before);
    assert_eq!(bench.done("run sample.toml").summary()["already_done"], true);
}

#[test]
fn a_day_made_again_without_the_sections_leaves_nothing_of_the_batch_before() {
    let bench = sample("similarity = 0.6\nbands = 28\nrows = 4\n[clusters]");
    bench.done("run sample.toml");
    let config = bench.read("sample.toml");
    let (rest, _) = config.split_once("[lsh]").unwrap();
    // The store goes on with its bands.
    let rest = rest.replace("[machines]", "keep_bands = \"minhash-28x4\"\n[machines]");
    bench.write("sample.toml", rest.replace("dates =", "add = \"all\"\ndates ="));
    bench.write("out/2026-11-19/lsh/mine.txt", "mine");
    bench.fails(73, "run sample.toml --redo 2026-11-18");
    fs::remove_file(bench.path("out/2026-11-19/lsh/mine.txt")).unwrap();
    bench.done("run sample.toml --redo 2026-11-18");
    for day in DAYS {
        let names = bench.names(&format!("out/{day}"));
        assert!(!names.iter().any(|name| name == "lsh" || name == "clusters"), "{names:?}");
        bench.done(&format!("verify out/{day}"));
    }
    // So does a day that is as it would be made, but for what the file does not ask for.
    fs::create_dir(bench.path("out/2026-11-20/lsh")).unwrap();
    assert_eq!(bench.done("run sample.toml --redo 2026-11-20").summary()["already_done"], false);
    assert!(!bench.path("out/2026-11-20/lsh").exists());
    let again = bench.done("run sample.toml --redo 2026-11-20");
    assert_eq!(again.summary()["already_done"], true);
}

#[test]
fn a_redo_that_another_configuration_finishes_removes_what_it_was_to_remove() {
    let bench = sample("similarity = 0.6\nbands = 28\nrows = 4");
    bench.done("run sample.toml");
    let files = bench.files("out");
    let config = bench.read("sample.toml");
    let (rest, _) = config.split_once("[lsh]").unwrap();
    let rest = rest.replace("[machines]", "keep_bands = \"minhash-28x4\"\n[machines]");
    bench.write("rest.toml", rest);
    // As if it had died before the join was put in its place, and after the overlaps were.
    let day = "out/2026-11-20";
    let stage = || {
        let staged = bench.path(&format!("{day}/.redo"));
        fs::create_dir(&staged).unwrap();
        fs::rename(bench.path(&format!("{day}/dedup")), staged.join("dedup")).unwrap();
    };
    stage();
    bench.done("run rest.toml");
    assert_eq!(bench.files("out"), files);
    // As one whose configuration did not ask for the overlaps.
    stage();
    bench.write(&format!("{day}/.redo/leaving.txt"), "lsh");
    bench.write(&format!("{day}/lsh/mine.txt"), "mine");
    bench.fails(73, "run sample.toml");
    fs::remove_file(bench.path(&format!("{day}/lsh/mine.txt"))).unwrap();
    bench.done("run rest.toml");
    assert_eq!(bench.names(day), ["batch.seg", "dedup"]);
}

/// `run` says that --redo makes such a day again.
#[test]
fn a_day_whose_overlaps_are_missing_or_asked_for_otherwise_is_made_again() {
    let bench = sample("similarity = 0.6\nbands = 28\nrows = 4");
    bench.done("run sample.toml");
    let before = bench.read("out/2026-11-20/lsh/matches.tsv");
    let again = bench.done("run sample.toml --redo 2026-11-20");
    assert_eq!(again.summary()["already_done"], true);
    fs::remove_dir_all(bench.path("out/2026-11-20/lsh")).unwrap();
    let again = bench.done("run sample.toml --redo 2026-11-20");
    assert_eq!(again.summary()["already_done"], false);
    assert!(bench.read("out/2026-11-20/lsh/matches.tsv") == before);
    let config = bench.read("sample.toml");
    bench.write("sample.toml", config + "matches = \"all\"\n");
    assert!(bench.fails(73, "run sample.toml").contains("--redo 2026-11-18"));
    bench.done("run sample.toml --redo 2026-11-18");
    assert_eq!(bench.report("out/2026-11-20/lsh")["parameters"]["matches"], "all");
    assert_eq!(bench.done("run sample.toml").summary()["already_done"], true);
}

#[test]
fn lsh_with_the_file_of_run_does_as_the_section_says() {
    let bench = sample("similarity = 0.5\nmatches = \"all\"\nconfirm = \"simhash:20\"");
    bench.done("run sample.toml --date 2026-11-18");
    bench.done("lsh --config sample.toml --batch out/2026-11-18/batch.seg --output by-hand");
    for file in ["verdicts.tsv", "matches.tsv"] {
        let [run, hand] =
            ["out/2026-11-18/lsh", "by-hand"].map(|it| bench.read(&format!("{it}/{file}")));
        assert!(run == hand, "{file}");
    }
    bench.done(
        "lsh --config sample.toml --batch out/2026-11-18/batch.seg --confirm signature --output typed",
    );
    let made = &bench.report("typed")["parameters"];
    assert_eq!((&made["similarity"], &made["confirm"]), (&"0.5000".into(), &"signature".into()));
}

#[test]
fn a_section_that_does_not_fit_is_refused_before_work_begins() {
    for (keys, code) in [
        ("similarities = 0.5", 78),
        ("similarity = 2", 78),
        ("bands = 5", 78),
        ("bands = 500\nrows = 5", 2),
        ("confirm = \"exact\"", 2),
    ] {
        let bench = sample(keys);
        bench.fails(code, "run sample.toml");
        assert!(!bench.path("out/2026-11-18").exists(), "{keys}");
    }
    let both = sample("bands = 5\nrows = 5");
    let config = both.read("sample.toml");
    both.write(
        "sample.toml",
        config.replace("[machines]", "keep_bands = \"minhash-4x4\"\n[machines]"),
    );
    let said = both.fails(78, "run sample.toml");
    assert!(said.contains("keep_bands"), "{said}");
    let other = sample("similarity = 0.7");
    other.done("run sample.toml --date 2026-11-18");
    let config = other.read("sample.toml");
    other.write("sample.toml", config.replace("0.7", "0.5\nbands = 16\nrows = 7"));
    other.fails(2, "run sample.toml --date 2026-11-18");
    other.write("sample.toml", config.replace("0.7", "0.6\nbands = 22\nrows = 5"));
    other.fails(73, "run sample.toml --date 2026-11-18");
}
