//! Days: what is remembered, committed, added and removed by others.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs;

use dupsieve::fingerprint::{Recipe, Width};
use dupsieve::join::Preset;
use dupsieve::journal::{Journal, JournalOptions};
use dupsieve::store::SegmentOptions;
use serde_json::{Value, json};

use super::client::{Served, near, post, until};
use crate::oracle::{DAYS, crawl, history, length_class, numbered, shingles};
use crate::support::Bench;
use crate::world::{json_lines, page, spread, words};

fn verdicts(bench: &Bench, output: &str) -> BTreeMap<String, String> {
    let rows = bench.rows(&format!("{output}/verdicts.tsv")).into_iter();
    rows.map(|row| (row[0].clone(), row[1].clone())).collect()
}

/// The ids and the texts of a file of pages.
fn asked(bench: &Bench, name: &str) -> Vec<Value> {
    let pages = json_lines(&bench.read(name)).into_iter();
    pages.map(|page| json!({ "id": page["id"], "text": page["text"] })).collect()
}

#[test]
fn days_of_texts_are_judged_as_dedup_does_and_become_the_same_segments() {
    let bench = Bench::new();
    bench.done("store init other");
    bench.done("store init store");
    let served = Served::start(&bench, "");
    for day in 1..=3 {
        let date = format!("2026-11-0{day}");
        bench.write("day.jsonl", bench.documents(120 * day, 120 * day + 160));
        bench.done(&format!("fingerprint --input day.jsonl --output {day}.seg"));
        bench.done(&format!(
            "dedup --batch {day}.seg --store other --output found-{day} --keep first-id"
        ));
        bench.done(&format!(
            "store add other --segment {day}.seg --day {date} --only found-{day}/keep.txt --replaced found-{day}/replaced.tsv"
        ));
        let verdicts = verdicts(&bench, &format!("found-{day}"));
        let mut pages = asked(&bench, "day.jsonl");
        // `serve` judges pages as they come, and `dedup` takes the longest first: they come in that order.
        pages.sort_by_key(|page| {
            let [id, text] = ["id", "text"].map(|field| page[field].as_str().unwrap());
            (Reverse(length_class(shingles(text).len())), id.to_owned())
        });
        for some in pages.chunks(30) {
            let told = served.post("/v1/pages", json!({ "pages": some }));
            for (page, answer) in some.iter().zip(told["answers"].as_array().unwrap()) {
                assert_eq!(answer["id"], page["id"]);
                assert_eq!(answer["verdict"], verdicts[page["id"].as_str().unwrap()], "{answer}");
            }
        }
        let told = served.post("/v1/commit", json!({ "day": date }));
        assert_eq!((&told["store_version"], &told["already"]), (&json!(day + 1), &json!(false)));
        let again = served.post("/v1/commit", json!({ "day": date }));
        assert_eq!((&again["rows"], &again["already"]), (&told["rows"], &json!(true)));
    }
    bench.write("asked.jsonl", bench.documents(100, 500));
    let printed = bench.answer("query --store store --input asked.jsonl");
    let told = served.post("/v1/query", json!({ "pages": asked(&bench, "asked.jsonl") }));
    for (mut line, answer) in
        json_lines(&printed).into_iter().zip(told["answers"].as_array().unwrap())
    {
        assert_eq!(line.as_object_mut().unwrap().remove("store_version"), Some(json!(4)));
        assert_eq!(&line, answer, "the same as `query` prints");
    }
    // A segment also says what it was made from, so the bytes of the files differ.
    assert_eq!(days(&bench, "store"), days(&bench, "other"), "the same rows in the same bytes");
    let status = served.get("/v1/status").unwrap().json();
    assert_eq!((&status["days"], &status["journal_pages"]), (&json!(3), &json!(0)));
    bench.done("store verify store");
    assert_eq!(served.end().code, 0);
}

/// What a commit is to tell of the pages that go, by the output of `run`.
fn gone(bench: &Bench, day: &str) -> Vec<Value> {
    let held = |text: &str| text.parse::<f64>().unwrap();
    let dropped = bench.rows(&format!("out/{day}/dedup/verdicts.tsv")).into_iter();
    let dropped = dropped.filter(|row| row[1] == "drop").map(
        |row| json!({ "id": row[0], "day": null, "by": row[2], "containment": held(&row[5]) }),
    );
    let replaced = bench.rows(&format!("out/{day}/dedup/replaced.tsv")).into_iter();
    let replaced = replaced.map(
        |row| json!({ "id": row[0], "day": row[1], "by": row[2], "containment": held(&row[3]) }),
    );
    dropped.chain(replaced).collect()
}

