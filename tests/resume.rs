//! What is finished is not done again: a join that was killed goes on with the chunks that are
//! missing, in whatever topology, and writes the same.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

use rustix::process::Signal;

use crate::support::{Bench, Running, command, outlast, wait_until};

const DEDUP: &str = "dedup --batch batch.seg --store store --distance 4 --output out";

/// A batch and a store that take long enough to be killed over.
fn large() -> Bench {
    let bench = Bench::new();
    bench.done("generate segment --count 2000000 --output old.seg");
    bench.done(
        "generate segment --count 60000 --seed 2 --near old.seg --planted 5000 --output batch.seg",
    );
    bench.store(&[("2026-01-01", "old")]);
    bench
}

fn ledgers(bench: &Bench) -> Vec<PathBuf> {
    let Ok(files) = fs::read_dir(bench.path(".out.resume")) else { return Vec::new() };
    let mut paths: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    paths.sort();
    paths
}

/// How many bytes the ledgers hold.
fn noted(bench: &Bench) -> u64 {
    ledgers(bench).iter().map(|path| path.metadata().unwrap().len()).sum()
}

/// The chunks whose receipts stand in the ledgers, by the frames that FORMAT.md tells of.
fn finished(bench: &Bench) -> BTreeSet<u64> {
    let mut finished = BTreeSet::new();
    for path in ledgers(bench) {
        let bytes = fs::read(path).unwrap();
        let mut rest = bytes.get(52..).unwrap_or_default();
        while let Some((head, after)) = rest.split_at_checked(24) {
            let length = u32::from_le_bytes(head[..4].try_into().unwrap()) as usize;
            let Some((body, after)) = after.split_at_checked(length) else { break };
            if head[4] == 2 {
                finished.insert(u64::from_le_bytes(body[..8].try_into().unwrap()));
            }
            rest = after;
        }
    }
    finished
}

/// Kills a join once it has noted more than `bytes`; says whether it was in time.
fn killed(bench: &Bench, flags: &str, bytes: u64) -> bool {
    let running = bench.start(&format!("{DEDUP} {flags}"));
    wait_until("chunks are noted", || noted(bench) > bytes || !running.is_running());
    running.kill()
}

/// Runs the join to its end, however long the processes of a killed supervisor hold the lock yet.
fn completed(bench: &Bench, flags: &str) {
    wait_until("the join is completed", || {
        let ended = bench.run(&format!("{DEDUP} {flags}"));
        assert!([0, 75].contains(&ended.code), "{ended:?}");
        ended.code == 0
    });
}

/// The chunks that were taken from ledgers, and all.
fn resumed(bench: &Bench) -> [u64; 2] {
    let report = bench.report("out");
    let chunks = [&report["run"]["chunks_resumed"], &report["probe"]["chunks_planned"]];
    chunks.map(|count| count.as_u64().unwrap())
}

/// A join that was killed midway, its output when it is not, and how many chunks there are.
fn begun() -> (Bench, BTreeMap<String, Vec<u8>>, u64) {
    let bench = large();
    bench.done(DEDUP);
    let (expected, [resumed, planned]) = (bench.files("out"), resumed(&bench));
    assert_eq!(resumed, 0);
    assert!(!bench.path(".out.resume").exists(), "nothing is left");
    kill_midway(&bench, "--workers 2");
    (bench, expected, planned)
}

/// Kills the join when some chunks more are finished.
fn kill_midway(bench: &Bench, flags: &str) {
    let _ = fs::remove_dir_all(bench.path("out"));
    let before = noted(bench);
    while !killed(bench, flags, before + 3_000) {
        fs::remove_dir_all(bench.path("out")).unwrap();
    }
    assert!(!bench.path("out").exists());
}

#[test]
fn a_killed_join_goes_on_with_what_is_missing_in_any_topology() {
    let (bench, expected, planned) = begun();
    for (first, second, last) in [
        ("--workers 1", "--workers 2", "--workers 2 --design blocks:6,choose:2"),
        ("--workers 2", "--workers 1 --memory 64MiB", "--workers 1 --processes 3"),
        ("--workers 1 --processes 2", "--workers 1 --processes 2", "--workers 1"),
    ] {
        kill_midway(&bench, first);
        kill_midway(&bench, second);
        // The children of a supervisor notice that it is gone, and may finish a chunk until then.
        let least = finished(&bench).len() as u64;
        completed(&bench, last);
        let [resumed, all] = resumed(&bench);
        // On a busy machine the last chunk may be finished before the kill comes.
        assert!(0 < least && least <= resumed && resumed <= all, "{least}, {resumed} of {all}");
        assert_eq!((bench.files("out"), all), (expected.clone(), planned));
        assert!(!bench.path(".out.resume").exists(), "nothing is left");
    }
}

