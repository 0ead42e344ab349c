//! Promise: the passages of a day are those of the definition, against the pages that the store shows before it, whatever became of its days; the same
//! bytes for any number of workers and processes.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use dupsieve::passages::PassageRows;
use dupsieve::results::ResultFormat;
use dupsieve::store::{Column, Segment};
use serde_json::{Value, json};

use crate::forgery::forge;
use crate::support::Bench;
use crate::world::{json_lines, numbers, page, words};

const DAYS: [&str; 6] =
    ["2026-11-01", "2026-11-02", "2026-11-03", "2026-11-04", "2026-11-05", "2026-11-06"];

const PASSAGES: &str = "[passages]\n[dedup]\nkeep = \"first-id\"\n";

/// The texts of pages by day and id, words with one blank between them.
type Pages = BTreeMap<(String, String), String>;

/// The passages of pages, which come after others: each as a row of the table.
fn defined(earlier: &Pages, day: &BTreeMap<String, String>) -> Vec<Vec<String>> {
    let (mut first, mut rows) = (HashMap::new(), Vec::<Vec<String>>::new());
    let earlier = earlier.iter().map(|((day, id), text)| (day.as_str(), id, text));
    for (day, id, text) in earlier.chain(day.iter().map(|(id, text)| ("batch", id, text))) {
        let words: Vec<&str> = text.split(' ').collect();
        let begin = |word: &str| word.as_ptr() as usize - text.as_ptr() as usize;
        let mut last = None;
        for (at, window) in words.windows(50).enumerate() {
            let (start, end) = (begin(window[0]), begin(window[49]) + window[49].len());
            let place = (day, id, start);
            let of = *first.entry(&text[start..end]).or_insert(place);
            if of == place || day != "batch" {
                continue;
            }
            let (start, end) = (start.to_string(), end.to_string());
            match rows.last_mut().filter(|_| last == Some((id, at))) {
                Some(row) => {
                    row[2] = end;
                    row[3] = (row[3].parse::<u64>().unwrap() + 1).to_string();
                }
                None => {
                    let row = [id, &start, &end, "50", of.1, &of.2.to_string(), of.0];
                    rows.push(row.map(str::to_owned).into());
                }
            }
            last = Some((id, at + 1));
        }
    }
    rows
}

/// The pages of a day: of words of their own, passages that pages have in common, and a template; some are copies.
fn crawled(day: usize, seed: u64) -> BTreeMap<String, String> {
    let mut next = numbers(seed * 100 + day as u64);
    let mut next = |below: usize| next(below as u64) as usize;
    let mut pages: BTreeMap<String, String> = BTreeMap::new();
    for number in 0..14 {
        let mut parts = vec![words(0..40 + next(30))];
        for part in 0..1 + next(3) {
            let own = 100_000 * (1 + day) + 5_000 * number + 1_000 * part;
            parts.push(words(own..own + 60 + next(200)));
            let (passage, skipped) = (10_000 + 300 * next(7), next(40));
            parts.push(words(passage + skipped..passage + skipped + 30 + next(90)));
        }
        let text = match next(6) {
            0 if number > 0 => pages.values().next().unwrap().clone(),
            1 => vec![words(7..8); 20 + next(90)].join(" "),
            _ => parts.join(" "),
        };
        pages.insert(format!("page-{:02}", (number * 5 + next(5))), text);
    }
    pages
}

fn write(bench: &Bench, day: &str, pages: &BTreeMap<String, String>) {
    let lines: String = pages.iter().map(|(id, text)| page(id, text)).collect();
    bench.write(&format!("crawl/{day}.jsonl"), lines);
}

/// Checks the table of a day, and adds the pages that it keeps to those of the store.
fn check(bench: &Bench, store: &mut Pages, day: &str, pages: &BTreeMap<String, String>) -> usize {
    let output = format!("out/{day}/dedup");
    let kept: BTreeSet<String> =
        bench.read(&format!("{output}/keep.txt")).lines().map(str::to_owned).collect();
    let kept: BTreeMap<String, String> =
        pages.clone().into_iter().filter(|(id, _)| kept.contains(id)).collect();
    let found = bench.rows(&format!("{output}/passages.tsv"));
    assert_eq!(found, defined(store, &kept), "{day}");
    let told = &bench.report(&output)["passages"];
    assert_eq!(told["passages"], found.len());
    assert_eq!(told["pages"], found.iter().map(|row| &row[0]).collect::<BTreeSet<_>>().len());
    for row in bench.rows(&format!("{output}/replaced.tsv")) {
        store.remove(&(row[1].clone(), row[0].clone()));
    }
    store.extend(kept.into_iter().map(|(id, text)| ((day.to_owned(), id), text)));
    found.len()
}

