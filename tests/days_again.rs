//! Days of `run` that are made again, come late, or have no page.

use serde_json::Value;

use crate::forgery::replace_and_seal;
use crate::support::Bench;
use crate::world::{gzip, page};

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

#[test]
fn a_day_that_comes_late_says_so_and_a_redo_puts_the_days_in_order() {
    let bench = days();
    let told = bench.done("run days.toml --date 2026-11-03");
    assert!(told.summary()["counts"]["dropped_for_later_days"] == Value::Null);
    assert!(told.stderr.contains("pages of 2026-11-03: "), "{}", told.stderr);
    assert!(!shown(&bench, DAYS[2]).contains("later days"));

    let told = bench.done("run days.toml --date 2026-11-02");
    let later = told.count("dropped_for_later_days");
    let verdicts = bench.read("out/2026-11-02/dedup/verdicts.tsv");
    let dropped =
        verdicts.lines().filter(|line| line.split('\t').nth(4) == Some("2026-11-03")).count();
    assert!(later > 0 && later == dropped as u64, "{later} {dropped}");
    for said in
        ["after later days", "`dupsieve run days.toml --redo 2026-11-03`", "pages of these days"]
    {
        assert!(told.stderr.contains(said), "{}", told.stderr);
    }
    let report = bench.report("out/2026-11-02/dedup");
    let expected = serde_json::json!(
        { "days": 1, "first": "2026-11-03", "last": "2026-11-03", "dropped": later }
    );
    assert_eq!(report["later_days"], expected);
    assert!(
        shown(&bench, DAYS[1]).contains(&format!("{later} pages were dropped as duplicates of"))
    );
    bench.done("verify out/2026-11-02");

    let told = bench.done("run days.toml --redo 2026-11-03");
    assert!(told.stderr.contains("in this order: 2026-11-02, 2026-11-03"), "{}", told.stderr);
    let fresh = days();
    fresh.done("run days.toml --date 2026-11-02..2026-11-03");
    assert_eq!(outputs(&bench), outputs(&fresh));
    for day in &DAYS[1..] {
        bench.done(&format!("verify out/{day}"));
        assert!(!shown(&bench, day).contains("later days"));
    }
    bench.done("store verify store");
    bench.again("run days.toml --redo 2026-11-02");
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

/// Of the first day, `grows` is replaced by `grown` of the second day; `gone` is removed and purged, and `copy` of the third day was dropped for
/// it. In the store each day has a file of its own, or all have one.
fn replaced_and_purged(compacts: bool) -> Bench {
    let [one, two, three] = DAYS;
    let bench = Bench::new();
    let days = [
        (one, words_of("grows", "q", 0) + &words_of("gone", "g", 8)),
        (two, words_of("grown", "q", 30) + &words_of("x", "x", 0)),
        (three, words_of("copy", "g", 8) + &words_of("y", "y", 0) + &words_of("again", "x", 0)),
    ];
    bench.crawl(days, "");
    bench.done("run days.toml");
    assert!(bench.read(&format!("out/{two}/dedup/replaced.tsv")).contains("grows"));
    if compacts {
        bench.done("store compact store");
    }
    bench.write("gone.txt", "gone\n");
    bench.write("ids.txt", "grows\n");
    bench.done("store remove store --ids gone.txt");
    bench.done("store purge store");
    assert!(!is_held(&bench));
    bench
}

fn is_held(bench: &Bench) -> bool {
    bench.answer("seen --store store --ids ids.txt").contains("grows\tyes")
}

/// `grown` was a mistake of the second day: the page that it had replaced is read from the segment of its day.
#[test]
fn a_page_that_was_replaced_comes_back_after_a_purge() {
    let [one, two, three] = DAYS;
    for compacts in [false, true] {
        let bench = replaced_and_purged(compacts);
        bench.write(&format!("crawl/{two}.jsonl"), words_of("x", "x", 0));
        let told = bench.done(&format!("run days.toml --redo {two}")).stderr;
        assert!(!told.contains("WARN"), "{told}");
        assert!(is_held(&bench), "{compacts}");
        bench.done("store verify store");
        for day in [two, three] {
            let judged = bench.done(&format!("verify out/{day}"));
            assert_eq!(
                judged.count("made_again"),
                bench.report(&format!("out/{day}/dedup"))["batch"]["fingerprinted"]
            );
        }
        // It takes part as before.
        bench.write("crawl/2026-11-04.jsonl", words_of("grown", "q", 30));
        bench.done("run days.toml --date 2026-11-04");
        assert!(
            bench
                .read("out/2026-11-04/dedup/replaced.tsv")
                .contains(&format!("grows\t{one}\tgrown"))
        );

        // By hand, too.
        let bench = replaced_and_purged(compacts);
        let told = bench.done(&format!("store rollback store --before-day {two}")).stderr;
        assert!(told.contains(&format!("pages that {two} had replaced stay hidden")), "{told}");
        assert!(told.contains("with --outputs to bring them back"), "{told}");
        let bench = replaced_and_purged(compacts);
        bench.done(&format!("store rollback store --before-day {two} --outputs out"));
        assert!(is_held(&bench));
        assert_eq!(bench.done("store verify store").count("days"), 1);
    }
}

#[test]
fn a_page_that_cannot_come_back_is_named_with_the_command_that_reads_it_again() {
    let [one, two, _] = DAYS;
    let bench = replaced_and_purged(true);
    bench.write(&format!("crawl/{two}.jsonl"), words_of("x", "x", 0));
    std::fs::remove_file(bench.path(&format!("out/{one}/batch.seg"))).unwrap();
    let lost = format!(
        "pages of {one} that {two} had replaced stay away, because the store has lost them and the segment of {one} is not there: grows"
    );
    let said = bench.done(&format!("run days.toml --redo {two} --dry-run")).stderr;
    assert!(said.contains(&lost), "{said}");
    let said = bench.done(&format!("run days.toml --redo {two}")).stderr;
    let advice = format!("run days.toml --redo {one}");
    assert!(said.contains(&format!("{lost}; `dupsieve {advice}` reads them again")), "{said}");
    assert!(!is_held(&bench));
    bench.done(&advice);
    assert!(is_held(&bench));
}

/// What a purge took cannot be looked at. All else is.
#[test]
fn an_output_is_verified_as_far_as_the_store_has_its_pages_still() {
    let [one, two, three] = DAYS;
    for compacts in [false, true] {
        let bench = replaced_and_purged(compacts);
        let counts = |day: &str| {
            let told = bench.done(&format!("verify out/{day}"));
            (
                told.count("made_again"),
                told.summary()["counts"]["not_made_again"].as_u64(),
                told.stderr,
            )
        };
        assert_eq!([one, two].map(|day| counts(day).0), [2, 2]);
        let (again, not_again, said) = counts(three);
        assert_eq!((again, not_again), (2, Some(1)), "{said}");
        let told = "2 verdicts come out the same, and 1 were not looked at: they may go by pages that are gone";
        assert!(said.contains(told), "{said}");
        let all = bench.done("verify out");
        assert_eq!((all.count("made_again"), all.count("not_made_again")), (6, 1));
        // A verdict that pages explain that are there is wrong.
        let output = format!("out/{three}/dedup");
        let verdicts = bench.read(&format!("{output}/verdicts.tsv"));
        let row = verdicts.lines().find(|row| row.starts_with("again\tdrop\tx\t")).unwrap();
        let other = row.replacen("1.0000", "0.9999", 1);
        replace_and_seal(&bench, &output, "verdicts.tsv", verdicts.replace(row, &other).as_bytes());
        bench.fails(65, &format!("verify out/{three}"));
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
