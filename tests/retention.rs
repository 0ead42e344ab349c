//! What a store forgets: pages that are removed are in no answer, of any version, from then on.

use std::collections::BTreeSet;

use dupsieve::store::Segment;
use rand::prelude::*;
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use crate::oracle::{Days, Page, matches, near, verdicts};
use crate::support::Bench;
use crate::world::skewed;

/// Pages around a few centres, many of them copies.
pub(crate) fn pages(name: &str, seed: u64, width: u32, count: usize) -> Vec<Page> {
    skewed(name, seed, width, 2, count)
}

/// Five days, of which the first three are one segment.
pub(crate) fn store(bench: &Bench, width: u32) -> Days {
    let names = ["2026-01-01", "2026-01-02", "2026-01-03", "2026-01-04", "2026-01-05"];
    bench.done("store init store");
    let mut days = Days::new();
    for (seed, day) in (10..).zip(names) {
        // Some ids come on several days.
        let pages = [pages("old", seed, width, 40), pages(day, seed + 50, width, 20)].concat();
        bench.segment(day, width, &pages);
        bench.done(&format!("store add store --segment {day}.seg --day {day}"));
        if day == names[2] {
            bench.done("store compact store");
        }
        days.push((day, pages));
    }
    days
}

/// Removes about a third of the ids, and whole crowds.
pub(crate) fn remove(bench: &Bench, days: &mut Days, seed: u64) -> BTreeSet<String> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let all: BTreeSet<String> =
        days.iter().flat_map(|(_, pages)| pages).map(|(id, _)| id.clone()).collect();
    let crowd = days[0].1[0].1;
    let in_crowd = |id: &str| {
        days.iter().flat_map(|(_, pages)| pages).any(|page| page.0 == id && page.1 == crowd)
    };
    let ids: BTreeSet<String> =
        all.into_iter().filter(|id| random.random_bool(0.3) || in_crowd(id)).collect();
    bench.write("ids.txt", ids.iter().map(|id| format!("{id}\n")).collect::<String>());
    bench.done("store remove store --ids ids.txt");
    for (_, pages) in days {
        pages.retain(|(id, _)| !ids.contains(id));
    }
    ids
}

/// Joins `batch` with a version of the store, against all pairs.
pub(crate) fn check(
    bench: &Bench,
    batch: &[Page],
    days: &Days,
    version: u64,
    k: u32,
    output: &str,
) {
    let mut order = batch.to_vec();
    order.sort();
    let verdicts = verdicts(&order, days, k);
    for detail in ["all", "best"] {
        let output = format!("{output}-{detail}");
        bench.done(&format!(
            "dedup --batch batch.seg --store store --as-of {version} --distance {k} --output {output} \
             --matches {detail}"
        ));
        assert_eq!(bench.read(&format!("{output}/verdicts.tsv")), verdicts, "{output}");
        if detail == "all" {
            assert_eq!(bench.read(&format!("{output}/matches.tsv")), matches(&order, days, k));
        }
        bench.done(&format!("verify {output}"));
    }
    check_queries(bench, &batch[..5], days, version, k);
}

/// Asks a version of the store for pages, against all pairs.
pub(crate) fn check_queries(bench: &Bench, batch: &[Page], days: &Days, version: u64, k: u32) {
    for (id, bits) in batch {
        let line = format!("query --store store --as-of {version} --distance {k} --fingerprint");
        let answer = bench.json(&format!("{line} {bits:#x}"));
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let found = answer["near"].as_array().unwrap().iter();
        let found = found
            .map(|it| (it["distance"].as_u64().unwrap() as u32, text(&it["id"]), text(&it["day"])));
        assert_eq!(found.collect::<BTreeSet<_>>(), near(days, *bits, k), "{id}");
    }
}

