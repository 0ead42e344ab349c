//! `init`: the configuration it proposes runs as it is, and what it says of the pages is true.

use std::fs;
use std::path::Path;

use crate::support::Bench;

/// Copies the bundled sample to `crawl` in the bench.
fn copy_sample(bench: &Bench) {
    for day in fs::read_dir("bench-data/sample/crawl").unwrap() {
        let day = day.unwrap();
        for file in fs::read_dir(day.path()).unwrap() {
            let file = file.unwrap();
            let to = Path::new("crawl").join(day.file_name()).join(file.file_name());
            bench.write(to.to_str().unwrap(), fs::read(file.path()).unwrap());
        }
    }
}

#[test]
fn the_proposed_configuration_runs_as_it_is() {
    let bench = Bench::new();
    copy_sample(&bench);
    let made = bench.done("init --input crawl");
    assert_eq!((made.count("sampled"), made.count("unreadable")), (126, 0), "{made:?}");
    let text = bench.read("dupsieve.toml");
    for line in [
        "inputs = [\"crawl/{date}/*.jsonl*\"]",
        "dates = [\"2026-11-18\", \"2026-11-19\", \"2026-11-20\"]",
        "preset = \"balanced\"",
        "id_field = \"id\"",
        "text_field = \"text\"",
        "time_field = \"fetched\"",
        "keep = \"oldest\"",
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
    let ran = bench.done("run dupsieve.toml");
    assert_eq!((ran.count("read"), ran.count("kept"), ran.count("dropped")), (132, 61, 69));
}

#[test]
fn what_was_found_is_said_and_pairs_are_shown() {
    let bench = Bench::new();
    let story = "the old harbour was closed for a year while the quay was built again of granite and of oak";
    let row = |at: u32| {
        format!("k{at}\t<p>{story}, and then in the month {at} it was opened to all ships</p>\n")
    };
    let rows: String = (0..40).map(row).collect();
    bench.write("pages.tsv", format!("key\tbody\n{rows}"));
    let ended = bench.run("init --input pages.tsv --output - ");
    assert_eq!(ended.code, 0, "{ended:?}");
    for line in [
        "inputs = [\"pages.tsv\"]",
        "id_field = \"key\"",
        "text_field = \"body\"",
        "html = true",
        "# No path named a day",
        "keep = \"first-id\"",
    ] {
        assert!(ended.stdout.contains(line), "{line} is not in\n{}", ended.stdout);
    }
    assert!(ended.stdout.contains("39 by balanced"), "{}", ended.stdout);
}

#[test]
fn days_that_are_too_many_for_the_file_are_named_by_what_comes_next() {
    let bench = Bench::new();
    for number in 0..32 {
        let (month, day) = (1 + number / 28, 1 + number % 28);
        let page =
            |id: u32| format!("{{\"id\": {id}, \"text\": \"the page with the number {id}\"}}\n");
        let pages = page(2 * number) + &page(2 * number + 1);
        bench.write(&format!("crawl/2026-{month:02}-{day:02}.jsonl"), pages);
    }
    let told = bench.run("init --input crawl");
    assert!(
        told.stderr.contains("dupsieve.toml --date 2026-01-01..2026-02-04 --dry-run"),
        "{told:?}"
    );
    assert!(bench.read("dupsieve.toml").contains("32 days"));
    bench.done("run dupsieve.toml --date 2026-01-01..2026-01-28 --dry-run");
}

#[test]
fn an_example_is_written_once_and_kept() {
    let bench = Bench::new();
    bench.done("init --output day.toml");
    let text = bench.read("day.toml");
    assert!(text.contains("crawl/{date}/*.jsonl.zst"));
    bench.write("day.toml", "add = \"all\"\n");
    bench.fails(73, "init --output day.toml");
    bench.done("init --output day.toml --overwrite");
    assert_eq!(bench.read("day.toml"), text);
    // It is a configuration: what it lacks is the pages.
    bench.fails(66, "run day.toml --date 2026-01-01");
}

#[test]
fn what_nothing_can_be_proposed_for_is_refused() {
    let bench = Bench::new();
    bench.write("same.jsonl", "{\"name\": \"x\", \"text\": \"y\"}\n".repeat(30));
    let said = bench.fails(65, "init --input same.jsonl");
    assert!(said.contains("an id") && said.contains("name, text"), "{said}");
    bench.write("ready.tsv", "a\t0x1\n");
    bench.fails(2, "init --input ready.tsv --format fingerprints");
    bench.fails(66, "init --input none.jsonl");
    bench.write("blank.jsonl", "\n\n");
    bench.fails(65, "init --input blank.jsonl");
    assert_eq!(bench.names("").len(), 3);
}
