//! What is finished is not done again: a join that was killed goes on with the chunks that are
//! missing, in whatever topology, and writes the same.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

use rand::prelude::*;
use rand_chacha::ChaCha8Rng;
use rustix::process::Signal;

use crate::support::{Bench, Running, command, free_address, outlast, wait_until};

const DEDUP: &str = "dedup --batch batch.seg --store store --distance 4 --output out";

/// A batch and a store that take long enough to be killed over.
fn large() -> Bench {
    let bench = Bench::new();
    bench.done("generate segment --count 2000000 --output old.seg");
    bench.done(
        "generate segment --count 60000 --seed 2 --near old.seg --planted 5000 --output batch.seg",
    );
    bench.done("store init store");
    bench.done("store add store --segment old.seg --day 2026-01-01");
    bench
}

/// The ledgers of the join.
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
fn every_chunk_that_is_finished_is_resumed_and_no_other() {
    let (bench, expected, _) = begun();
    let noted = finished(&bench).len() as u64;
    completed(&bench, "--workers 1");
    assert_eq!((resumed(&bench)[0], bench.files("out")), (noted, expected));
}

#[test]
fn a_damaged_ledger_costs_chunks_and_never_pairs() {
    let (bench, expected, _) = begun();
    let sound: Vec<_> = ledgers(&bench)
        .into_iter()
        .map(|path| (fs::read(&path).unwrap(), path))
        .filter(|(bytes, _)| !bytes.is_empty())
        .collect();
    let noted = finished(&bench).len() as u64;
    let mut random = ChaCha8Rng::seed_from_u64(7);
    for round in 0..6 {
        let _ = fs::remove_dir_all(bench.path("out"));
        for (bytes, path) in &sound {
            let (mut bytes, at) = (bytes.clone(), random.random_range(0..bytes.len()));
            match round % 2 {
                0 => bytes[at] ^= 1 << random.random_range(0..8),
                _ => bytes.truncate(at),
            }
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        let ended = bench.done(DEDUP);
        assert_eq!(bench.files("out"), expected);
        assert!(resumed(&bench)[0] < noted);
        assert_eq!(ended.stderr.contains("damaged"), round % 2 == 0, "{}", ended.stderr);
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
    bench.secret("secret", "known to the two of us");
    loop {
        bench.write("hosts.txt", [(), ()].map(|()| free_address()).join("\n"));
        let [leader, frozen] = [0, 1].map(|process| {
            bench.start(&format!(
                "{DEDUP} --workers 1 --hosts hosts.txt --process {process} --secret-file secret --peer-timeout 2"
            ))
        });
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

/// A join that was stopped when some chunks were finished; one that was through first is done again.
fn stopped_midway(bench: &Bench) -> Running {
    loop {
        let running = bench.start(DEDUP);
        wait_until("chunks are noted", || noted(bench) > 0 || !running.is_running());
        running.signal(Signal::STOP);
        if running.is_running() && noted(bench) > 0 {
            return running;
        }
        running.kill();
        fs::remove_dir_all(bench.path("out")).unwrap();
    }
}

#[test]
fn a_frozen_run_that_was_superseded_does_not_commit() {
    let bench = large();
    let frozen = stopped_midway(&bench);
    let said = bench.fails(75, DEDUP);
    assert!(said.contains(&format!("process {} on ", frozen.id())), "{said}");
    // As on another host, where the system's lock does not reach.
    fs::remove_file(bench.path(".out.lock")).unwrap();
    bench.done(DEDUP);
    let (files, times) = (bench.files("out"), bench.times("out"));
    frozen.signal(Signal::CONT);
    let ended = frozen.end();
    assert_eq!(ended.code, 75, "{ended:?}");
    assert!(ended.stderr.contains("taken over"), "{ended:?}");
    assert_eq!((bench.files("out"), bench.times("out")), (files, times));
}

#[test]
fn what_a_run_left_that_died_after_its_rename_is_cleaned_away() {
    let bench = large();
    bench.done(DEDUP);
    bench.write(".out.resume/some.ledger", "");
    bench.write(".out.tmp-abcdef/matches.tsv", "");
    bench.write(".out.tmp-abcdef/_SUCCESS", "");
    assert_eq!(bench.done(DEDUP).summary()["already_done"], true);
    assert!(!bench.path(".out.resume").exists() && !bench.path(".out.tmp-abcdef").exists());
}

/// How many of so many files the job says were done already.
fn files_done(files: usize, stderr: &str) -> usize {
    let said = format!(" of {files} files were done already");
    let told = stderr.lines().find_map(|line| line.split_once(&said));
    let number = told.and_then(|(before, _)| before.split_whitespace().next_back());
    number.map_or(0, |number| number.parse().unwrap())
}

/// The last file ends the job while others are done, and is then mended.
#[test]
fn files_that_are_done_are_not_read_again() {
    let bench = Bench::new();
    for file in 0..8 {
        let name = format!("pages/{file}.jsonl");
        bench.write(&name, bench.documents(100 * file, 100 * (file + 1)));
    }
    bench.write("pages/8.tsv", "id\tbody\na\tone two three four\n");
    // Until then, a file might change and not show it.
    outlast(Duration::from_secs(4));
    let line = "fingerprint --input pages --output";
    let failed = bench.run(&format!("{line} day.seg --workers 1"));
    assert!(failed.stderr.contains("8.tsv"), "{failed:?}");
    bench.write("pages/8.tsv", "id\ttext\na\tone two three four\n");
    // Another file has changed since.
    bench.write("pages/0.jsonl", bench.documents(0, 101));
    let resumed = bench.done(&format!("{line} day.seg --workers 1 --processes 2"));
    let whole = bench.done(&format!("{line} whole.seg"));
    // Of what was read, two portions at most waited for the worker, and one was in its hands.
    let done = files_done(9, &resumed.stderr);
    assert!((3..8).contains(&done), "{resumed:?}");
    assert_eq!(files_done(9, &whole.stderr), 0);
    assert!(bench.bytes("day.seg") == bench.bytes("whole.seg"));
    assert_eq!(resumed.count("read"), 802);
    assert!(!bench.path(".day.seg.resume").exists());
}

/// Files that are one page come many in a portion; those of a portion are done together.
#[test]
fn files_that_are_one_page_are_not_read_again() {
    let bench = Bench::new();
    let page = |file: usize, words: usize| {
        (0..words).map(|at| format!("w{} ", at * 7919 + file)).collect::<String>()
    };
    for file in 0..8 {
        // A portion has about a MiB.
        bench.write(&format!("pages/{file}.txt"), page(file, 50_000));
    }
    bench.write("pages/a.txt", page(8, 10));
    bench.write("pages/b.txt", page(9, 10));
    bench.write("pages/c.html", format!("<html>{}", page(10, 10)));
    bench.write("pages/z.tsv", "id\tbody\na\tone two three four\n");
    outlast(Duration::from_secs(4));
    let line = "fingerprint --input pages --output";
    let failed = bench.run(&format!("{line} day.seg --workers 1"));
    assert!(failed.stderr.contains("z.tsv"), "{failed:?}");
    bench.write("pages/z.tsv", "id\ttext\na\tone two three four\n");
    bench.write("pages/0.txt", page(0, 49_000));
    let resumed = bench.done(&format!("{line} day.seg --workers 1 --processes 2"));
    let whole = bench.done(&format!("{line} whole.seg"));
    let done = files_done(12, &resumed.stderr);
    assert!((2..12).contains(&done), "{resumed:?}");
    assert!(bench.bytes("day.seg") == bench.bytes("whole.seg"));
    assert_eq!(resumed.count("read"), 12);
    assert_eq!(resumed.summary()["counts"], whole.summary()["counts"]);
}
