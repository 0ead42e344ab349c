//! The kept pages themselves: copied as they came, all of them or none.

use crate::support::Bench;

const PAGES: &str = concat!(
    "{\"id\": \"a\", \"text\": \"one page\"}\n",
    "not json\n",
    "{\"id\": \"b\", \"text\": \"another\", \"more\": [1, 2]}\n",
    "{\"id\": \"a\", \"text\": \"the same id again\"}\n",
    "{\"id\": \"c\", \"text\": \"a third\"}\n",
);

#[test]
fn the_listed_records_are_copied_in_their_order_once_each() {
    let bench = Bench::new();
    bench.write("pages.jsonl", PAGES);
    bench.write("ids.txt", "c\na\n\n");
    let ended = bench.done("filter --input pages.jsonl --ids ids.txt --output kept/pages.jsonl");
    assert_eq!(ended.count("copied"), 2);
    let lines: Vec<&str> = PAGES.lines().collect();
    assert_eq!(bench.read("kept/pages.jsonl"), format!("{}\n{}\n", lines[0], lines[4]));
    let again = bench.done("filter --input pages.jsonl --ids ids.txt --output kept/pages.jsonl");
    assert_eq!(again.summary()["already_done"], true);
    bench.write("ids.txt", "b\n");
    bench.fails(73, "filter --input pages.jsonl --ids ids.txt --output kept/pages.jsonl");
    bench.done("filter --input pages.jsonl --ids ids.txt --output kept/pages.jsonl --overwrite");
    assert_eq!(bench.read("kept/pages.jsonl"), format!("{}\n", lines[2]));
}

#[test]
fn an_id_that_stands_nowhere_is_an_error_and_nothing_is_written() {
    let bench = Bench::new();
    bench.write("pages.jsonl", PAGES);
    bench.write("ids.txt", "a\nz\n");
    let said = bench.fails(65, "filter --input pages.jsonl --ids ids.txt --output kept.jsonl");
    assert!(said.contains("\"z\""), "{said}");
    assert!(!bench.path("kept.jsonl").exists());
}

#[test]
fn columns_keep_their_header_and_text_files_become_lines() {
    let bench = Bench::new();
    bench.write("pages.tsv", "id\ttext\nx\tone\ny\ttwo\n");
    bench.write("ids.txt", "y\n");
    bench.done("filter --input pages.tsv --ids ids.txt --output kept.tsv");
    assert_eq!(bench.read("kept.tsv"), "id\ttext\ny\ttwo\n");
    bench.write("folder/y", "two\nlines");
    bench.write("folder/x", "one");
    bench.done("filter --input folder --ids ids.txt --output kept.jsonl");
    assert_eq!(bench.read("kept.jsonl"), "{\"id\":\"y\",\"text\":\"two\\nlines\"}\n");
}

#[test]
fn a_record_that_was_not_judged_is_not_copied() {
    let bench = Bench::new();
    let good = "{\"id\": \"p\", \"text\": \"good\", \"at\": 7}\n";
    bench.write(
        "pages.jsonl",
        format!("{{\"id\": \"p\", \"text\": \"bad\", \"at\": \"soon\"}}\n{good}"),
    );
    bench.write("ids.txt", "p\n");
    bench.done("filter --input pages.jsonl --time-field at --ids ids.txt --output kept.jsonl");
    assert_eq!(bench.read("kept.jsonl"), good);
}
