//! One corpus in a pipe: what is kept goes to standard output, and nothing else.

use std::io::{Read, Write};
use std::process::Stdio;

use crate::support::{Bench, Running};

fn line(id: &str, seed: usize) -> String {
    let words: String = (0..80).map(|at| format!("w{:x} ", (at + 11) * seed * 7919)).collect();
    format!("{{\"id\": \"{id}\", \"text\": \"{words}\", \"more\": [1]}}\n")
}

/// Nothing is left in the folder for temporary files, but for a list of records that is named.
#[test]
fn a_pipe_leaves_no_temporary_file() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("tmp")).unwrap();
    for (more, code) in [("", 0), ("no record\n", 65)] {
        let mut command = bench.command("dedup --input - --kept -");
        command.env("TMPDIR", bench.path("tmp"));
        let kept = [line("a", 1), line("b", 2)].concat();
        let (reader, mut writer) = std::io::pipe().unwrap();
        writer.write_all([&*kept, &line("copy", 1), more].concat().as_bytes()).unwrap();
        drop(writer);
        let ended = Running::fed(command, reader.into()).end();
        let printed = if code == 0 { &*kept } else { "" };
        assert_eq!((ended.code, &*ended.stdout), (code, printed), "{}", ended.stderr);
        let left = bench.names("tmp");
        assert_eq!(left.len(), usize::from(code == 65), "{left:?}");
        for folder in left {
            let list = "batch.seg.quarantine.tsv";
            assert_eq!(bench.names(&format!("tmp/{folder}/found")), [list]);
            let named = format!("{folder}/found/{list}");
            assert!(ended.stderr.contains(&named), "{named}: {ended:?}");
        }
    }
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
        assert_eq!(String::from_utf8_lossy(&ended.stderr), "", "{job}");
        assert!(pages.as_bytes().starts_with(&first));
    }
}
