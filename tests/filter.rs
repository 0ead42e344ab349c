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

/// A record of WARC.
fn record(kind: &str, url: &str, block: &str) -> String {
    format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nContent-Type: text/plain\r\n\
         Content-Length: {}\r\n\r\n{block}\r\n\r\n",
        block.len()
    )
}

#[test]
fn records_of_archives_are_copied_byte_for_byte_each_packed_by_itself() {
    let bench = Bench::new();
    let pages = ["a", "b", "c"].map(|url| record("conversion", url, &format!("page {url}\n")));
    let request = record("request", "a", "GET / HTTP/1.1\r\n\r\n");
    bench.write("crawl.warc", [&request[..], &pages[0], &pages[1], &pages[2]].concat());
    bench.write("ids.txt", "c\na\n");
    let kept = format!("{}{}", pages[0], pages[2]);
    bench.done("filter --input crawl.warc --ids ids.txt --output kept.warc");
    assert_eq!(bench.read("kept.warc"), kept);
    bench.done("filter --input crawl.warc --ids ids.txt --output kept.warc.gz");
    let packed = std::fs::read(bench.path("kept.warc.gz")).unwrap();
    let mut first = Vec::new();
    std::io::Read::read_to_end(&mut flate2::bufread::GzDecoder::new(&packed[..]), &mut first)
        .unwrap();
    assert_eq!(String::from_utf8(first).unwrap(), pages[0]);
    bench.done("filter --input crawl.warc --ids ids.txt --output kept.warc.zst");
    for packed in ["kept.warc.gz", "kept.warc.zst"] {
        bench.done(&format!("filter --input {packed} --ids ids.txt --output {packed}.warc"));
        assert_eq!(bench.read(&format!("{packed}.warc")), kept);
    }
    bench.write("pages.jsonl", PAGES);
    let said = bench.fails(2, "filter --input crawl.warc pages.jsonl --ids ids.txt --output x");
    assert!(said.contains("pages.jsonl") && said.contains("read as jsonl"), "{said}");
}

#[test]
fn a_name_says_the_format_of_the_copy_or_none() {
    let bench = Bench::new();
    bench.write("pages.tsv", "id\ttext\na\tone\n");
    bench.write("pages.jsonl", "{\"id\": \"b\", \"text\": \"two\"}\n");
    bench.write("ids.txt", "a\n");
    for name in ["kept.jsonl", "kept.csv.gz", "kept.parquet", "kept.warc"] {
        let said =
            bench.fails(2, &format!("filter --input pages.tsv --ids ids.txt --output {name}"));
        assert!(said.contains("kept.tsv") && said.contains(name), "{said}");
    }
    bench.done("filter --input pages.tsv --ids ids.txt --output kept.tsv.gz");
    bench.done("filter --input pages.tsv --ids ids.txt --output kept");
    // What was two formats in one file could be read by nobody.
    let said = bench.fails(2, "filter --input pages.jsonl pages.tsv --ids ids.txt --output both");
    assert!(said.contains("two formats") && said.contains("pages.tsv"), "{said}");
}

#[test]
fn fields_that_the_report_of_an_output_knows_need_no_flags() {
    let bench = Bench::new();
    let page = |at: u32, when: &str| {
        let words: String = (0..30).map(|word| format!(" w{}", word * word * at)).collect();
        format!("{{\"url\": \"u{at}\", \"body\": \"{words}\", \"crawled\": \"{when}\"}}\n")
    };
    // The first record with an id was not judged: its time cannot be read.
    let pages =
        page(1, "soon") + &page(1, "2026-11-18T00:00:00Z") + &page(2, "2026-11-18T00:00:01Z");
    bench.write("crawl/2026-11-18.jsonl", &pages);
    bench.write(
        "c.toml",
        "inputs = [\"crawl/{date}.jsonl\"]\noutput = \"out/{date}\"\nstore = \"store\"\n[fingerprint]\n\
         id_field = \"url\"\ntext_field = \"body\"\ntime_field = \"crawled\"\nmax_bad = 1\n",
    );
    let ran = bench.run("run c.toml --date 2026-11-18");
    assert!(ran.stderr.contains("--output kept.jsonl"), "{ran:?}");
    bench.done("filter --input crawl/2026-11-18.jsonl --ids out/2026-11-18/dedup/keep.txt --output kept.jsonl");
    assert_eq!(
        bench.read("kept.jsonl"),
        pages.lines().skip(1).map(|line| line.to_owned() + "\n").collect::<String>()
    );
    let ended = bench.done(
        "filter --input crawl/2026-11-18.jsonl --annotate out/2026-11-18/dedup --output all.jsonl",
    );
    assert_eq!((ended.count("annotated"), ended.count("unread")), (2, 1));
}

