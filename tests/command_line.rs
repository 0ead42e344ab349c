//! The command line: what is printed to stdout, for programs and for people; help; and what is refused
//! before any work.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{Bench, Ended, Running, command};
use crate::world::sample_file;

const PAGES: &str = "id\ttext\n\
    a1\tthe quick brown fox jumps over the lazy dog near the river bank\n\
    a2\tthe quick brown fox jumps over the lazy dog near the river bank\n\
    b1\tfingerprints of pages are compared by the bits in which they differ\n";

fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("pages.tsv", PAGES);
    bench.write("labels.tsv", "id\tcluster\na1\ta\na2\ta\nb1\tb\n");
    bench.done("fingerprint --input pages.tsv --output pages.seg");
    bench.store(&[("2026-01-01", "pages")]);
    bench
}

/// Runs the program with stdout and stderr on a terminal. Everything printed there is in `stdout`.
fn on_terminal(bench: &Bench, line: &str) -> Ended {
    let mut script = command("script");
    let typed = format!("{} {line}", env!("CARGO_BIN_EXE_dupsieve"));
    script.current_dir(bench.path("")).args(["-qec", &typed, "/dev/null"]);
    Running::start(script).end()
}

fn object(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_else(|_| panic!("not one JSON object: {line}"))
}

#[test]
fn an_answer_is_alone_on_stdout() {
    let bench = bench();
    for (line, first) in [
        ("inspect pages.seg --dump", "b1\t0x"),
        ("inspect pages.seg", "segment  "),
        ("plan --batch 1e6 --store 1e7", "design  "),
        ("explain --input pages.tsv a1 b1", "recipe  "),
        ("store list store", "day  "),
    ] {
        let answer = bench.answer(line);
        assert!(answer.lines().any(|line| line.starts_with(first)), "{answer}");
        assert!(!answer.contains("{\"") || answer.starts_with("segment"), "{answer}");
        assert!(!answer.contains("\"code\""), "{answer}");
        for row in bench.answer(&format!("{line} --json")).lines() {
            let object = object(row);
            assert!(object.is_object() && object.get("code").is_none(), "{object}");
        }
    }
    for line in ["compare pages.tsv labels.tsv", "evaluate --pairs labels.tsv --labels labels.tsv"]
    {
        let answer = bench.answer(line);
        assert_eq!(answer, bench.answer(&format!("{line} --json")));
        assert!(object(&answer).get("code").is_none(), "{answer}");
    }
}

#[test]
fn a_job_ends_with_one_summary_line_or_on_a_terminal_with_sentences() {
    let bench = bench();
    let line = "dedup --batch pages.seg --output out";
    let seen = on_terminal(&bench, line);
    assert_eq!(seen.code, 0, "{seen:?}");
    assert!(seen.stdout.contains("3 documents: 2 kept, 1 duplicate dropped"), "{seen:?}");
    assert!(seen.stdout.contains("written to out:") && !seen.stdout.contains('{'), "{seen:?}");
    let line_there = on_terminal(&bench, &format!("{line} --json"));
    assert!(line_there.stdout.contains("\"already_done\":true"), "{line_there:?}");
    for flags in ["", "--workers 1 --processes 2"] {
        let ended = bench.done(&format!("{line} {flags}"));
        assert_eq!(ended.stdout.lines().count(), 1, "{ended:?}");
        assert_eq!(ended.stderr.matches("3 documents: 2 kept").count(), 1, "{ended:?}");
        assert!(ended.summary().get("sentences").is_none(), "{ended:?}");
    }
    // A job without sentences of its own is described by its counts.
    let seen = on_terminal(&bench, "generate segment --count 3 --output random.seg");
    assert!(seen.stdout.contains("generate: done"), "{seen:?}");
    assert!(seen.stdout.contains("fingerprints: 3"), "{seen:?}");
    // And one with sentences leaves the counts out.
    let seen = on_terminal(&bench, "store add store --segment pages.seg --day 2026-01-02");
    assert!(seen.stdout.contains("the store store has "), "{seen:?}");
}

#[test]
fn a_failure_is_printed_once_on_a_terminal() {
    let bench = bench();
    for line in ["dedup --batch none.seg --output out", "inspect none.seg"] {
        let seen = on_terminal(&bench, line);
        assert_eq!(seen.code, 66);
        assert_eq!(seen.stdout.matches("none.seg").count(), 1, "{seen:?}");
        assert!(
            seen.stdout.starts_with("error: ") && seen.stdout.contains("  none.seg"),
            "{seen:?}"
        );
        let ended = bench.run(line);
        assert_eq!(ended.stderr.matches("none.seg").count(), 1, "{ended:?}");
    }
}

#[test]
fn the_global_flags_are_shown_in_one_place() {
    let bench = Bench::new();
    let flags = ["--stall-timeout", "--config", "--quiet", "--cache", "--json"];
    let page = bench.answer("help flags");
    assert_eq!(page, bench.answer("flags"));
    assert!(flags.iter().all(|flag| page.contains(flag)), "{page}");
    for job in ["run", "dedup", "inspect", "store add", "generate segment", ""] {
        let page = bench.answer(&format!("help {job}"));
        let stands = |flag: &str| page.lines().any(|line| line.trim_start().starts_with(flag));
        assert!(!flags.iter().any(|flag| stands(flag)), "{page}");
        assert!(page.contains("dupsieve help flags"), "{page}");
        assert_eq!(page.contains("Examples:\n"), !job.is_empty(), "{page}");
    }
    // They are accepted nevertheless.
    bench.done("generate segment --count 10 --output a.seg --quiet --stall-timeout 60");
}