#[test]
fn what_was_finished_for_other_inputs_is_cleaned_away() {
    let (bench, _, _) = begun();
    bench.done(&DEDUP.replace("--distance 4", "--distance 3"));
    assert_eq!(resumed(&bench)[0], 0);
    assert!(!bench.path(".out.resume").exists(), "nothing is left");
    // What decides no pair decides no chunk.
    kill_midway(&bench, "");
    assert!(!finished(&bench).is_empty());
    completed(&bench, "--matches best --keep first-id");
    assert!(resumed(&bench)[0] > 0);
}

/// A mended program does not take up what the old one found.
#[test]
fn chunks_of_another_build_are_probed_again() {
    let (bench, expected, _) = begun();
    assert!(!finished(&bench).is_empty());
    // The executable with a byte behind its end: another build that does the same.
    let mut program = fs::read(env!("CARGO_BIN_EXE_dupsieve")).unwrap();
    program.push(0);
    bench.write("mended", program);
    fs::set_permissions(bench.path("mended"), fs::Permissions::from_mode(0o755)).unwrap();
    let mut mended = command(bench.path("mended"));
    mended.current_dir(bench.path("")).args(DEDUP.split_whitespace());
    let ended = Running::start(mended).end();
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stderr.contains("another build"), "{ended:?}");
    assert_eq!((resumed(&bench)[0], bench.files("out")), (0, expected));
}

/// A join of two processes of a hosts file, of which the second is frozen when some chunks are finished. A join that was through first is
/// done again.
fn frozen_midway(bench: &Bench) {
    loop {
        bench.two_hosts();
        let line = format!("{DEDUP} --workers 1 --peer-timeout 2");
        let [leader, frozen] = [0, 1].map(|process| bench.start_process(process, &line));
        wait_until("chunks are noted", || noted(bench) > 3_000 || !leader.is_running());
        frozen.signal(Signal::STOP);
        let ended = leader.end();
        frozen.kill();
        match ended.code {
            0 => fs::remove_dir_all(bench.path("out")).unwrap(),
            _ => {
                assert_eq!(ended.code, 75, "{ended:?}");
                assert!(ended.stderr.contains("process 1 at "), "{ended:?}");
                return;
            }
        }
    }
}

#[test]
fn what_a_frozen_process_has_claimed_is_done_by_the_others() {
    let bench = large();
    bench.done(DEDUP);
    let expected = bench.files("out");
    fs::remove_dir_all(bench.path("out")).unwrap();
    frozen_midway(&bench);
    let least = finished(&bench).len() as u64;
    completed(&bench, "--workers 1");
    let [resumed, all] = resumed(&bench);
    assert!(0 < least && least <= resumed && resumed <= all, "{least}, {resumed} of {all}");
    assert_eq!(bench.files("out"), expected);
}

/// How many of so many files the job says were done already.
fn files_done(files: usize, stderr: &str) -> usize {
    let said = format!(" of {files} files were done already");
    let told = stderr.lines().find_map(|line| line.split_once(&said));
    let number = told.and_then(|(before, _)| before.split_whitespace().next_back());
    number.map_or(0, |number| number.parse().unwrap())
}

/// The last file ends the job while others are done, and is then mended. Files that are one page come many in a portion; those of a portion are
/// done together.
#[test]
fn files_that_are_done_are_not_read_again() {
    for (extension, read) in [("jsonl", 902), ("txt", 12)] {
        let bench = Bench::new();
        // Of pages that are files, a portion has about a MiB.
        let page = |file: usize, many: usize| match extension {
            "jsonl" => bench.documents(100 * file, 100 * file + many / 500),
            _ => (0..many).map(|at| format!("w{} ", at * 7919 + file)).collect(),
        };
        for file in 0..9 {
            bench.write(&format!("pages/{file}.{extension}"), page(file, 50_000));
        }
        if extension == "txt" {
            bench.write("pages/b.txt", page(9, 10));
            bench.write("pages/c.html", format!("<html>{}", page(10, 10)));
        }
        bench.write("pages/z.tsv", "id\tbody\na\tone two three four\n");
        // Until then, a file might change and not show it.
        outlast(Duration::from_secs(4));
        let line = "fingerprint --input pages --output";
        let failed = bench.run(&format!("{line} day.seg --workers 1"));
        assert!(failed.stderr.contains("z.tsv"), "{failed:?}");
        bench.write("pages/z.tsv", "id\ttext\na\tone two three four\n");
        // Another file has changed since.
        bench.write(&format!("pages/0.{extension}"), page(0, 50_500));
        let resumed = bench.done(&format!("{line} day.seg --workers 1 --processes 2"));
        let whole = bench.done(&format!("{line} whole.seg"));
        // Of what was read, two portions at most waited for the worker, and one was in its hands.
        let files = bench.names("pages").len();
        let done = files_done(files, &resumed.stderr);
        assert!((2..files).contains(&done), "{resumed:?}");
        assert_eq!(files_done(files, &whole.stderr), 0);
        assert!(bench.bytes("day.seg") == bench.bytes("whole.seg"));
        assert_eq!((resumed.count("read"), whole.count("read")), (read, read));
        assert!(!bench.path(".day.seg.resume").exists());
    }
}
