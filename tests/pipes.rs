//! One corpus in a pipe: what is kept goes to standard output, and nothing else.

use std::io::{Read, Write};
use std::process::{Output, Stdio};
use std::thread;

use crate::support::Bench;
use crate::world::{gzip, record};

fn line(id: &str, seed: usize) -> String {
    let words: String = (0..80).map(|at| format!("w{:x} ", (at + 11) * seed * 7919)).collect();
    format!("{{\"id\": \"{id}\", \"text\": \"{words}\", \"more\": [1]}}\n")
}

/// Runs the program with these bytes in a pipe as its standard input. What it makes in the temporary folder must be gone, but for
/// the list of records that it names.
fn piped(bench: &Bench, bytes: Vec<u8>, arguments: &str) -> Output {
    let mut command = bench.command(arguments);
    std::fs::create_dir_all(bench.path("tmp")).unwrap();
    command.env("TMPDIR", bench.path("tmp"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A program that refuses its command line reads nothing.
    let writer = thread::spawn(move || drop(stdin.write_all(&bytes)));
    let ended = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let names_a_list = said(&ended).contains(bench.path("tmp").to_str().unwrap());
    assert_eq!(bench.names("tmp").len(), usize::from(names_a_list), "{}", said(&ended));
    for folder in bench.names("tmp") {
        let list = format!("{folder}/found/batch.seg.quarantine.tsv");
        assert_eq!(bench.names(&format!("tmp/{folder}/found")), ["batch.seg.quarantine.tsv"]);
        assert!(said(&ended).contains(&list), "{}", said(&ended));
        std::fs::remove_dir_all(bench.path("tmp").join(folder)).unwrap();
    }
    ended
}

fn said(ended: &Output) -> String {
    String::from_utf8_lossy(&ended.stderr).into_owned()
}

#[test]
fn the_kept_records_of_a_pipe_are_printed_as_they_came() {
    let bench = Bench::new();
    let pages = [line("a", 1), line("b", 2), line("copy", 1), line("c", 3)].concat();
    let kept = [line("a", 1), line("b", 2), line("c", 3)].concat();
    let packed =
        [pages.clone().into_bytes(), gzip(&pages), zstd::encode_all(pages.as_bytes(), 1).unwrap()];
    for bytes in packed {
        let ended = piped(&bench, bytes, "dedup --input - --kept -");
        assert_eq!(ended.status.code(), Some(0), "{}", said(&ended));
        assert_eq!(String::from_utf8_lossy(&ended.stdout), kept);
        assert!(said(&ended).contains("4 documents: 3 kept, 1 duplicate"), "{}", said(&ended));
        assert!(!said(&ended).contains("tmp"), "{}", said(&ended));
    }
    assert_eq!(bench.names(""), ["tmp"]);
    let ended = piped(&bench, Vec::new(), "dedup --input - --kept -");
    assert_eq!((ended.status.code(), ended.stdout.len()), (Some(0), 0), "{}", said(&ended));
}

#[test]
fn a_pipe_has_the_results_of_a_file() {
    let bench = Bench::new();
    // Ids start again, so the records are read once more, with their places as ids.
    let pages = [line("0", 1), line("1", 2), line("0", 3), line("1", 1)].concat();
    bench.write("pages/-", &pages);
    let ended =
        piped(&bench, pages.into_bytes(), "dedup --input - --kept - --output found --workers 2");
    assert_eq!(ended.status.code(), Some(0), "{}", said(&ended));
    bench.done("dedup --input pages --kept kept --output file");
    assert_eq!(String::from_utf8_lossy(&ended.stdout), bench.read("kept/-"));
    for name in ["batch.seg", "dedup/verdicts.tsv", "dedup/keep.txt"] {
        assert_eq!(bench.bytes(&format!("found/{name}")), bench.bytes(&format!("file/{name}")));
    }
    assert_eq!(bench.read("found/dedup/keep.txt").lines().last(), Some("-:3"));
    bench.done("verify found/dedup");
    let report = bench.report("found/dedup");
    assert_eq!(report["run"]["inputs"]["pages"]["inputs"], serde_json::json!(["-"]));
}

#[test]
fn web_archives_are_known_by_their_first_bytes_and_other_formats_are_named() {
    let bench = Bench::new();
    let record = |url: &str, seed| record("conversion", url, &line(url, seed));
    let archive = [record("http://a/", 1), record("http://b/", 2), record("http://c/", 1)];
    let packed = archive.iter().flat_map(gzip).collect();
    let ended = piped(&bench, packed, "dedup --input - --kept -");
    let kept = String::from_utf8_lossy(&ended.stdout);
    assert_eq!(kept, [&*archive[0], &archive[1]].concat(), "{}", said(&ended));
    // What is no JSON is not one page of text.
    let text = b"id\ttext\na\tone two three\nb\tone two three\n".to_vec();
    let ended = piped(&bench, text.clone(), "dedup --input - --kept -");
    assert_eq!((ended.status.code(), ended.stdout.len()), (Some(65), 0), "{}", said(&ended));
    let ended = piped(&bench, text, "dedup --input - --format tsv --kept -");
    assert_eq!(String::from_utf8_lossy(&ended.stdout), "id\ttext\na\tone two three\n");
}

#[test]
fn files_are_printed_too_and_what_cannot_be_is_said_before_any_work() {
    let bench = Bench::new();
    bench.write("a.jsonl", line("a", 1));
    bench.write("b.jsonl.gz", gzip([line("b", 1), line("c", 2)].concat()));
    bench.write("c.tsv", "id\ttext\na\tone\n");
    let ended = bench.run("dedup --input a.jsonl b.jsonl.gz --kept -");
    assert_eq!((ended.code, &*ended.stdout), (0, &*[line("a", 1), line("c", 2)].concat()));
    for (line, code, says) in [
        ("dedup --input a.jsonl c.tsv --kept -", 2, "two formats"),
        ("dedup --input - --kept kept --output found", 2, "--kept -"),
        ("dedup --input a.jsonl --kept - --processes 2", 2, "one process"),
        ("dedup --input - --kept - --output found --processes 2", 2, "one process"),
        ("dedup --input a.jsonl", 2, "--output"),
    ] {
        let ended = piped(&bench, line_of_nothing(), line);
        assert_eq!(ended.status.code(), Some(code), "{line}: {}", said(&ended));
        assert!(said(&ended).contains(says), "{line}: {}", said(&ended));
    }
    let ended = piped(&bench, line_of_nothing(), "dedup --input - --kept - --dry-run");
    assert_eq!((ended.status.code(), ended.stdout.len()), (Some(0), 0), "{}", said(&ended));
    assert_eq!(bench.names(""), ["a.jsonl", "b.jsonl.gz", "c.tsv", "tmp"]);
}

fn line_of_nothing() -> Vec<u8> {
    line("x", 9).into_bytes()
}

#[test]
fn a_reader_that_has_gone_ends_the_job_without_a_word() {
    let bench = Bench::new();
    let pages: String = (1..400).map(|seed| line(&seed.to_string(), seed)).collect();
    bench.write("pages.jsonl", &pages);
    bench.write("ids.txt", (1..400).map(|id| format!("{id}\n")).collect::<String>());
    for job in [
        "dedup --input pages.jsonl --kept - --quiet",
        "filter --input pages.jsonl --ids ids.txt --output - --quiet",
    ] {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let child = bench.command(job).stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
        // The first page is there, and then nobody reads any more.
        let mut first = [0; 16];
        reader.read_exact(&mut first).unwrap();
        drop(reader);
        let ended = child.wait_with_output().unwrap();
        assert_eq!(said(&ended), "", "{job}");
        assert!(pages.as_bytes().starts_with(&first));
    }
}