#[test]
fn passages_of_days_are_those_of_the_definition() {
    for seed in 1..=4 {
        let bench = Bench::new();
        let days: BTreeMap<&str, _> =
            DAYS.into_iter().zip((0..).map(|day| crawled(day, seed))).collect();
        days.iter().for_each(|(day, pages)| write(&bench, day, pages));
        bench.configure("days.toml", PASSAGES);
        let mut store = Pages::new();
        let run = |store: &mut Pages, day: &str, flags: &str| {
            bench.done(&format!("run days.toml --date {day} {flags}"));
            bench.done(&format!("verify out/{day}"));
            check(&bench, store, day, &days[day])
        };
        let [one, two, three, four, five, six] = DAYS;
        run(&mut store, one, "");
        // The fourth day comes early, so that the second and the third are late.
        run(&mut store, four, "--workers 3");
        assert!(run(&mut store, two, "--memory 1MiB") > 5);
        let before = store.clone();
        run(&mut store, three, "");
        bench.done(&format!("store rollback store --before-day {three} --outputs out"));
        store = before;
        let gone = store.keys().nth(3).unwrap().clone();
        bench.write("gone.txt", format!("{}\n", gone.1));
        bench.done("store remove store --ids gone.txt");
        store.retain(|(_, id), _| *id != gone.1);
        bench.done("store compact store");
        assert!(run(&mut store, five, "--processes 2 --workers 2") > 5);
        bench.done("store expire store --keep-days 3");
        store.retain(|(day, _), _| day.as_str() >= three);
        assert!(run(&mut store, six, "--processes 3") > 5);
        [four, five].iter().for_each(|day| drop(bench.done(&format!("verify out/{day}"))));
        bench.again(&format!("run days.toml --date {six}"));
    }
}

#[test]
fn a_page_takes_what_plan_says() {
    let bench = Bench::new();
    let mut next = numbers(3);
    let mut word = |_| {
        let word = next(20_000) as usize;
        words(word..word + 1)
    };
    for (day, length) in [(DAYS[0], 60), (DAYS[1], 400)] {
        let pages = (0..200).map(|number| {
            let text: Vec<String> = (0..length).map(&mut word).collect();
            (format!("{day}-{number}"), text.join(" "))
        });
        write(&bench, day, &pages.collect());
        bench.configure("days.toml", PASSAGES);
        bench.done(&format!("run days.toml --date {day}"));
        let line =
            format!("plan --batch 200 --store 200 --page-words {length} --config days.toml --json");
        let told = &bench.json(&line)["passages"];
        let batch = Segment::open(bench.path(&format!("out/{day}/batch.seg"))).unwrap();
        for (name, column) in
            [("word_bytes_a_page", Column::Words), ("anchor_bytes_a_page", Column::PassageAnchors)]
        {
            let found = batch.mean_row_bytes(column) as f64;
            let off = told[name].as_f64().unwrap() / found;
            assert!((2.0 / 3.0..4.0 / 3.0).contains(&off), "{length} {name} {found}: {told}");
        }
        assert_eq!(told["passes"], 1);
        let shown = bench.answer(line.trim_end_matches(" --json"));
        assert!(shown.contains("the anchors of the store are read once"), "{shown}");
    }
    assert_eq!(bench.json("plan --batch 200 --store 200 --json")["passages"], Value::Null);
}

/// A page of several lines: the same words in the same bytes.
fn in_lines(text: &str) -> String {
    let words = text.split(' ').enumerate();
    let words: String =
        words.map(|(at, word)| format!("{word}{}", if at % 9 == 8 { '\n' } else { ' ' })).collect();
    words.trim_end().to_owned()
}

