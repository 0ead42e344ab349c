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