/// The days of a store: of each the rows and their digest.
fn days(bench: &Bench, store: &str) -> Vec<Value> {
    let listed = bench.json(&format!("store list {store} --json"));
    let days = listed["days"].as_array().unwrap().iter();
    days.map(|day| json!([day["day"], day["rows"], day["digest"]])).collect()
}

/// The same without the pages that are hidden, which leave when segments are merged.
fn shown(bench: &Bench, store: &str) -> Vec<Value> {
    bench.done(&format!("store compact {store}"));
    bench.done(&format!("store verify {store}"));
    days(bench, store)
}

/// However pages come, a commit makes of them the day that `run` makes: longer pages replace those that they hold, of this day and of
/// earlier ones.
#[test]
fn a_commit_gives_the_verdicts_of_run() {
    let mut replaced = 0;
    for (seed, settings, remembered) in
        [(1, "", "all"), (2, "", "kept"), (3, "add = \"all\"\n", "all"), (4, "replaced", "all")]
    {
        let history = history(seed);
        let bench = crawl(&history);
        let file = bench.read("days.toml");
        let file = match settings {
            "replaced" => file
                .replace("store = \"store\"", "store = { path = \"store\", replaced = \"keep\" }"),
            settings => settings.to_owned() + &file,
        };
        bench.write("days.toml", file.replace("\"store\"", "\"by-run\""));
        bench.write("serve.toml", file);
        bench.done("store init store");
        let served = Served::start(&bench, "--config serve.toml --distance 15");
        for day in DAYS {
            let mut pages = json_lines(&bench.read(&format!("crawl/{day}.jsonl")));
            pages.reverse();
            // The short pages come first: none of them is dropped as it comes.
            pages.sort_by_key(|page| page["text"].as_str().unwrap().len());
            let body = json!({ "remember": remembered, "pages": pages });
            let answers = served.post("/v1/pages", body)["answers"].clone();
            if remembered == "kept" {
                let is_kept = |id: &str| {
                    let mut answers = answers.as_array().unwrap().iter();
                    answers.any(|it| it["id"] == id && it["verdict"] == "keep")
                };
                let kept = history[day].iter().filter(|(id, _)| is_kept(id));
                let kept: String = kept.map(|(id, page)| numbered(id, page)).collect();
                bench.write(&format!("crawl/{day}.jsonl"), kept);
            }
            bench.done(&format!("run days.toml --date {day}"));
            let told = served.post("/v1/commit", json!({ "day": day }));
            let mut expected = gone(&bench, day);
            let hidden = expected.iter().filter(|page| !page["day"].is_null()).count();
            replaced += hidden;
            match settings {
                "" => {}
                "replaced" => expected.retain(|page| page["day"].is_null()),
                _ => expected.retain(|page| !page["day"].is_null()),
            }
            let told = told.get("gone").map_or(vec![], |gone| gone.as_array().unwrap().clone());
            assert_eq!(told, expected, "{day} of {seed}");
        }
        assert_eq!(served.end().code, 0);
        assert_eq!(shown(&bench, "store"), shown(&bench, "by-run"));
    }
    assert!(replaced >= 10, "{replaced} pages were replaced");
}

/// Wherever a commit ends, the next start makes of its pages the day that `run` makes, once.
#[test]
fn a_commit_that_was_cut_short_judges_as_run_does() {
    let history = history(5);
    let bench = crawl(&history);
    let file = bench.read("days.toml").replace("\"store\"", "\"by-run\"");
    bench.write("days.toml", file);
    bench.done("run days.toml --date 2026-11-01..2026-11-05");
    bench.done("store init store");
    for day in DAYS {
        let served = Served::start(&bench, "--distance 15");
        let pages = history[day].iter().map(|(id, page)| numbered(id, page));
        let pages = json_lines(&pages.collect::<String>());
        served.post("/v1/pages", json!({ "remember": "all", "pages": pages }));
        assert_eq!(served.end().code, 0);
        // It died between the seal and the addition, while it judged.
        let recipe = Preset::Balanced.recipe(None).unwrap();
        let mut segment = SegmentOptions::of(&recipe);
        segment.lengths = true;
        seal_as(&bench, day, segment);
        let journals = bench.path("store/journal");
        let sealed = journals.join(bench.names("store/journal").remove(0));
        let bytes = fs::read(&sealed).unwrap();
        let left = journals.join(".unfinished-a");
        fs::create_dir(&left).unwrap();
        fs::write(left.join("verdicts.tsv"), "id\n").unwrap();
        assert_eq!(Served::start(&bench, "--distance 15").end().code, 0);
        assert!(!left.exists() && !sealed.exists());
        let made = days(&bench, "store");
        // It died when the day was in the store, before its pages were forgotten.
        fs::write(&sealed, bytes).unwrap();
        let served = Served::start(&bench, "--distance 15");
        let again = served.post("/v1/commit", json!({ "day": day }));
        assert_eq!((&again["already"], &again["gone"]), (&json!(true), &Value::Null));
        assert_eq!(served.end().code, 0);
        assert_eq!(days(&bench, "store"), made);
    }
    assert_eq!(shown(&bench, "store"), shown(&bench, "by-run"));
}