#[test]
fn a_removed_page_is_in_no_answer_of_any_version() {
    for (width, k) in [(64, 3), (128, 6)] {
        let bench = Bench::new();
        let mut days = store(&bench, width);
        let batch = pages("new", 1, width, 60);
        bench.segment("batch", width, &batch);
        // Version 1 is empty, and one is of the merge.
        let newest = 7;
        check(&bench, &batch, &days, newest, k, "before");
        for seed in 0..2 {
            remove(&bench, &mut days, seed);
            check(&bench, &batch, &days, newest, k, &format!("newest-{seed}"));
            check(&bench, &batch, &days[..2].to_vec(), 3, k, &format!("old-{seed}"));
            bench.done("store verify store");
            bench.done("store index store");
        }
        // Days that expire are in no answer of the versions that they have left. The first three are one segment, which stays for the third.
        let told = bench.done("store expire store --before 2026-01-03 --no-compact");
        assert_eq!(told.count("expired_days"), 2);
        let left = days[2..].to_vec();
        check(&bench, &batch, &left, newest + 1, k, "expired");
        check(&bench, &batch, &days, newest, k, "before-expiry");
        let designs = ["none", "mirror", "4"];
        for design in &designs[..if k > 3 { 2 } else { designs.len() }] {
            bench.done(&format!("store index store --design {design}"));
            check_queries(&bench, &batch[..20], &left, newest + 1, k);
        }
        bench.done("store compact store");
        check(&bench, &batch, &left, newest + 2, k, "merged");
        let list = bench.json("store list store --json");
        assert_eq!((&list["expired"], &list["removed"]), (&json!(0), &json!(0)));
        assert_eq!(list["expired_before"], "2026-01-03");
        // Neither a rollback nor a merge brings removed pages back; the days that had expired come back.
        bench.done("store rollback store --to 3");
        check(&bench, &batch, &days[..2].to_vec(), newest + 3, k, "rolled");
        bench.done(&format!("store rollback store --to {newest}"));
        bench.done("store compact store");
        check(&bench, &batch, &days, newest + 5, k, "compacted");
        bench.done("store verify store");
        // What was answered before stays as it was, and nothing is said of what cannot be known of it.
        let verified = bench.done("verify before-all");
        let [again, not_again] = ["made_again", "not_made_again"].map(|it| verified.count(it));
        assert!(again > 0 && not_again > 0 && again + not_again == 60, "{}", verified.stderr);
    }
}

/// All that a file has, with what its blocks hold if it is a segment.
fn unpacked(bench: &Bench, name: &str) -> Vec<u8> {
    let mut all = bench.bytes(name);
    let path = bench.path(name);
    if Segment::is_segment(&path).unwrap() {
        all.extend(bench.answer(&format!("inspect {name} --dump")).into_bytes());
        for id in Segment::open(&path).unwrap().empty_ids() {
            all.extend(id.unwrap().into_bytes());
        }
    }
    all
}

#[test]
fn after_a_purge_no_file_of_the_folder_has_a_removed_id_in_any_block() {
    let bench = Bench::new();
    bench.done("store init store");
    // Every id has a word that nothing else has, and many pages have no words.
    let id = |day: u32, page: u32| format!("https://site.example/{day}/word{day:02}x{page:04}x");
    for day in 1..=12 {
        let text = |page: u32| match page % 5 {
            0 => String::new(),
            _ => format!("some words of the page {}", page * page),
        };
        let line = |at| json!({ "id": id(day, at), "text": text(at) }).to_string() + "\n";
        bench.write("pages.jsonl", (0..300).map(line).collect::<String>());
        bench.done("fingerprint --recipe words --input pages.jsonl --output pages.seg --overwrite");
        bench.done(&format!("store add store --segment pages.seg --day 2026-01-{day:02}"));
    }
    bench.done("store index store");
    // Pages of merged days and of single ones, with words and without.
    let removed: Vec<String> =
        (1..=12).flat_map(|day| (day..300).step_by(17).map(move |page| id(day, page))).collect();
    bench.write("ids.txt", removed.join("\n"));
    assert_eq!(bench.done("store remove store --ids ids.txt").count("held"), removed.len() as u64);
    let has = |removed: &str| {
        let names = bench.files("store").into_keys().map(|name| format!("store/{name}"));
        names.filter(|name| memmem(&unpacked(&bench, name), removed)).collect::<Vec<_>>()
    };
    assert!([2, 5].iter().all(|&at| !has(&removed[at]).is_empty()), "they were there");
    bench.done("store purge store");
    let words = removed.iter().map(|id| id.rsplit('/').next().unwrap());
    let names = bench.files("store").into_keys().map(|name| format!("store/{name}"));
    let all: Vec<_> = names.map(|name| (unpacked(&bench, &name), name)).collect();
    for word in words {
        let found = all.iter().find(|(bytes, _)| memmem(bytes, word));
        assert_eq!(found.map(|(_, name)| name), None, "{word}");
    }
    bench.done("store verify store");
}

/// Whether `bytes` have `word` in them.
fn memmem(bytes: &[u8], word: &str) -> bool {
    memchr::memmem::find(bytes, word.as_bytes()).is_some()
}
