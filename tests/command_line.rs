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

/// A bench with pages, a segment of them, and a store of one day.
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
fn a_question_without_an_answer_leaves_stdout_empty() {
    let bench = bench();
    for (code, line) in [
        (66, "inspect none.seg"),
        (66, "store list none"),
        (66, "explain --input pages.tsv a1 none"),
        (2, "plan --batch many --store 1"),
        (2, "store list"),
    ] {
        let ended = bench.run(line);
        assert_eq!((ended.code, ended.stdout.as_str()), (code, ""), "{ended:?}");
        assert!(ended.stderr.contains("error: ") && ended.stderr.contains("\nhelp: "));
        let ended = bench.run(&format!("{line} --json"));
        assert_eq!(ended.stdout.lines().count(), 1, "{ended:?}");
        assert_eq!((ended.code, &ended.summary()["code"]), (code, &code.into()));
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
    let seen = on_terminal(&bench, "store add store --segment pages.seg --day 2026-01-02");
    assert!(seen.stdout.contains("store: done") && seen.stdout.contains("version: 3"), "{seen:?}");
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
fn flags_of_every_command_may_come_before_it_and_common_flags_may_not() {
    let bench = bench();
    bench.write("paper.toml", "preset = \"paper\"\n");
    let before = bench.answer("--quiet --json --config paper.toml plan --batch 1e6 --store 1e7");
    let behind = bench.answer("plan --batch 1e6 --store 1e7 --config paper.toml --json --quiet");
    assert_eq!(before, behind);
    assert!(object(&before).is_object(), "{before}");
    let said = bench.fails(2, "--memory 1GiB plan --batch 1e6 --store 1e7 --json");
    assert!(said.contains("unexpected argument '--memory'"), "{said}");
}

#[test]
fn flags_without_effect_are_refused() {
    let bench = bench();
    for (line, flag) in [
        ("inspect pages.seg --json --overwrite", "--overwrite"),
        ("plan --batch 1 --store 1 --json --dry-run", "--dry-run"),
        ("store list store --json --restarts 1", "--restarts"),
        ("verify pages.seg --peer-timeout 9", "--peer-timeout"),
        ("compare pages.tsv labels.tsv --json --workers 2", "--workers"),
        ("weights --input pages.tsv --output w --check minhash", "--check"),
        ("lsh plan --json --memory 1GiB", "--memory"),
        ("evaluate --pairs labels.tsv --labels labels.tsv --json --overwrite", "--overwrite"),
    ] {
        bench.refuses(2, line, &[&format!("unexpected argument '{flag}'")]);
    }
    let said =
        bench.fails(2, "evaluate --pairs labels.tsv --labels labels.tsv --json --format tsv");
    assert!(said.contains("--format has no effect without --sweep"), "{said}");
    // The environment is for all commands: a variable without effect is not an error.
    let mut command = bench.command("inspect pages.seg");
    command.env("DUPSIEVE_WORKERS", "2").env("DUPSIEVE_RESTARTS", "1");
    assert_eq!(Running::start(command).end().code, 0);
}

#[test]
fn commands_that_are_spelt_alike_are_named_behind_help_too() {
    let bench = Bench::new();
    for line in ["dedpu", "help dedpu", "store lst", "help store lst", "store help lst"] {
        let said = bench.fails(2, line);
        let alike = if line.contains("store") { "'list'" } else { "'dedup'" };
        assert!(said.contains("similar") && said.contains(alike), "{line}: {said}");
    }
    let said = bench.fails(2, "help zzzz");
    assert!(said.contains("'zzzz'") && !said.contains("similar"), "{said}");
}

/// Runs a command with one environment variable set; returns what it printed.
fn with_variable(bench: &Bench, variable: (&str, &str), line: &str) -> Value {
    let mut command = bench.command(line);
    command.env(variable.0, variable.1);
    object(&Running::start(command).end().stdout)
}

#[test]
fn a_configuration_has_effect_in_every_command_that_takes_one() {
    let bench = bench();
    bench.write("one.txt", "the quick brown fox");
    bench.write("two.txt", "the quick brown dog");
    bench.write(
        "pages.jsonl",
        "{\"url\":\"a\",\"body\":\"one two\"}\n{\"url\":\"b\",\"body\":\"two\"}\n",
    );
    bench.write(
        "wide.toml",
        "[fingerprint]\nrecipe = \"shingles\"\nwidth = 128\nid_field = \"url\"\ntext_field = \"body\"\n\
         [dedup]\ndistance = 1\n",
    );
    let shingles = "shingles-1";
    let compare = "compare one.txt two.txt --config wide.toml";
    let compared = object(&bench.answer(compare));
    assert_eq!(compared["recipe"], shingles);
    assert_eq!(compared["sketches"][0].as_str().unwrap().len(), 2 + 32);
    // Flags override the environment, and the environment overrides the file.
    let words = "words-1";
    assert_eq!(with_variable(&bench, ("DUPSIEVE_RECIPE", "words"), compare)["recipe"], words);
    let flagged = format!("{compare} --recipe shingles");
    assert_eq!(with_variable(&bench, ("DUPSIEVE_RECIPE", "words"), &flagged)["recipe"], shingles);
    let explain = "explain --input pages.jsonl a b --config wide.toml --json";
    let explained = object(&bench.answer(explain));
    assert_eq!((&explained["recipe"], &explained["width"]), (&shingles.into(), &128.into()));
    let page = |page: usize| {
        let words: String = (0..150).map(|at| format!("w{} ", at * (page + 3))).collect();
        format!("{{\"url\":\"{page}\",\"body\":\"{words}\"}}\n")
    };
    bench.write("many.jsonl", (0..20).map(page).collect::<String>());
    let sweep = "evaluate --sweep --input many.jsonl --config wide.toml --json";
    let swept = object(&bench.answer(sweep));
    let own = |swept: &Value| swept["methods"][2].clone();
    assert_eq!(
        (&own(&swept)["method"], &own(&swept)["distance"]),
        (&"your file".into(), &1.into())
    );
    assert_eq!(own(&swept)["recipe"], shingles);
    let planned = bench.answer("plan --batch 1e6 --store 1e6 --config wide.toml --json");
    assert_ne!(planned, bench.answer("plan --batch 1e6 --store 1e6 --json"));
}

/// A configuration of two days of pages, with `more` at its end.
fn two_days(bench: &Bench, name: &str, more: &str) {
    bench.write("crawl/2026-01-01.tsv", PAGES);
    bench.write("crawl/2026-01-02.tsv", PAGES.replace("lazy dog", "lazy cat").replace("a1", "a0"));
    bench.write(
        name,
        format!(
            "inputs = [\"crawl/{{date}}.tsv\"]\noutput = \"out/{{date}}\"\nstore = \"held\"\n\
             dates = [\"2026-01-01\", \"2026-01-02\"]\n{more}"
        ),
    );
}

#[test]
fn failures_known_beforehand_are_reported_before_any_work() {
    let bench = Bench::new();
    two_days(&bench, "days.toml", "");
    let refused = |code: i32, line: &str, what: &[&str]| {
        for line in [line.to_owned(), format!("{line} --dry-run")] {
            let before = bench.tree();
            let said = bench.fails(code, &line);
            assert!(what.iter().all(|what| said.contains(what)), "{line}: {said}");
            assert!(!said.contains('{'), "{said}");
            assert_eq!(before, bench.tree(), "{line} left something");
        }
    };
    for (more, what) in [
        ("[dedup]\ndistance = 99\n", ["99", "at most 15"]),
        ("[dedup]\ndesign = \"conditioned\"\ndistance = 9\n", ["conditioned", "9"]),
        ("[dedup]\ncheck = \"minhash:0.6\"\n", ["minhash", "--sketch"]),
        ("[dedup]\nkeep = \"oldest\"\n", ["oldest", "--time-field"]),
    ] {
        two_days(&bench, "wrong.toml", more);
        refused(2, "run wrong.toml", &what);
    }
    bench.done("run days.toml --date 2026-01-01");
    // The store has another recipe. The error names the parts that differ.
    two_days(&bench, "other.toml", "[fingerprint]\nrecipe = \"short-text\"\n");
    let parts = ["sketch = containment", "sketch = none", "weights = raised-tf"];
    refused(2, "run other.toml --date 2026-01-02", &parts);
    // The output of a later day was made with another distance.
    bench.done("run days.toml");
    std::fs::remove_file(bench.path("out/2026-01-02/batch.seg")).unwrap();
    two_days(&bench, "near.toml", "[dedup]\ndistance = 1\n");
    refused(73, "run near.toml", &["distance = 1", "distance = 3", "out/2026-01-01/dedup"]);
    refused(73, "run near.toml --date 2026-01-02", &["out/2026-01-02/dedup"]);
}

#[test]
fn a_difference_of_recipes_names_the_parts_that_differ() {
    let bench = bench();
    let said =
        bench.fails(73, "fingerprint --recipe short-text --input pages.tsv --output pages.seg");
    assert!(said.contains("recipe: ") && said.contains("sketch = none"), "{said}");
    assert!(!said.contains('{') && !said.contains("xxh3"), "{said}");
    bench.done("fingerprint --recipe short-text --input pages.tsv --output other.seg");
    for (code, line) in [
        (2, "dedup --batch other.seg --store store --output out"),
        (73, "store add store --segment other.seg --day 2026-01-02"),
    ] {
        let said = bench.fails(code, line);
        assert!(said.contains("containment") && said.contains("sketch = none"), "{said}");
        assert!(!said.contains('{') && !said.contains("xxh3"), "{said}");
    }
}

#[test]
fn one_id_is_explained_by_its_verdict() {
    let bench = Bench::new();
    two_days(&bench, "days.toml", "");
    bench.done("run days.toml");
    let explain = |day: &str, id: &str| {
        bench.answer(&format!("explain --config days.toml --date {day} {id}"))
    };
    let told = explain("2026-01-01", "a2");
    assert!(told.contains("drop: 0 bits from a1, a page of the same batch"), "{told}");
    // Both days have the same id. The other page is the one of the earlier day.
    let told = explain("2026-01-02", "b1");
    assert!(told.contains("drop: 0 bits from b1, a page that the store holds since 2026-01-01"));
    let told = explain("2026-01-01", "b1");
    assert!(told.contains("verdict   keep: it is no duplicate of a kept page\n"), "{told}");
    let line = "explain --config days.toml --date 2026-01-01";
    let json = object(&bench.answer(&format!("{line} a2 --json")));
    assert_eq!(json["verdict"]["nearest"]["id"], "a1");
    assert_eq!(json["verdict"]["nearest"]["distance"], json["distance"]);
    bench.fails(66, &format!("{line} nobody --json"));
    bench.fails(2, "explain --date 2026-01-01 a2 --json");
    bench.fails(66, "explain --config days.toml --date 2026-01-03 a2 --json");
}

/// Of two pages that are not enough, `part` has the nearer fingerprint, and `most` contains more.
#[test]
fn of_a_kept_page_the_one_is_named_that_contains_most_of_it() {
    let bench = Bench::new();
    let words = |word: &str, count: usize| {
        (0..count).map(|at| format!("{word}{:x} ", (at + 7) * 7919)).collect::<String>()
    };
    let page =
        |id: &str, text: String| object(&format!("{{\"id\": \"{id}\", \"text\": {text:?}}}"));
    let most = page("most", words("q", 170) + &words("x", 700));
    let pages = [page("page", words("q", 200)), most, page("part", words("q", 120))];
    bench.write("pages.jsonl", pages.map(|page| format!("{page}\n")).concat());
    bench.done("dedup --input pages.jsonl --output found");
    let told = bench.answer("explain found page");
    let why = "from most, a page of the same batch: it contains 0.8485 of this page; 0.9 is asked";
    assert!(told.lines().nth(1).unwrap().ends_with(why), "{told}");
    let json = object(&bench.answer("explain found page --json"));
    assert_eq!(
        (&json["nearest"]["id"], &json["nearest"]["contains"]),
        (&"most".into(), &json["containment"]["shares"][0])
    );
    // The share that was asked for is that of the output.
    bench.done("dedup --input pages.jsonl --output strict --containment 0.95");
    assert!(bench.answer("explain strict page").contains("; 0.95 is asked"));
    // Where the pages are gone, the sketches tell it still.
    std::fs::remove_file(bench.path("pages.jsonl")).unwrap();
    assert!(bench.answer("explain found page").trim_end().ends_with(why));
}

#[test]
fn a_sample_shows_pairs_of_every_distance() {
    let bench = Bench::new();
    let crawl = sample_file("crawl");
    bench.write(
        "days.toml",
        format!(
            "inputs = [\"{crawl}/{{date}}/*\"]\noutput = \"out/{{date}}\"\nstore = \"held\"\n\
             dates = [\"2026-11-18\", \"2026-11-19\"]\npreset = \"paper\"\n"
        ),
    );
    bench.done("run days.toml");
    let matches = bench.read("out/2026-11-19/dedup/matches.tsv");
    let at = |distance: &str| {
        matches.lines().filter(|line| line.split('\t').nth(2) == Some(distance)).count()
    };
    let told = bench.answer("sample out/2026-11-19 --per-distance 2");
    for distance in ["0", "1", "2", "3"].into_iter().filter(|distance| at(distance) > 0) {
        let all = at(distance);
        let head = format!("distance {distance}: {} of {all} pairs\n", all.min(2));
        assert!(told.contains(&head), "{head}{told}");
    }
    assert!(at("0") + at("1") + at("2") + at("3") > 10, "{matches}");
    assert!(told.contains("  jaccard ") && told.contains("(2026-11-18)"), "{told}");
    assert!(told.contains("{+") && !told.contains("not in the inputs"), "{told}");
    assert_eq!(told, bench.answer("sample out/2026-11-19/dedup --per-distance 2"));
    assert_ne!(told, bench.answer("sample out/2026-11-19 --per-distance 2 --seed 2"));
    assert_eq!(bench.answer("sample out/2026-11-19 --per-distance 2 --output pairs.html"), "");
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
    assert!(bench.fails(2, "sample alone --json").contains("--input"));
    let told = bench.answer(&format!("sample alone --input {crawl}/2026-11-19"));
    assert!(told.contains("(batch)  jaccard "), "{told}");
}

#[test]
fn shells_complete_and_manuals_name_every_command() {
    let bench = Bench::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = bench.answer(&format!("completions {shell}"));
        assert!(script.contains("fingerprint") && script.contains("accept-truncated"), "{shell}");
    }
    bench.done("man pages");
    let names = bench.names("pages");
    for name in ["dupsieve.1", "dupsieve-run.1", "dupsieve-store-add.1", "dupsieve-lsh-plan.1"] {
        assert!(names.iter().any(|found| found == name), "{names:?}");
    }
    let page = bench.read("pages/dupsieve-dedup.1");
    assert!(page.contains("Examples:") && page.contains("max\\-matches"), "{page}");
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

#[test]
fn a_path_without_its_flag_is_told_the_flag() {
    let said = Bench::new().fails(2, "dedup corpus --output found");
    assert!(said.contains("a path follows its flag, such as '--input corpus'"), "{said}");
}

#[test]
fn former_names_of_flags_still_work() {
    let bench = Bench::new();
    bench.write("a.txt", "one two three four five six");
    for recipe in ["words", "default"] {
        bench.done(&format!("fingerprint --input a.txt --recipe {recipe} --output {recipe}.seg"));
    }
    assert_eq!(bench.bytes("words.seg"), bench.bytes("default.seg"));
    bench.done("dedup --batch words.seg --output found");
    for flag in ["from", "matches"] {
        bench.done(&format!("cluster --{flag} found --output by-{flag}"));
    }
    bench.store(&[("2026-01-01", "words")]);
    for flag in ["index", "design"] {
        bench.done(&format!("store index store --{flag} none"));
    }
    let ask = |flag: &str| bench.answer(&format!("query --store store --{flag} a.txt"));
    assert_eq!(ask("text-file"), ask("text"));
}

/// The files of Rust below a folder of the project.
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