#[test]
fn versions_and_days_that_are_too_old_leave_with_the_commit() {
    let (bench, served) = Served::fresh("--recipe external-64 --keep-versions 2 --keep-days 2");
    for day in 1..=3 {
        remember(&served, day..day + 1);
        served.post("/v1/commit", json!({ "day": format!("2026-11-0{day}") }));
    }
    // A commit answers before the store is tidied.
    until("the first day expires", || days_of(&served, 1).is_empty());
    assert_eq!(days_of(&served, 2), [Some("2026-11-02".to_owned())]);
    // A page for a day that has expired waits for another day.
    remember(&served, 9..10);
    let refused = post(&served.address, "/v1/commit", &json!({ "day": "2026-10-30" })).unwrap();
    assert!((400..500).contains(&refused.status), "{refused:?}");
    assert_eq!(days_of(&served, 9), [None]);
    served.post("/v1/commit", json!({ "day": "2026-11-04" }));
    assert_eq!(days_of(&served, 9), [Some("2026-11-04".to_owned())]);
    until("old versions leave", || bench.names("store/manifests").len() == 2);
    assert_eq!(served.end().code, 0);
    bench.done("store verify store");
}

/// Has pages remembered, each with its number as its id and its fingerprint.
fn remember(served: &Served, numbers: std::ops::Range<u64>) {
    let page =
        |number: u64| json!({ "id": number, "fingerprint": format!("{:x}", spread(number)) });
    let pages: Vec<Value> = numbers.map(page).collect();
    served.post("/v1/pages", json!({ "remember": "all", "pages": pages }));
}

fn days_of(served: &Served, number: u64) -> Vec<Option<String>> {
    let asked = json!({ "distance": 0, "fingerprints": [format!("{:x}", spread(number))] });
    let near = near(&served.post("/v1/query", asked)["answers"][0]);
    near.into_iter()
        .map(|(_, id, day)| (id == number.to_string()).then_some(day).flatten())
        .collect()
}

#[test]
fn of_two_processes_that_add_the_same_days_each_has_all_its_pages() {
    let (bench, served) = Served::fresh("--recipe external-64");
    for day in 1..=6 {
        remember(&served, 10 * day..10 * day + 10);
        bench.segment(&format!("{day}"), 64, &[(format!("theirs {day}"), 0xff << day)]);
        let other =
            bench.start(&format!("store add store --segment {day}.seg --day 2026-11-0{day}"));
        // The other is as far as chance will have it, or about to begin, or through.
        if day % 2 == 0 {
            until("the other begins", || other.listens() || !other.is_running());
        }
        if day == 6 {
            until("the other is through", || !other.is_running());
        }
        let asked = json!({ "day": format!("2026-11-0{day}") });
        let reply = post(&served.address, "/v1/commit", &asked).unwrap();
        assert!(matches!(reply.status, 200 | 409 | 503), "{reply:?}");
        assert!(matches!(other.end().code, 0 | 73 | 75));
        assert!(day < 6 || reply.status == 409, "{reply:?}");
        if reply.status == 409 {
            assert_eq!(reply.problem(), "conflict");
            assert!(reply.body.contains("commit them to another day"), "{reply:?}");
            served.post("/v1/commit", json!({ "day": format!("2026-12-0{day}") }));
        }
    }
    until("what was begun is committed, or back", || {
        let reply = post(&served.address, "/v1/commit", &json!({ "day": "2026-12-31" })).unwrap();
        reply.status == 200 && served.get("/v1/status").unwrap().json()["journal_pages"] == 0
    });
    for number in 10..70 {
        let days = days_of(&served, number);
        assert!(days.len() == 1 && days[0].is_some(), "{number}: {days:?}");
    }
    assert_eq!(served.end().code, 0);
    bench.done("store verify store");
}

#[test]
fn a_removed_page_leaves_the_journal_and_may_be_remembered_again() {
    let (bench, served) = Served::fresh("--recipe external-64");
    remember(&served, 1..5);
    bench.write("gone.txt", "2\n3\n");
    bench.done("store remove store --ids gone.txt --until 2026-11-20");
    // The next page that is remembered sees the removal, and so does every query within a second.
    remember(&served, 3..4);
    assert_eq!((days_of(&served, 2), days_of(&served, 3)), (vec![], vec![None]));
    bench.write("gone.txt", "4\n");
    bench.done("store remove store --ids gone.txt --until 2026-11-20");
    until("a removed page is no answer", || days_of(&served, 4).is_empty());
    assert_eq!(served.end().code, 0);
}

