//! What is too old: days that have expired are in no answer of the versions that they have left.

use std::collections::BTreeSet;

use crate::retention::{check, check_queries, pages, remove, store};
use crate::support::{Bench, Days};

#[test]
fn an_expired_day_is_in_no_answer_of_the_versions_that_it_has_left() {
    for (width, k) in [(64, 3), (128, 6)] {
        let bench = Bench::new();
        let mut days = store(&bench, width);
        let batch = pages("new", 1, width, 60);
        bench.segment("batch", width, &batch);
        // Version 7 is the newest; the first three days are one segment, which stays for the third.
        let told = bench.done("store expire store --before 2026-01-03 --no-compact");
        assert_eq!([told.count("expired_days"), told.count("expired")], [2, 120]);
        let left = days.split_off(2);
        check(&bench, &batch, &left, 8, k, "expired");
        check(&bench, &batch, &[days.clone(), left.clone()].concat(), 7, k, "before");
        bench.done("store verify store");
        let mut left: Days = left;
        remove(&bench, &mut left, 5);
        check(&bench, &batch, &left, 8, k, "removed");
        bench.done("store verify store");
        let designs = ["none", "mirror", "4", "10", "16", "20"];
        for design in &designs[..if k > 3 { 2 } else { designs.len() }] {
            bench.done(&format!("store index store --design {design}"));
            check_queries(&bench, &batch[..20], &left, 8, k);
        }
        bench.done("store compact store");
        check(&bench, &batch, &left, 9, k, "compacted");
        let list = bench.answer("store list store --json");
        let list: serde_json::Value = serde_json::from_str(&list).unwrap();
        assert_eq!((list["expired"].as_u64(), list["removed"].as_u64()), (Some(0), Some(0)));
        assert_eq!(list["expired_before"], "2026-01-03");
        // Whoever goes back has the days again, without what was removed.
        bench.done("store rollback store --to 7");
        let gone = bench.read("ids.txt");
        let gone: BTreeSet<&str> = gone.lines().collect();
        let mut whole: Days = [days, left].concat();
        whole.iter_mut().for_each(|(_, pages)| pages.retain(|(id, _)| !gone.contains(&**id)));
        check(&bench, &batch, &whole, 10, k, "rolled");
        bench.done("store verify store");
    }
}

#[test]
fn an_expiry_is_done_once_and_said() {
    let bench = Bench::new();
    store(&bench, 64);
    let files = bench.files("store");
    let would = bench.done("store expire store --keep-days 3 --dry-run");
    assert!(would.stderr.contains("from 2026-01-01 to 2026-01-02"), "{}", would.stderr);
    assert_eq!((bench.files("store") == files, would.count("expired_days")), (true, 2));
    let told = bench.done("store expire store --keep-days 3");
    let counts = ["expired_days", "expired"].map(|name| (told.count(name), would.count(name)));
    assert_eq!(counts, [(2, 2), (120, 120)]);
    let log = bench.answer("store log store");
    assert!(log.contains("expire before 2026-01-03"), "{log}");
    let files = bench.files("store");
    for again in ["--keep-days 3", "--keep-days 1000000000000", "--before 2026-01-03"] {
        let told = bench.done(&format!("store expire store {again}"));
        assert_eq!(told.summary()["already_done"].as_bool(), Some(true), "{again}");
        assert_eq!(bench.files("store"), files, "{again}");
    }
    let said = bench.fails(73, "store add store --segment 2026-01-01.seg --day 2026-01-02");
    assert!(said.contains("has expired"), "{said}");
    for wrong in ["", "--keep-days 0", "--before 2026-02-30", "--keep-days 3 --before 2026-01-03"] {
        bench.fails(2, &format!("store expire store {wrong}"));
    }
}
