//! Old versions leave a store when they are told to: what is kept stays whole, what has gone is said to have
//! gone, and days that were joined with it stay done.

use crate::oracle::Page;
use crate::support::Bench;

/// A store of twelve days; version 12 has merged the first ten, and version 14 is the newest.
fn store() -> Bench {
    let bench = Bench::new();
    bench.done("store init store");
    for day in 1..=12u64 {
        let page = |at: u64| (format!("p{at}"), u128::from((day << 32 | at) << 20));
        bench.segment(&format!("day-{day}"), 64, &(0..50).map(page).collect::<Vec<Page>>());
        bench.done(&format!("store add store --segment day-{day}.seg --day 2026-11-{day:02}"));
    }
    bench
}

#[test]
fn what_is_kept_is_whole_and_what_has_gone_is_said_to_have_gone() {
    let bench = store();
    let matches = |output: &str| {
        bench.done(&format!("dedup --batch day-12.seg --store store --output {output}"));
        bench.read(&format!("{output}/matches.tsv"))
    };
    let before = matches("before");
    let told = bench.done("store prune store --keep-versions 3 --dry-run");
    let counts = ["pruned_versions", "pruned_segments", "pruned_bytes"];
    let would = counts.map(|name| told.count(name));
    assert_eq!((would[0], would[1]), (11, 10));
    let all = bench.names("store/segments").len();
    assert!(all == 13 && bench.answer("store list store").contains("older"));
    let told = bench.done("store prune store --keep-versions 3");
    assert_eq!(counts.map(|name| told.count(name)), would);
    assert_eq!(bench.names("store/segments").len(), 3);
    assert_eq!(bench.names("store/manifests").len(), 3);
    assert!(!bench.answer("store list store").contains("older"));
    let verified = bench.done("store verify store");
    assert_eq!(["version", "versions"].map(|name| verified.count(name)), [14, 3]);
    let log = bench.answer("store log store");
    let changes: Vec<_> = log.lines().skip(1).map(|line| line[32..].trim()).collect();
    assert_eq!(changes, ["compact", "add 2026-11-11", "add 2026-11-12"], "{log}");

    let files = bench.files("store");
    let again = bench.done("store prune store --keep-versions 3");
    assert_eq!(
        (again.summary()["already_done"].as_bool(), bench.files("store")),
        (Some(true), files)
    );
    for gone in [
        "store rollback store --to 5",
        "store verify store --version 11",
        "dedup --batch day-12.seg --store store --as-of 11 --output out",
    ] {
        let said = bench.fails(66, gone);
        assert!(
            ["pruned", "12 to 14", "store log store"].iter().all(|it| said.contains(it)),
            "{gone}: {said}"
        );
    }
    bench.fails(2, "store prune store --keep-versions 0");
    assert_eq!(bench.done("store rollback store --to 12").count("days"), 10);
    bench.done("store rollback store --to 14");
    assert!(before.lines().count() > 50 && matches("after") == before);
    // The days before another come from what is kept, even if the version that they were has gone.
    assert_eq!(bench.done("store rollback store --before-day 2026-11-03").count("days"), 2);
    let days = bench.answer("store list store");
    let is_listed = |day: u32| days.contains(&format!("2026-11-{day:02}"));
    assert!((1..=2).all(is_listed) && !(3..=12).any(is_listed), "{days}");
    let log = bench.answer("store log store");
    assert!(log.trim_end().ends_with("rollback to a version that was pruned"), "{log}");
    bench.done("store verify store");
    assert_eq!(bench.done("store rollback store --to 14").count("days"), 12);
    assert!(matches("again") == before);
}

/// Five days, each with some pages of the day before; the store keeps two versions.
fn days() -> Bench {
    let bench = Bench::new();
    bench.november(5, 60, 100, "[store]\npath = \"store\"\n");
    let config = bench.read("days.toml");
    bench.write("all.toml", &config);
    bench.write("days.toml", config + "keep_versions = 2\n");
    bench
}

#[test]
fn days_of_pruned_versions_stay_done() {
    let bench = days();
    bench.done("run days.toml");
    assert_eq!(bench.names("store/manifests"), ["000005.json", "000006.json"]);
    let (files, store) = (bench.files("out"), bench.files("store"));
    for flags in ["", "--date 2026-11-01", "--processes 2"] {
        bench.again(&format!("run days.toml {flags}"));
        assert_eq!((bench.files("out") == files, bench.files("store") == store), (true, true));
    }
    // All that they were joined with is there still, but for pages that were replaced since.
    for day in [1, 4] {
        let verified = bench.done(&format!("verify out/2026-11-0{day}"));
        assert!(verified.count("made_again") > 80, "{}", verified.stderr);
        assert!(verified.stderr.contains("pages have left the store since"), "{}", verified.stderr);
    }
    assert!(bench.done("verify out/2026-11-05").count("made_again") > 0);
    // A lost output of such a day cannot be made again: its version has gone.
    std::fs::remove_dir_all(bench.path("out/2026-11-02/dedup")).unwrap();
    let said = bench.fails(66, "run days.toml --date 2026-11-02");
    assert!(said.contains("version 2 of the store was pruned"), "{said}");
    assert!(said.contains("restore its output from a copy"), "{said}");
    // Made again with the days after it, it needs none.
    bench.done("run days.toml --redo 2026-11-02");
    bench.done("verify out/2026-11-05");
    bench.done("store verify store");
}

#[test]
fn pruning_changes_nothing_that_a_day_finds() {
    let [pruned, whole] = [days(), days()];
    pruned.done("run days.toml");
    whole.done("run all.toml");
    assert_eq!(pruned.files("out"), whole.files("out"));
    assert_eq!(whole.names("store/manifests").len(), 6);
    // Told to keep fewer, a run that finds its days done prunes all the same.
    let again = whole.done("run days.toml");
    assert_eq!(again.summary()["already_done"], false);
    assert_eq!(pruned.files("store"), whole.files("store"));
}