#[test]
fn every_command_is_in_the_help_once_and_short_help_is_short() {
    let bench = Bench::new();
    let page = bench.answer("help");
    let in_group =
        |name: &str| page.lines().filter(|line| line.starts_with(&format!("  {name} "))).count();
    let others = page.lines().find_map(|line| line.strip_prefix("Also: ")).unwrap();
    for name in ["run", "dedup", "store", "query", "lsh", "fingerprint", "doctor"] {
        assert_eq!(in_group(name), 1, "{page}");
    }
    assert_eq!(others, "generate, inspect, weights, completions, man, schema, flags");
    assert!(page.lines().all(|line| line.chars().count() <= 100), "{page}");
    let [short, long] = ["dedup -h", "dedup --help"].map(|line| bench.answer(line));
    assert!(5 * short.len() < 4 * long.len(), "{} and {} bytes", short.len(), long.len());
    assert!(!short.contains("--wait-for-peers") && long.contains("--wait-for-peers"), "{short}");
    assert_eq!(long, bench.answer("help dedup"));
}

#[test]
fn a_sample_shows_pairs_of_every_distance() {
    let bench = Bench::new();
    let crawl = sample_file("crawl");
    let days = "dates = [\"2026-11-18\", \"2026-11-19\"]\npreset = \"paper\"\n";
    bench.sample("days.toml", days);
    bench.done("run days.toml");
    let matches = bench.read("out/2026-11-19/dedup/matches.tsv");
    let at = |distance: &str| {
        matches.lines().filter(|line| line.split('\t').nth(2) == Some(distance)).count()
    };
    let told = bench.answer("sample out/2026-11-19 --pairs 2");
    for distance in ["0", "1", "2", "3"].into_iter().filter(|distance| at(distance) > 0) {
        let all = at(distance);
        let head = format!("distance {distance}: {} of {all} pairs\n", all.min(2));
        assert!(told.contains(&head), "{head}{told}");
    }
    assert!(at("0") + at("1") + at("2") + at("3") > 10, "{matches}");
    assert!(told.contains("  jaccard ") && told.contains("(2026-11-18)"), "{told}");
    assert!(told.contains("{+") && !told.contains("not in the inputs"), "{told}");
    assert_eq!(told, bench.answer("sample out/2026-11-19/dedup --pairs 2"));
    assert_ne!(told, bench.answer("sample out/2026-11-19 --pairs 2 --seed 2"));
    assert_eq!(bench.answer("sample out/2026-11-19 --pairs 2 --output pairs.html"), "");
    let page = bench.read("pairs.html");
    assert_eq!(page.matches("<section").count(), told.matches("jaccard").count());
    assert!(page.contains("<ins>") && page.contains("<del>"), "{page}");
    assert!(
        bench
            .fails_to_answer(73, "sample out/2026-11-19 --output pairs.html")
            .contains("--overwrite")
    );
    for line in bench.answer("sample out/2026-11-19 --json").lines() {
        let pair = object(line);
        assert!((0.0..=1.0).contains(&pair["jaccard"].as_f64().unwrap()), "{pair}");
        let row = format!(
            "{}\t{}\t",
            pair["new"].as_str().unwrap(),
            pair["existing"]["id"].as_str().unwrap()
        );
        assert!(matches.contains(&row), "{row}");
    }
    // An output of `dedup` does not record where its pages are.
    bench.done("dedup --batch out/2026-11-19/batch.seg --output alone");
    bench.refuses(2, "sample alone --json", &["--input"]);
    bench.says(&format!("sample alone --input {crawl}/2026-11-19"), &["(batch)  jaccard "]);
}

#[test]
fn an_answer_whose_reader_has_gone_ends_without_a_word() {
    let bench = bench();
    for line in ["completions bash", "inspect pages.seg --dump", "store list store", "help run"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let ended = bench.command(line).stdout(writer).output().unwrap();
        assert_eq!(String::from_utf8(ended.stderr).unwrap(), "", "{line}");
    }
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let below = |path: PathBuf| if path.is_dir() { sources(&path) } else { vec![path] };
    entries.flat_map(below).filter(|path| path.extension().is_some_and(|it| it == "rs")).collect()
}

#[test]
fn help_has_a_chapter_for_every_kind_of_error() {
    let bench = Bench::new();
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut names = BTreeSet::new();
    for path in [sources(&project.join("src")), sources(&project.join("jobs"))].concat() {
        let text = std::fs::read_to_string(path).unwrap();
        let found = text.split(".called(\"").skip(1).filter_map(|rest| rest.split('"').next());
        names.extend(found.map(str::to_owned));
    }
    assert!(names.len() > 20, "{names:?}");
    let kinds = "usage bad-data missing unavailable defect exists io temporary permission config";
    names.extend(kinds.split(' ').map(str::to_owned));
    for name in &names {
        let chapter = bench.answer(&format!("help {name}"));
        assert!(chapter.starts_with(&format!("{name}\n\nExit code ")), "{name}: {chapter}");
        assert!(!chapter.contains("\n#"), "{chapter}");
    }
    let told = bench.run("store list none").stderr;
    assert!(told.starts_with("error: there is no store here\n  "), "{told}");
    let failed = bench.run("store list none --json").summary();
    assert_eq!((&failed["kind"], &failed["code"]), (&"no-store".into(), &66.into()));
    assert!(told.ends_with(&format!("\nhelp: {}\n", failed["help"].as_str().unwrap())), "{told}");
}
