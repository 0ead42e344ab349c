//! Days of `run`: the sample, and days that are made again, come late, or have no page.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::support::Bench;
use crate::world::{gzip, page, sample_file};

const DAYS: [&str; 3] = ["2026-11-01", "2026-11-02", "2026-11-03"];

/// Three days, each with some pages of the day before, and a file for them. The first one is run.
fn days() -> Bench {
    let bench = Bench::new();
    let more = "[fingerprint]\nmax_bad = \"50%\"\n[clusters]\nmethod = \"star\"\n";
    bench.november(3, 60, 100, more);
    bench.done("run days.toml --date 2026-11-01");
    bench
}

/// The outputs of the days, but for reports: these have numbers of versions.
fn outputs(bench: &Bench) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = bench.files("out").into_iter().collect();
    files.retain(|(name, _)| !name.contains("report."));
    files
}

fn shown(bench: &Bench, day: &str) -> String {
    bench.read(&format!("out/{day}/dedup/report.html")).replace("&#x2f;", "/")
}

#[test]
fn a_redo_tells_of_each_day_and_of_the_places_where_things_are_in_the_end() {
    let bench = days();
    bench.done("run days.toml --date 2026-11-02..2026-11-03");
    let good = bench.read("crawl/2026-11-02.jsonl");
    let repeated = good.lines().next().unwrap();
    bench.write("crawl/2026-11-02.jsonl", format!("{good}{repeated}\nno record\n"));
    let told = bench.done("run days.toml --redo 2026-11-02").stderr;
    assert!(!told.contains(".redo"), "{told}");
    for list in ["repeated", "quarantine"] {
        let path = bench.path(&format!("out/2026-11-02/batch.seg.{list}.tsv"));
        assert!(path.exists() && told.contains(&*path.to_string_lossy()), "{told}");
    }
    let line = |day: &str| {
        told.lines()
            .filter(|line| line.contains(&format!("INFO {day}  ")) && line.contains(" pages: "))
            .count()
    };
    assert_eq!(DAYS.map(line), [0, 1, 1], "{told}");
    assert!(told.contains("2026-11-02  102 pages: ") && told.contains("1 unreadable"), "{told}");
    for (day, job) in [(1, "dedup"), (1, "clusters"), (2, "dedup"), (2, "clusters")] {
        for name in ["report.html", "report.json"] {
            let name = format!("out/{}/{job}/{name}", DAYS[day]);
            assert!(!bench.read(&name).contains(".redo"), "{name}");
        }
    }
    let verified = format!("dupsieve verify {}", bench.path("out/2026-11-03/dedup").display());
    assert!(shown(&bench, DAYS[2]).contains(&verified));

    // As if the redo had died before the join of the last day was put in its place, and after its clusters were.
    let files = bench.files("out");
    let staged = bench.path("out/2026-11-03/.redo");
    std::fs::create_dir(&staged).unwrap();
    std::fs::rename(bench.path("out/2026-11-03/dedup"), staged.join("dedup")).unwrap();
    bench.done("run days.toml --date 2026-11-02..2026-11-03");
    assert_eq!(bench.files("out"), files);

    let told = bench.done("run days.toml --redo 2026-11-02");
    assert_eq!(told.summary()["already_done"], true);
    assert!(told.stderr.contains("already as they would be made"), "{}", told.stderr);
    assert!(!told.stderr.contains("days to make again"), "{}", told.stderr);
}

/// A page of words that no other page has, and `more` words.
pub(crate) fn words_of(id: &str, word: &str, more: usize) -> String {
    let words: String = (0..150 + more).map(|at| format!("{word}{:x} ", (at + 7) * 7919)).collect();
    page(id, &words)
}

/// What a day is made from again needs no version that a purge has pruned, in whatever files the days are.
#[test]
fn days_can_be_corrected_after_a_purge() {
    let gone = |bench: &Bench| {
        let pages = bench.read("crawl/2026-11-01.jsonl");
        let page: Value = serde_json::from_str(pages.lines().nth(3).unwrap()).unwrap();
        bench.write("gone.txt", page["id"].as_str().unwrap());
        bench.done("store remove store --ids gone.txt");
    };
    let correct = |bench: &Bench| {
        let pages = bench.read("crawl/2026-11-02.jsonl");
        let some: String = pages.split_inclusive('\n').take(70).collect();
        bench.write("crawl/2026-11-02.jsonl", some);
    };
    let expected = days();
    gone(&expected);
    correct(&expected);
    expected.done("run days.toml --date 2026-11-02..2026-11-03");
    let check = |bench: &Bench, what: &str| {
        for ((name, found), (other, wanted)) in outputs(bench).into_iter().zip(outputs(&expected)) {
            assert_eq!(name, other, "{what}");
            assert!(found == wanted, "{what}: {name} is another");
        }
        assert_eq!(outputs(bench).len(), outputs(&expected).len(), "{what}");
    };
    for compacts in [false, true] {
        let bench = days();
        bench.done("run days.toml --date 2026-11-02..2026-11-03");
        if compacts {
            bench.done("store compact store");
        }
        gone(&bench);
        bench.done("store purge store");
        correct(&bench);
        let told = bench.done("run days.toml --redo 2026-11-02").stderr;
        assert!(told.contains("was pruned, so the store goes back to what it has"), "{told}");
        check(&bench, &format!("compacted: {compacts}"));
        bench.done("store verify store");
        bench.done("verify out/2026-11-03");
        bench.again("run days.toml --redo 2026-11-02");
        let [found, wanted] = [&bench, &expected].map(|it| it.done("store verify store"));
        assert_eq!(found.count("fingerprints"), wanted.count("fingerprints"));
        // The store goes back by a day, but to no version that has gone.
        bench.fails(66, "store rollback store --to 2");
        bench.done("store purge store");
        bench.done("store rollback store --before-day 2026-11-03 --outputs out");
        assert_eq!(bench.done("store verify store").count("days"), 2);
        bench.done("run days.toml --date 2026-11-03");
        check(&bench, &format!("compacted: {compacts}"));
        // The first day too.
        bench.done("store compact store");
        bench.done("store prune store --keep-versions 1");
        bench.done("store rollback store --before-day 2026-11-01");
        assert_eq!(bench.done("store verify store").count("days"), 0);
    }
}

