//! The kept pages themselves: copied as they came, all of them or none.

use crate::support::{Bench, Running};
use crate::world::{museum, record};

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
    bench.again("filter --input pages.jsonl --ids ids.txt --output kept/pages.jsonl");
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
    bench.refuses(65, "filter --input pages.jsonl --ids ids.txt --output kept.jsonl", &["\"z\""]);
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
    let fields =
        "id_field = \"url\"\ntext_field = \"body\"\ntime_field = \"crawled\"\nmax_bad = 1\n";
    bench.configure("c.toml", &format!("[fingerprint]\n{fields}"));
    let ran = bench.run("run c.toml --date 2026-11-18");
    assert!(ran.stderr.contains("filter --config c.toml --all --output kept"), "{ran:?}");
    bench.done("filter --input crawl/2026-11-18.jsonl --ids out/2026-11-18/dedup/keep.txt --output kept.jsonl");
    assert_eq!(
        bench.read("kept.jsonl"),
        pages.lines().skip(1).map(|line| line.to_owned() + "\n").collect::<String>()
    );
}

/// Days whose pages have the same ids, and other texts.
fn recrawls(bench: &Bench) {
    let page = |id: &str, seed: u64| {
        let words: String = (0..120).map(|at| format!(" w{}", (at + 3) * seed)).collect();
        format!("{{\"id\": \"{id}\", \"text\": \"{words}\"}}\n")
    };
    // The first page of a day is that of the day before, under another id.
    for (day, pages) in [
        ("2026-11-18", [("a", 3), ("b", 5), ("c", 7)]),
        ("2026-11-19", [("c", 3), ("a", 11), ("b", 13)]),
        ("2026-11-20", [("b", 11), ("c", 17), ("a", 19)]),
    ] {
        bench.write(
            &format!("crawl/{day}/p.jsonl"),
            pages.map(|(id, seed)| page(id, seed)).concat(),
        );
    }
    bench.write(
        "c.toml",
        "inputs = [\"crawl/{date}/*\"]\noutput = \"out/{date}\"\nstore = \"store\"\n\
         dates = [\"2026-11-18..2026-11-20\"]\n",
    );
}

/// The lines of a file of pages, by their numbers.
fn some(bench: &Bench, name: &str, lines: &[usize]) -> String {
    let text = bench.read(name);
    let all: Vec<&str> = text.split_inclusive('\n').collect();
    lines.iter().map(|&at| all[at]).collect()
}

#[test]
fn the_kept_pages_of_all_days_are_copied_by_their_days() {
    let bench = Bench::new();
    recrawls(&bench);
    let ran = bench.run("run c.toml");
    let advice = ran.stderr.lines().find(|line| line.contains("copy the kept pages")).unwrap();
    let command = "filter".to_owned() + advice.split_once(" filter").unwrap().1;
    let ended = bench.done(&command);
    assert_eq!([ended.count("days"), ended.count("copied")], [3, 7]);
    let copied = |day: &str| bench.read(&format!("kept/{day}/p.jsonl"));
    let of = |day: &str, lines: &[usize]| some(&bench, &format!("crawl/{day}/p.jsonl"), lines);
    assert_eq!(copied("2026-11-18"), of("2026-11-18", &[0, 1, 2]));
    for day in ["2026-11-19", "2026-11-20"] {
        assert_eq!(copied(day), of(day, &[1, 2]));
    }
    bench.again(&command);
    // A page that was removed stays out, and a folder is replaced only if that is said.
    bench.write("gone.txt", "a\n");
    bench.done("store remove store --ids gone.txt");
    bench.fails(73, &command);
    let ended = bench.done(&format!("{command} --overwrite"));
    assert_eq!([ended.count("copied"), ended.count("removed")], [4, 3]);
    assert_eq!(copied("2026-11-18"), of("2026-11-18", &[1, 2]));
    // One list for all days would copy each id once.
    let lists =
        ["18", "19", "20"].map(|day| bench.read(&format!("out/2026-11-{day}/dedup/keep.txt")));
    bench.write("all.txt", lists.concat());
    let said = bench.fails(2, "filter --input crawl --ids all.txt --output one.jsonl");
    assert!(said.contains("more than once") && said.contains("--all"), "{said}");
    let list = "filter --input crawl --ids out/2026-11-20/dedup/keep.txt --output one.jsonl";
    let said = bench.done(list).stderr;
    assert!(said.contains("4 records have a listed id that came before"), "{said}");
}

