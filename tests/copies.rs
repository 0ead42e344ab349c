//! The copies of pages, as `query` and `serve` count them, against a plain walk from page to page through the outputs of the days.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::support::Bench;
use crate::world::{json_lines, numbers, page, words};

const DAYS: [&str; 4] = ["2026-11-02", "2026-11-03", "2026-11-04", "2026-11-05"];

/// An id, and the day under which the store has the page.
type PageOfDay = (String, String);

/// Versions of six texts on five hosts. A longer version contains the shorter ones, and the versions 2 and 3 are near-duplicates.
fn day(number: u64) -> String {
    let mut random = numbers(number);
    let mut pages = BTreeMap::new();
    for _ in 0..24 {
        let (text, version, host) = (random(6) as usize, random(5) as usize, random(5));
        let length = [60, 80, 110, 112, 160][version];
        let id = match host {
            0 => format!("page {text}-{version}"),
            _ => format!("https://h{host}.example/{text}/{version}"),
        };
        pages.insert(id, words(text * 1000..text * 1000 + length));
    }
    pages.iter().map(|(id, text)| page(id, text)).collect()
}

/// The number of copies of each page, and the hosts of these and of the page.
fn expected(bench: &Bench, days: &[&str], counts_drops: bool) -> BTreeMap<PageOfDay, (u64, u64)> {
    let mut stands: BTreeMap<PageOfDay, PageOfDay> = BTreeMap::new();
    let mut copies: BTreeSet<PageOfDay> = BTreeSet::new();
    for day in days {
        for row in bench.rows(&format!("out/{day}/dedup/verdicts.tsv")) {
            if row[1] == "drop" {
                let against = if row[4] == "batch" { day.to_string() } else { row[4].clone() };
                stands.insert((row[0].clone(), day.to_string()), (row[2].clone(), against));
                if counts_drops {
                    copies.insert((row[0].clone(), day.to_string()));
                }
            }
        }
        for row in bench.rows(&format!("out/{day}/dedup/replaced.tsv")) {
            let replaced = (row[0].clone(), row[1].clone());
            copies.insert(replaced.clone());
            stands.insert(replaced, (row[2].clone(), day.to_string()));
        }
    }
    let host =
        |id: &str| id.strip_prefix("https://").map(|it| it.split('/').next().unwrap().to_owned());
    let mut families: BTreeMap<PageOfDay, (u64, BTreeSet<String>)> = BTreeMap::new();
    for copy in copies {
        let mut kept = copy.clone();
        while let Some(next) = stands.get(&kept) {
            kept = next.clone();
        }
        let own = host(&kept.0);
        let family = families.entry(kept).or_default();
        family.0 += 1;
        family.1.extend(host(&copy.0).into_iter().chain(own));
    }
    families
        .into_iter()
        .map(|(page, (copies, hosts))| (page, (copies, hosts.len() as u64)))
        .collect()
}

/// The near pages of these answers that have other counts, and how many have copies.
fn differing(answers: &[Value], expected: &BTreeMap<PageOfDay, (u64, u64)>) -> (Vec<Value>, usize) {
    let text = |near: &Value, name: &str| near[name].as_str().unwrap().to_owned();
    let (mut differing, mut with_copies) = (Vec::new(), 0);
    for near in answers.iter().flat_map(|answer| answer["near"].as_array().unwrap()) {
        let page = (text(near, "id"), text(near, "day"));
        let alone = (0, page.0.starts_with("https").into());
        let (copies, hosts) = expected.get(&page).copied().unwrap_or(alone);
        with_copies += usize::from(copies > 0);
        if (near["copies"].as_u64(), near["hosts"].as_u64()) != (Some(copies), Some(hosts)) {
            differing.push(near.clone());
        }
    }
    (differing, with_copies)
}

#[track_caller]
fn compare(answers: &[Value], expected: &BTreeMap<PageOfDay, (u64, u64)>, least: usize) {
    let (differing, with_copies) = differing(answers, expected);
    assert_eq!(differing, Vec::<Value>::new());
    assert!(with_copies >= least, "{with_copies} pages have copies");
}

#[test]
fn the_copies_of_near_pages_are_those_that_the_days_dropped() {
    // Of a store that takes all pages, replaced pages alone are copies.
    for (add, least) in [("kept", [10, 5]), ("all", [1, 0])] {
        let bench = Bench::new();
        bench.crawl([0, 1, 2, 3].map(|at| (DAYS[at], day(at as u64))), &format!("add = \"{add}\""));
        // The third day comes late.
        for day in [DAYS[0], DAYS[1], DAYS[3], DAYS[2]] {
            bench.done(&format!("run days.toml --date {day}"));
        }
        bench.write("asked.jsonl", (0..4).map(day).collect::<String>());
        let ask = "query --config days.toml --input asked.jsonl --copies";
        let all = expected(&bench, &DAYS, add == "kept");
        compare(&json_lines(&bench.answer(ask)), &all, least[0]);
        bench.done(&format!("store rollback store --before-day {}", DAYS[3]));
        let fewer = expected(&bench, &DAYS[..2], add == "kept");
        compare(&json_lines(&bench.answer(ask)), &fewer, least[1]);
        std::fs::remove_dir_all(bench.path(&format!("out/{}", DAYS[0]))).unwrap();
        let ended = bench.run(ask);
        let is_told =
            ended.stderr.contains("1 of the days from 2026-11-02 to 2026-11-02 dropped are not");
        assert_eq!((ended.code, is_told), (0, add == "kept"), "{}", ended.stderr);
    }
}

#[cfg(feature = "serve")]
#[test]
fn a_service_counts_the_copies_of_each_new_version() {
    use serde_json::json;

    use crate::serve::Served;
    use crate::support::wait_until;

    let bench = Bench::new();
    bench.crawl([0, 1].map(|at| (DAYS[at], day(at as u64))), "");
    bench.done(&format!("run days.toml --date {}", DAYS[0]));
    let served = Served::start(&bench, "--config days.toml --copies");
    let pages = json_lines(&day(1));
    let ask = || {
        let told = served.post("/v1/query", json!({ "pages": pages }));
        told["answers"].as_array().unwrap().clone()
    };
    compare(&ask(), &expected(&bench, &DAYS[..1], true), 3);
    bench.done(&format!("run days.toml --date {}", DAYS[1]));
    let all = expected(&bench, &DAYS[..2], true);
    let is_served = || served.get("/v1/status").unwrap().json()["days"] == 2;
    wait_until("the day is served", is_served);
    wait_until("its copies are counted", || differing(&ask(), &all).0.is_empty());
    compare(&ask(), &all, 3);
    let page = json!({ "id": "new", "text": words(9000..9060) });
    let told = served.post("/v1/pages", json!({ "pages": [page] }));
    assert_eq!(told["answers"][0]["near"], json!([]));
    let again = json!({ "pages": [{ "id": "https://new.example/", "text": words(9000..9060) }] });
    let told = served.post("/v1/query", again);
    let near = &told["answers"][0]["near"][0];
    assert_eq!(
        (&near["copies"], &near["hosts"]),
        (&json!(0), &json!(0)),
        "it is in no day: {near}"
    );
    assert_eq!(served.end().code, 0);
}