#[test]
fn a_flag_that_changes_nothing_of_a_day_makes_no_other_output() {
    let bench = Bench::new();
    let [whole, cut] = [0, 100].map(|from| gzip(bench.documents(from, from + 100)));
    bench.write("crawl/2026-11-01.jsonl.gz", &whole);
    bench.write("crawl/2026-11-02.jsonl.gz", &cut[..cut.len() / 2]);
    let toml = "inputs = [\"crawl/{date}.jsonl.gz\"]\noutput = \"out/{date}\"\nstore = \"store\"\n\
                [fingerprint]\nmax_bad = \"50%\"\n";
    bench.write("days.toml", toml);
    bench.done("run days.toml --date 2026-11-01");
    bench.fails(65, "run days.toml --date 2026-11-01..2026-11-02");
    let accepting = "run days.toml --date 2026-11-01..2026-11-02 --accept-truncated";
    bench.done(accepting);
    bench.again(accepting);
    bench.again("run days.toml --date 2026-11-01");
    // Of the day that was cut off it decides.
    bench.fails(73, "run days.toml --date 2026-11-02");
}

#[test]
fn commands_take_all_days_at_once_and_one_output_and_an_id() {
    let bench = days();
    bench.done("run days.toml --date 2026-11-02..2026-11-03");
    let each = DAYS.map(|day| bench.done(&format!("verify out/{day}")).count("made_again"));
    assert_eq!(bench.done("verify out").count("made_again"), each.iter().sum::<u64>());
    let sampled = bench.answer("sample out --pairs 2");
    let parts =
        DAYS.map(|day| format!("{day}: {}", bench.answer(&format!("sample out/{day} --pairs 2"))));
    assert_eq!(sampled, parts.concat());
    let day = DAYS[1];
    let verdicts = bench.read(&format!("out/{day}/dedup/verdicts.tsv"));
    let of = |word: &str| {
        let row = verdicts.lines().find(|row| row.split('\t').nth(1) == Some(word)).unwrap();
        row.split('\t').map(str::to_owned).collect::<Vec<_>>()
    };
    let dropped = of("drop");
    bench.says(
        &format!("explain out/{day} {}", dropped[0]),
        &[&format!("drop: {} bits from {}", dropped[3], dropped[2])],
    );
    let kept = of("keep");
    let told = bench.answer(&format!("explain out/{day} {}", kept[0]));
    let nearest = told.lines().find(|line| line.starts_with("nearest ")).unwrap();
    let reasons = ["it contains 0.", "bits away", "was dropped itself", "taken first"];
    assert!(reasons.iter().any(|reason| nearest.contains(reason)), "{told}");
    let json: Value = bench.json(&format!("explain out/{day} {} --json", kept[0]));
    assert!(nearest.contains(json["nearest"]["id"].as_str().unwrap()), "{json}");

    bench.write("ids.txt", format!("{}\nnobody\n", dropped[0]));
    let seen = bench.answer("seen --config days.toml --ids ids.txt");
    let told: Vec<&str> = seen.lines().collect();
    assert!(told[0].starts_with(&format!("{}\tyes\t2026-11-0", dropped[0])), "{seen}");
    assert_eq!(told[1], "nobody\tno\t");
    // The store alone does not have the dropped page, and says so.
    let said = |line: &str| bench.run(line).stderr;
    let warning = "a no says nothing of the pages that the days from 2026-11-01 to 2026-11-03 read and dropped";
    assert!(said("seen --store store --ids ids.txt").contains(warning));
    assert!(!said("seen --config days.toml --ids ids.txt").contains("a no says"));
    std::fs::remove_file(bench.path("out/2026-11-02/dedup/drop.txt")).unwrap();
    let said = said("seen --config days.toml --ids ids.txt");
    assert!(said.contains("from 2026-11-02 to 2026-11-02 read and dropped"), "{said}");
}

#[test]
fn the_sample_gives_what_was_planted() {
    let bench = Bench::new();
    let days = ["2026-11-18", "2026-11-19", "2026-11-20"];
    let more = format!("dates = {days:?}\n[fingerprint]\ntime_field = \"fetched\"\n");
    bench.sample("sample.toml", &more);
    let ended = bench.done("run sample.toml");
    assert_eq!(ended.stdout.lines().count(), 1);
    let counts =
        ["read", "fingerprinted", "empty", "repeated", "quarantined"].map(|name| ended.count(name));
    assert_eq!(counts[0], counts[1..].iter().sum::<u64>());
    assert_eq!((counts[2], counts[3], counts[4]), (1, 1, 0));
    let pairs = |table: &str| bench.rows(table).into_iter().map(|row| row[..2].to_vec());
    let planted: BTreeSet<Vec<String>> = pairs(&sample_file("truth.tsv")).collect();
    let found: BTreeSet<Vec<String>> =
        days.iter().flat_map(|day| pairs(&format!("out/{day}/dedup/matches.tsv"))).collect();
    assert_eq!(found, planted);
    for day in days {
        let probe = &bench.report(&format!("out/{day}/dedup"))["probe"];
        assert_eq!(probe["chunks_planned"], probe["chunks_probed"]);
    }
}