/// The copy of the kept pages that `run` advises can be made, and has the name of its format.
#[test]
fn the_advice_of_run_names_the_format_of_the_pages() {
    let bench = Bench::new();
    bench.write("crawl/2026-11-18.csv", "id,text\na,one page\nb,another text\n");
    bench.write(
        "c.toml",
        "inputs = [\"crawl/{date}.csv\"]\noutput = \"out/{date}\"\nstore = \"store\"\n",
    );
    let ran = bench.run("run c.toml --date 2026-11-18");
    let advice = ran.stderr.lines().find(|line| line.contains("copy the kept pages")).unwrap();
    let command = advice.split_once(" filter ").unwrap().1.replace('\'', "");
    assert!(command.ends_with("--output kept.csv"), "{advice}");
    bench.done(&format!("filter {command}"));
    assert_eq!(bench.read("kept.csv").lines().count(), 3);
}

#[test]
fn a_copy_of_an_arc_file_keeps_its_first_record() {
    let bench = Bench::new();
    let info = "filedesc://a.arc 0.0.0.0 20050101000000 text/plain 12\n1 0 someone\n";
    let page = |url| format!("{url} 1.2.3.4 20050101000000 text/plain 4\npage\n");
    bench.write("ids.txt", "dns:b\n");
    bench.write("a.arc", [info, &page("dns:a"), &page("dns:b")].concat());
    bench.done("filter --input a.arc --ids ids.txt --output kept.arc");
    assert_eq!(bench.read("kept.arc"), [info, &page("dns:b")].concat());
    bench.done("filter --input kept.arc --ids ids.txt --output again.arc");
    assert_eq!(bench.read("again.arc"), bench.read("kept.arc"));
}

#[test]
fn warc_and_arc_are_not_copied_into_one_file() {
    let bench = Bench::new();
    let info = "filedesc://a.arc 0.0.0.0 20050101000000 text/plain 12\n1 0 someone\n";
    bench.write("a.arc", format!("{info}dns:a 1.2.3.4 20050101000000 text/plain 4\npage\n"));
    bench.write("b.warc", record("conversion", "dns:b", "page"));
    bench.write("ids.txt", "dns:a\ndns:b\n");
    let said = bench.fails(2, "filter --input a.arc b.warc --ids ids.txt --output both.arc");
    assert!(said.contains("WARC and ARC files cannot be copied"), "{said}");
    assert!(!bench.path("both.arc").exists());
}

/// No bytes at all would be no compressed file.
#[test]
fn a_copy_of_nothing_can_be_unpacked() {
    let bench = Bench::new();
    bench.write("crawl.warc", record("conversion", "a", "page"));
    bench.write("none.txt", "");
    bench.done("filter --input crawl.warc --ids none.txt --output kept.warc.gz");
    let packed = bench.bytes("kept.warc.gz");
    let mut text = Vec::new();
    std::io::Read::read_to_end(&mut flate2::bufread::GzDecoder::new(&packed[..]), &mut text)
        .unwrap();
    assert!(text.is_empty());
    bench.done("filter --input crawl.warc --ids none.txt --output kept.warc.zst");
    assert!(zstd::decode_all(&bench.bytes("kept.warc.zst")[..]).unwrap().is_empty());
    bench.done("filter --input crawl.warc --ids none.txt --output kept.warc");
    assert!(bench.bytes("kept.warc").is_empty());
}

/// Rows of files that other programs wrote are copied with all their columns, and what is copied is read as the same pages.
#[test]
#[cfg(feature = "parquet")]
fn rows_of_parquet_are_copied_into_parquet() {
    let bench = Bench::new();
    bench.write("ids.txt", "b\n");
    for name in ["pyarrow", "pyarrow-int96", "duckdb", "polars"] {
        let file = format!("{}/tests/data/parquet/{name}.parquet", env!("CARGO_MANIFEST_DIR"));
        let line = format!("filter --input {file} --time-field fetched --ids ids.txt");
        let ended = bench.done(&format!("{line} --output {name}.parquet"));
        assert_eq!(ended.count("copied"), 1);
        let again = bench.done(&format!("{line} --output {name}.parquet"));
        assert_eq!(again.summary()["already_done"], true);
        for (input, output) in [(file.clone(), "all"), (format!("{name}.parquet"), "one")] {
            bench.done(&format!(
                "fingerprint --input {input} --time-field fetched --max-bad 1 --output {name}-{output}.seg"
            ));
        }
        let [all, one] =
            ["all", "one"].map(|it| bench.answer(&format!("inspect {name}-{it}.seg --dump")));
        let expected: String = all
            .lines()
            .filter(|line| line.starts_with("b\t"))
            .map(|line| format!("{line}\n"))
            .collect();
        assert_eq!(one, expected, "{name}");
        let said = bench.fails(2, &format!("{line} --output {name}.parquet.gz"));
        assert!(said.contains("compressed inside"), "{said}");
    }
    bench.write("pages.jsonl", PAGES);
    let said = bench.fails(2, "filter --input pages.jsonl polars.parquet --ids ids.txt --output x");
    assert!(said.contains("files of two formats") && said.contains("polars.parquet"), "{said}");
    let said = bench
        .fails(2, "filter --input polars.parquet pyarrow-int96.parquet --ids ids.txt --output x");
    assert!(said.contains("different columns"), "{said}");
    // The text of `c` is null, so it is no page.
    bench.write("ids.txt", "c\n");
    bench.fails(65, "filter --input polars.parquet --ids ids.txt --output x");
    assert!(!bench.path("x").exists());
}