/// A text without these passages: to the word, or without the lines of which all words stand in them.
fn cut(text: &str, passages: &[Vec<String>], how: &str) -> String {
    let place = |row: &Vec<String>| row[1].parse().unwrap()..row[2].parse().unwrap();
    let repeated: Vec<Range<usize>> = passages.iter().map(place).collect();
    let stays = |at: usize| !repeated.iter().any(|passage| passage.contains(&at));
    if how == "words" {
        return text.char_indices().filter(|(at, _)| stays(*at)).map(|(_, c)| c).collect();
    }
    let mut end = 0;
    let lines = text.split_inclusive('\n').filter(|line| {
        let start = end;
        end += line.len();
        line.char_indices().any(|(at, c)| c.is_alphabetic() && stays(start + at))
    });
    lines.collect()
}

/// Checks that the clean files of a day are what it has kept, without passages.
fn check_clean(bench: &Bench, day: &str, pages: &BTreeMap<String, String>, how: &str) -> usize {
    let output = format!("out/{day}/dedup");
    let kept = bench.read(&format!("{output}/keep.txt"));
    let kept: BTreeSet<&str> = kept.lines().collect();
    let rows = bench.rows(&format!("{output}/passages.tsv"));
    let pages = pages.iter().filter(|(id, _)| kept.contains(&id[..]));
    let expected: Vec<Value> = pages
        .map(|(id, text)| {
            let of: Vec<_> = rows.iter().filter(|row| row[0] == *id).cloned().collect();
            json!({"id": id, "text": cut(&in_lines(text), &of, how)})
        })
        .collect();
    let clean = bench.read(&format!("clean/{day}/{day}.jsonl"));
    assert_eq!(json_lines(&clean), expected, "{day}");
    rows.len()
}

#[test]
fn clean_files_are_without_the_passages_of_the_definition() {
    for how in ["words", "lines"] {
        let bench = Bench::new();
        let mut days: BTreeMap<&str, _> =
            DAYS[..3].iter().copied().zip((0..).map(|day| crawled(day, 11))).collect();
        let in_lines = |pages: &BTreeMap<String, String>| {
            pages.iter().map(|(id, text)| (id.clone(), in_lines(text))).collect()
        };
        days.iter().for_each(|(day, pages)| write(&bench, day, &in_lines(pages)));
        let config = |how: &str| {
            let days = format!("dates = {:?}\nkept = \"clean/{{date}}\"\n", &DAYS[..3]);
            format!("{days}[passages]\ncut = \"{how}\"\n[dedup]\nkeep = \"first-id\"\n")
        };
        bench.configure("days.toml", &config(how));
        let check_all = |days: &BTreeMap<&str, BTreeMap<String, String>>| {
            let mut store = Pages::new();
            for (day, pages) in days {
                check(&bench, &mut store, day, pages);
                assert!(check_clean(&bench, day, pages, how) > 3);
            }
        };
        let ran = bench.done("run days.toml");
        assert!(ran.count("words_cut") > 500 && ran.count("pages_cut") > 10);
        assert!(ran.stderr.contains("without their passages"));
        check_all(&days);
        bench.again("run days.toml --processes 2");
        let gone = bench.read(&format!("out/{}/dedup/keep.txt", DAYS[0]));
        let gone = gone.lines().next().unwrap();
        days.insert(DAYS[1], crawled(1, 12));
        write(&bench, DAYS[1], &in_lines(&days[DAYS[1]]));
        bench.done(&format!("run days.toml --redo {}", DAYS[1]));
        check_all(&days);
        // Another way to cut makes other files, which replace none unasked.
        bench.configure("other.toml", &config("paragraphs"));
        bench.refuses(73, "run other.toml", &["a file was changed, added or is missing"]);
        // What is taken down is no longer a first copy.
        bench.write("gone.txt", format!("{gone}\n"));
        bench.done("store remove store --ids gone.txt");
        let mut first = days[DAYS[0]].clone();
        first.remove(gone);
        bench.done(&format!("run days.toml --redo {}", DAYS[0]));
        days.insert(DAYS[0], first);
        check_all(&days);
    }
}

