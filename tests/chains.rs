//! No chains over days, and what is replaced: days in any order, merged, rolled back and made again, against the rule by the texts.

use crate::oracle::{DAYS, Found, Model, crawl, history};

#[test]
fn a_dropped_page_lacks_at_most_a_tenth_in_the_page_that_is_kept_in_the_end() {
    let (mut blocked, mut replaced) = (0, 0);
    for (seed, order) in [(1, [0, 1, 2, 3, 4]), (2, [0, 3, 1, 4, 2]), (3, [2, 4, 3, 1, 0])] {
        let history = history(seed);
        let bench = crawl(&history);
        let order = order.map(|place| DAYS[place]);
        let mut model = Model::default();
        let mut before = Vec::new();
        for (day, flags) in order.into_iter().zip(["", "--workers 3", "--processes 2", "", ""]) {
            before.push(model.clone());
            bench.done(&format!("run days.toml --date {day} {flags}"));
            model.take(&bench, day, &history[day]);
            // A merge keeps the slack of its pages.
            if day == order[2] {
                bench.done("store compact store");
            }
        }
        model.check_store(&bench);
        (blocked, replaced) = (blocked + model.blocked, replaced + model.replaced);
        order.iter().for_each(|day| drop(bench.done(&format!("verify out/{day}"))));
        // A rerun of all days changes nothing.
        let files = bench.files("store");
        bench.again("run days.toml --date 2026-11-01..2026-11-05");
        assert!(bench.files("store") == files);
        // Going back shows what was replaced since and takes the slack of the days back that leave, and they find the same again.
        let found = order.map(|day| Found::of(&bench, day));
        bench.done(&format!("store rollback store --before-day {}", order[3]));
        before[3].check_store(&bench);
        for (day, found) in order.iter().zip(&found).skip(3) {
            bench.done(&format!("run days.toml --date {day}"));
            assert_eq!(Found::of(&bench, day), *found);
        }
        model.check_store(&bench);
        // The first day once more, and all others after it in their order: as if they had come so.
        let pages = bench.read(&format!("crawl/{}.jsonl", order[0])) + "no record\n";
        bench.write(&format!("crawl/{}.jsonl", order[0]), pages);
        bench.done(&format!("run days.toml --max-bad 50% --redo {}", order[0]));
        let mut again = Model::default();
        DAYS.iter().for_each(|day| again.take(&bench, day, &history[day]));
        again.check_store(&bench);
        // A merge leaves the hidden pages out.
        bench.done("store compact store");
        again.check_store(&bench);
        DAYS.iter().for_each(|day| drop(bench.done(&format!("verify out/{day}"))));
    }
    assert!(blocked >= 3 && replaced >= 8, "{blocked} blocked, {replaced} replaced");
}

#[test]
fn the_store_keeps_what_is_replaced_where_the_file_says_so() {
    let bench = crawl(&history(1));
    let file = bench.read("days.toml").replace("\nstore = \"store\"", "");
    bench.write("days.toml", file + "[store]\npath = \"store\"\nreplaced = \"keep\"\n");
    bench.done("run days.toml --date 2026-11-01..2026-11-05");
    let listed: usize = DAYS.iter().map(|day| Found::of(&bench, day).replaced.len()).sum();
    for day in DAYS.iter() {
        let is_shown = bench
            .read(&format!("out/{day}/dedup/report.html"))
            .contains("pages of the store replaced");
        assert_eq!(is_shown, !Found::of(&bench, day).replaced.is_empty(), "{day}");
    }
    let list = bench.json("store list store --json");
    assert!(listed > 0 && list["replaced"] == 0, "{listed} {list}");
    let hides = |name: &String| name.starts_with("replaced/") && name.ends_with(".rows");
    assert!(!bench.files("store").keys().any(hides));
    bench.done("verify out/2026-11-05");
    // Another word is no rerun of the days that are done.
    let file = bench.read("days.toml").replace("\"keep\"\n", "\"hide\"\n");
    bench.write("days.toml", file);
    bench.refuses(73, "run days.toml --date 2026-11-01..2026-11-05", &["--redo"]);
}