/// What `run` advises can be done with pages of several formats too.
#[test]
fn kept_pages_are_copied_into_files_of_their_formats() {
    let bench = Bench::new();
    let words = |seed: u64| (0..120).map(|at| format!("w{} ", (at + 3) * seed)).collect::<String>();
    let info = "filedesc://a.arc 0.0.0.0 20050101000000 text/plain 12\n1 0 someone\n";
    let page = format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n{}", words(3));
    let page = format!("http://a/ 1.2.3.4 20050101000000 text/plain {}\n{page}\n", page.len());
    bench.write("my crawl/2026-11-18/a.arc", format!("{info}{page}"));
    bench.write("my crawl/2026-11-18/b.warc", record("conversion", "http://b/", &words(5)));
    bench.write(
        "my days.toml",
        "inputs = [\"my crawl/{date}/*\"]\noutput = \"my out/{date}\"\nstore = \"store\"\n",
    );
    let run = |words: &[&str]| {
        let mut command = bench.command("");
        command.args(words);
        let ended = Running::start(command).end();
        assert_eq!(ended.code, 0, "{ended:?}");
        ended
    };
    let ran = run(&["run", "my days.toml", "--date", "2026-11-18"]);
    for (what, last) in
        [("copy the kept pages", "kept"), ("check the results", "'my out/2026-11-18'")]
    {
        let advice = ran.stderr.lines().find(|line| line.contains(what)).unwrap();
        assert!(advice.ends_with(last), "{advice}");
    }
    run(&["filter", "--config", "my days.toml", "--all", "--output", "kept"]);
    for name in ["a.arc", "b.warc"] {
        let [kept, crawled] =
            ["kept", "my crawl"].map(|it| bench.read(&format!("{it}/2026-11-18/{name}")));
        assert_eq!(kept, crawled);
    }
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
        let file = museum(&format!("parquet/{name}.parquet"));
        let line = format!("filter --input {file} --time-field fetched --ids ids.txt");
        let ended = bench.done(&format!("{line} --output {name}.parquet"));
        assert_eq!(ended.count("copied"), 1);
        bench.again(&format!("{line} --output {name}.parquet"));
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
        bench.refuses(2, &format!("{line} --output {name}.parquet.gz"), &["compressed inside"]);
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

/// Records of responses as a crawler writes them: name, time, more lines of the head, and the body.
fn response(name: &str, time: u8, more: &str, body: &str) -> String {
    let block =
        format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-Name: {name}\r\n\r\n{body}");
    format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:{name}>\r\nWARC-Target-URI: http://{name}/\r\n\
         WARC-Date: 2026-11-18T00:00:0{time}Z\r\n{more}Content-Length: {}\r\n\r\n{block}\r\n\r\n",
        block.len()
    )
}

#[test]
fn a_payload_that_comes_again_becomes_a_revisit_of_the_first_and_all_else_stays() {
    let bench = Bench::new();
    let digest = "WARC-Payload-Digest: sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5\r\n";
    let known = "WARC-Payload-Digest: sha256:known\r\n";
    let same = "the same page";
    let first = response("first", 1, "", same);
    let unchanged = [
        response("near", 2, "", "the same page!"),
        // What a digest says is not believed, and other digests of the same bytes are other payloads.
        response("said", 3, digest, "abc"),
        response("false", 4, digest, "other"),
        response("unlike", 5, "WARC-Payload-Digest: sha256:x\r\n", same),
        response("cut", 6, "WARC-Truncated: length\r\n", same),
        response("empty", 6, "", ""),
        response("void", 6, "", ""),
        // A revisit of the crawler refers to one of these, so both stay.
        response("one", 7, known, "known"),
        response("two", 7, known, "known"),
        format!("WARC/1.0\r\nWARC-Type: revisit\r\n{known}Content-Length: 0\r\n\r\n\r\n\r\n"),
        record("request", "first", "GET / HTTP/1.1\r\n\r\n"),
    ];
    let again = response("again", 8, "", same);
    let said_again = response("again-said", 9, digest, "abc");
    bench.write("crawl/1.warc", format!("{first}{}", unchanged.concat()));
    bench.write("crawl/2.warc", format!("{again}{said_again}"));
    let summary = bench.done("filter --input crawl --revisits --output small.warc").summary();
    let counts = &summary["counts"];
    assert_eq!((counts["copied"].as_u64(), counts["revisits"].as_u64()), (Some(14), Some(2)));
    let small = bench.read("small.warc");
    let kept = format!("{first}{}", unchanged.concat());
    let revisits = small.strip_prefix(&kept).expect("all else stays");
    let http = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-Name: again\r\n\r\n";
    let expected = "WARC/1.0\r\nWARC-Type: revisit\r\n\
         WARC-Profile: http://netpreserve.org/warc/1.0/revisit/identical-payload-digest\r\n\
         WARC-Refers-To: <urn:first>\r\nWARC-Refers-To-Target-URI: http://first/\r\n\
         WARC-Refers-To-Date: 2026-11-18T00:00:01Z\r\nWARC-Payload-Digest: sha1:";
    assert!(revisits.starts_with(expected), "{revisits}");
    assert!(
        revisits.contains(&format!("Content-Length: {}\r\n\r\n{http}\r\n\r\nWARC", http.len()))
    );
    assert!(revisits.contains("WARC-Refers-To: <urn:said>\r\n") && revisits.contains(digest));
    assert!(!revisits.contains(same) && !revisits.contains("abc"), "{revisits}");
    bench.done("filter --input small.warc --revisits --output once-more.warc.zst");
    bench.done("filter --input once-more.warc.zst --revisits --output plain.warc");
    assert_eq!(bench.read("plain.warc"), small);

    bench.write("pages.jsonl", PAGES);
    let said = bench.fails(2, "filter --input pages.jsonl --revisits --output x.jsonl");
    assert!(said.contains("revisit records are made of WARC files"), "{said}");
    let arc = "filedesc://a.arc 0.0.0.0 20050101000000 text/plain 12\n1 0 someone\n\n";
    bench.write("a.arc", arc);
    let said = bench.fails(2, "filter --input a.arc --revisits --output x.arc");
    assert!(said.contains("ARC has no revisit records"), "{said}");
}