#[test]
fn a_purge_certifies_nothing_while_the_journal_may_have_a_removed_page() {
    let bench = Bench::new();
    bench.done("store init store");
    let has = |id: &str| {
        let journals = bench.files("store/journal").into_values();
        journals.into_iter().any(|bytes| memchr::memmem::find(&bytes, id.as_bytes()).is_some())
    };
    let remove = |ids: &str| {
        bench.write("gone.txt", ids);
        bench.done("store remove store --ids gone.txt --until 2026-11-20");
    };
    // Where no service runs, the purge itself takes them out.
    remember_long(&bench, &["takedown-one", "takedown-two"]);
    remove("takedown-one\n");
    assert!(has("takedown-one"));
    // As if a service had died while it wrote a journal anew.
    let journals = bench.path("store/journal");
    fs::copy(journals.join("000001.journal"), journals.join(".unfinished-000001.journal-aB3xYz"))
        .unwrap();
    bench.done("store purge store");
    assert!(!has("takedown-one") && has("takedown-two"));
    // A day that is being committed is left to the service.
    seal(&bench, "2026-11-21");
    remove("takedown-two\n");
    bench.refuses(75, "store purge store", &[": dupsieve serve"]);
    assert_eq!(bench.names("store/purges").len(), 1);
    let served = Served::start(&bench, "--recipe external-64");
    bench.done("store purge store");
    assert!(!has("takedown-two"));
    assert_eq!(bench.names("store/purges").len(), 2);
    assert_eq!(served.end().code, 0);
    bench.done("store verify store");
}

/// Has pages with these ids remembered by a service that ends then.
fn remember_long(bench: &Bench, ids: &[&str]) {
    let served = Served::start(bench, "--recipe external-64");
    let pages: Vec<Value> =
        ids.iter().map(|id| json!({ "id": id, "fingerprint": "abcdef" })).collect();
    served.post("/v1/pages", json!({ "remember": "all", "pages": pages }));
    assert_eq!(served.end().code, 0);
}

/// Seals the journal of ready-made fingerprints, as a service that died between the seal and the addition.
fn seal(bench: &Bench, day: &str) {
    let segment = SegmentOptions::of(&Recipe::named("external-64", None).unwrap());
    seal_as(bench, day, segment);
}

/// The same for a journal of such pages.
fn seal_as(bench: &Bench, day: &str, segment: SegmentOptions) {
    let options = JournalOptions { width: Width::W64, segment, most_bytes: 1 << 20 };
    let journal = Journal::open(&bench.path("store"), options).unwrap();
    journal.seal(day.parse().unwrap()).unwrap();
}

/// A commit keeps the words of its pages, and lists no passages. The next day of `run` is compared with them.
#[test]
fn passages_are_found_in_pages_that_were_committed() {
    let bench = Bench::new();
    let days = ["2026-11-01", "2026-11-02", "2026-11-03"];
    let [first, committed] = [words(0..80), words(1_000..1_100)];
    let last = [words(2_000..2_060), words(1_010..1_070), words(10..65)].join(" ");
    bench.crawl([(days[0], page("a", &first)), (days[2], page("c", &last))], "[passages]\n");
    bench.done(&format!("run days.toml --date {}", days[0]));
    let served = Served::start(&bench, "");
    served.post("/v1/pages", json!({ "pages": [{ "id": "b", "text": committed }] }));
    served.post("/v1/commit", json!({ "day": days[1] }));
    let ended = served.end();
    assert!(ended.stderr.contains("list no passages"), "{}", ended.stderr);
    assert!(!bench.path(&format!("out/{}", days[1])).exists());
    bench.done(&format!("run days.toml --date {}", days[2]));
    let begin = |text: &str, part: &str| text.find(part).unwrap();
    let expected = [
        (words(1_010..1_070), 60, "b", &committed, days[1]),
        (words(10..65), 55, "a", &first, days[0]),
    ];
    let expected = expected.map(|(passage, count, of, of_text, day)| {
        let begins = begin(&last, &passage);
        let [begins, ends, of_begins] = [begins, begins + passage.len(), begin(of_text, &passage)];
        let row = format!("c\t{begins}\t{ends}\t{count}\t{of}\t{of_begins}\t{day}");
        row.split('\t').map(str::to_owned).collect::<Vec<_>>()
    });
    assert_eq!(bench.rows(&format!("out/{}/dedup/passages.tsv", days[2])), expected);
}