#[test]
fn passages_are_verified_by_what_is_left_of_the_store() {
    let bench = Bench::new();
    let days: BTreeMap<&str, _> =
        DAYS[..3].iter().copied().zip((0..).map(|day| crawled(day, 5))).collect();
    days.iter().for_each(|(day, pages)| write(&bench, day, pages));
    bench.configure("days.toml", &format!("dates = {:?}\n{PASSAGES}", &DAYS[..3]));
    bench.done("run days.toml");
    let mut store = Pages::new();
    for day in &DAYS[..2] {
        check(&bench, &mut store, day, &days[day]);
    }
    let output = format!("out/{}/dedup", DAYS[2]);
    let rows = bench.rows(&format!("{output}/passages.tsv"));
    let gone = rows.iter().find(|row| row[6] == DAYS[0]).unwrap()[4].clone();
    bench.write("gone.txt", format!("{gone}\n"));
    bench.done("store remove store --ids gone.txt");
    store.retain(|(_, id), _| *id != gone);
    let kept = bench.read(&format!("{output}/keep.txt"));
    let kept = kept.lines().map(|id| (id.to_owned(), days[DAYS[2]][id].clone())).collect();
    let left = defined(&store, &kept);
    let again = rows.iter().filter(|row| left.contains(row)).count();
    assert!((1..rows.len()).contains(&again));
    let verify = format!("verify out/{}", DAYS[2]);
    let told = format!("{again} passages came out the same; {} others may", rows.len() - again);
    let said = bench.done(&verify).stderr;
    assert!(said.contains(&told), "{told}: {said}");
    let sealed = ["passages.tsv", "report.json"].map(|name| format!("{output}/{name}"));
    let before = sealed.clone().map(|name| bench.read(&name));
    let forged = |row: &[String], made: &str| {
        let row = row.join("\t") + "\n";
        forge(&bench, (&output, "outcome"), &[("passages.tsv", &row, made)], |report| {
            let rows = bench.rows(&sealed[0]);
            let words = rows.iter().map(|row| row[3].parse::<u64>().unwrap()).sum::<u64>();
            let pages = rows.iter().map(|row| &row[0]).collect::<BTreeSet<_>>().len();
            report["passages"] = json!({"pages": pages, "passages": rows.len(), "words": words});
        });
        bench.refuses(65, &verify, &["another passage, which no page explains"]);
        sealed.iter().zip(&before).for_each(|(name, text)| bench.write(name, text));
    };
    // A passage of a page that is there is missing; another one is made up; one begins elsewhere.
    for row in rows.iter().filter(|row| row[4] != gone).step_by(5) {
        forged(row, "");
        let mut other = row.clone();
        other[5] = format!("1{}", row[5]);
        forged(row, &(other.join("\t") + "\n"));
        let mut more = row.clone();
        (more[1], more[2]) = (format!("{}0", row[2]), format!("{}1", row[2]));
        forged(row, &format!("{}\n{}\n", row.join("\t"), more.join("\t")));
    }
    bench.done(&verify);
    forge(&bench, (&output, ""), &[], |report| report["passages"]["words"] = 7.into());
    bench.refuses(65, &verify, &["other counts than passages.tsv"]);
}

/// Tables of the other formats are cut by, shown and verified as TSV, also where a page has left the store since.
#[test]
fn passages_are_the_same_in_every_format() {
    let mut told = Vec::new();
    for format in ResultFormat::ALL.into_iter().filter(|format| format.check().is_ok()) {
        let bench = Bench::new();
        let days = [0, 1].map(|day| (DAYS[day], crawled(day, 21)));
        days.iter().for_each(|(day, pages)| write(&bench, day, pages));
        let config = format!("dates = {:?}\nkept = \"clean/{{date}}\"\n", &DAYS[..2]);
        bench.configure("days.toml", &format!("{config}[passages]\ncut = \"words\"\n"));
        bench.done(&format!("run days.toml --output-format {format}"));
        let output = format!("out/{}", DAYS[1]);
        let rows = PassageRows::of(&bench.path(&format!("{output}/dedup"))).unwrap();
        let rows: Vec<_> = rows.map(Result::unwrap).collect();
        bench.done("verify out");
        bench.write("gone.txt", format!("{}\n", rows[0].of));
        bench.done("store remove store --ids gone.txt");
        let verified = bench.done(&format!("verify {output}")).stderr;
        assert!(verified.contains("passages came out the same"), "{verified}");
        let cut = bench.read(&format!("clean/{0}/{0}.jsonl", DAYS[1]));
        told.push((rows, bench.answer(&format!("sample {output}")), cut));
    }
    assert!(told[0].0.len() > 5 && told.windows(2).all(|two| two[0] == two[1]), "{told:?}");
}
