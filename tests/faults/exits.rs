//! Unplanned ends: a run that another one has superseded, any signal, an stderr that cannot be written, and
//! limits on memory, threads, files and the size of a file.

use std::fs::{self, File};
use std::os::unix::fs::symlink;

use rustix::process::{Signal, kill_process};

use super::{as_somebody, assert_failed, at_work, fault, fault_of, long_job, pipe, small};
use crate::support::{Bench, Running, children, wait_until};

/// What another process writes into a lock that it takes over.
const OTHER: &str = "{\"token\":9,\"host\":\"elsewhere\",\"process\":1,\"since\":0,\"nonce\":1}\n";

#[test]
fn a_superseded_run_is_75() {
    let bench = Bench::new();
    let job = long_job(&bench);
    for flags in ["--workers 2", "--workers 2 --memory 16MiB", "--workers 1 --processes 2"] {
        let line = format!("{job} {flags} --restarts 0");
        let running = at_work(&bench, "out", || bench.start(&line));
        let processes = children(running.id());
        running.signal(Signal::STOP);
        processes.iter().for_each(|&child| kill_process(child, Signal::STOP).unwrap());
        bench.write(".out.lock", OTHER);
        for name in bench.names("") {
            if name.starts_with(".out.tmp-") || name == ".out.resume" {
                fs::remove_dir_all(bench.path(&name)).unwrap();
            }
        }
        processes.iter().for_each(|&child| kill_process(child, Signal::CONT).unwrap());
        running.signal(Signal::CONT);
        let ended = running.end();
        assert_failed(&ended, 75);
        assert!(ended.stderr.contains("taken over"), "{flags}: {ended:?}");
        assert!(!bench.path("out").exists());
        assert!(
            !bench.path("out.failed.json").exists(),
            "the report would belong to the other run"
        );
        let _ = fs::remove_dir_all(bench.path(".out.resume"));
    }
}

#[test]
fn a_signal_is_75_while_the_configuration_is_read() {
    let bench = small();
    pipe(&bench.path("days.toml"));
    let held = File::options().read(true).write(true).open(bench.path("days.toml")).unwrap();
    for line in ["run days.toml", "dedup --batch batch.seg --output out --config days.toml"] {
        let running = bench.start(line);
        wait_until("the program listens for signals", || running.listens());
        running.signal(Signal::TERM);
        let ended = running.end();
        assert_failed(&ended, 75);
        assert!(ended.stderr.contains("SIGTERM"), "{ended:?}");
    }
    drop(held);
}

#[test]
fn a_job_under_nohup_continues_when_the_terminal_closes() {
    let bench = Bench::new();
    let job = long_job(&bench);
    let running = at_work(&bench, "out", || bench.start_after("trap '' HUP", job));
    running.signal(Signal::HUP);
    assert_eq!(running.end().code, 0);
}

/// The memory that the program takes itself, by its segments that are loaded: builds without optimisation are far larger.
fn program_kilobytes() -> u64 {
    let program = fs::read(env!("CARGO_BIN_EXE_dupsieve")).unwrap();
    let word = |at: usize| u64::from_le_bytes(program[at..at + 8].try_into().unwrap());
    let half = |at: usize| usize::from(u16::from_le_bytes([program[at], program[at + 1]]));
    let (first, size, count) = (word(32) as usize, half(54), half(56));
    let is_loaded = |at: &usize| program[*at..at + 4] == [1, 0, 0, 0];
    let headers = (0..count).map(|header| first + header * size).filter(is_loaded);
    headers.map(|at| word(at + 40)).sum::<u64>() / 1024
}

#[test]
fn out_of_memory_is_75() {
    let bench = Bench::new();
    let job = format!("{} --design conditioned", long_job(&bench));
    let own = program_kilobytes();
    for kilobytes in [20_000, 30_000, 50_000].map(|more| own + more) {
        for flags in ["--workers 2", "--workers 1 --processes 2 --restarts 0"] {
            let limit = format!("ulimit -v {kilobytes}");
            let ended = bench.start_after(&limit, &format!("{job} {flags}")).end();
            assert_eq!(ended.code, 75, "{limit} {flags}: {ended:?}");
            assert_eq!(ended.summary()["code"], 75, "{ended:?}");
            assert!(!bench.path("out").exists());
        }
    }
}

/// The stacks of new threads are as small as the system allows. A thread that waits with its stack overflown keeps a lock of
/// the standard library, for which an ordinary exit waits.
#[test]
fn an_overflow_of_a_stack_is_70() {
    let bench = Bench::new();
    let job = long_job(&bench);
    for flags in ["--workers 2", "--workers 1 --processes 2 --restarts 0"] {
        let ended =
            bench.start_after("export RUST_MIN_STACK=16384", &format!("{job} {flags}")).end();
        assert_failed(&ended, 70);
        assert_eq!(ended.summary()["code"], 70, "{ended:?}");
        assert!(ended.stderr.contains("the stack of a thread overflowed"), "{flags}: {ended:?}");
        assert!(!ended.stderr.contains("memory ran out"), "{flags}: {ended:?}");
        assert!(!bench.path("out").exists());
    }
}

/// Where memory is too short to load the program, the system says so or kills it. It also kills it, in a step or two, where
/// the stack of the first thread finds no memory to grow.
#[test]
fn the_program_ends_however_little_memory_it_starts_with() {
    let bench = Bench::new();
    let own = program_kilobytes();
    let codes: Vec<_> = (0..120)
        .map(|step| {
            bench.start_after(&format!("ulimit -v {}", own + 200 * step), "--version").end().code
        })
        .collect();
    let told = codes.iter().position(|&code| code == 75).expect("it starts and says why it ends");
    let (unloaded, started) = codes.split_at(told);
    assert!(unloaded.iter().all(|code| [126, 127, -1].contains(code)), "{codes:?}");
    assert!(started.iter().all(|code| [75, 0, -1].contains(code)), "{codes:?}");
    assert!(started.iter().filter(|&&code| code == -1).count() <= 5, "{codes:?}");
    assert_eq!(codes.last(), Some(&0), "it starts with 24 MB more");
}

#[test]
fn limits_on_files_are_77_and_named() {
    let bench = Bench::new();
    let job = long_job(&bench);
    let generate = "generate segment --count 1e6 --output large.seg";
    for (limit, line, advice) in [
        ("ulimit -n 6", job, "ulimit -n"),
        ("ulimit -n 9", job, "ulimit -n"),
        ("ulimit -n 20", job, "ulimit -Hn"),
        ("ulimit -n 12", &format!("{job} --processes 2"), "ulimit -n"),
        ("ulimit -f 100", generate, "ulimit -f"),
    ] {
        let ended = bench.start_after(limit, line).end();
        assert_failed(&ended, 77);
        assert!(ended.stderr.contains(advice), "{limit}: {ended:?}");
    }
    assert!(!bench.path("out").exists() && !bench.path("large.seg").exists());
}

#[test]
fn out_of_threads_is_75() {
    let bench = Bench::for_all_users();
    let job = long_job(&bench);
    for threads in [1, 2, 3, 4, 6] {
        // The limit does not apply to root, and counts all processes of another user.
        let limit = format!("--nproc={threads}");
        let ended = Running::start(as_somebody(&bench, &["prlimit", &limit], job)).end();
        assert_failed(&ended, 75);
        assert!(ended.stderr.contains("ulimit -u"), "{threads}: {ended:?}");
    }
}

#[test]
fn impossible_paths_are_2_and_not_retryable() {
    let bench = small();
    symlink("circle", bench.path("circle")).unwrap();
    let long = "n".repeat(300);
    let job = "dedup --batch batch.seg --output";
    for (line, advice) in [
        (format!("{job} {long}"), "too long"),
        (format!("{job} {}", "n".repeat(254)), "too long"),
        (format!("{job} circle/out"), "circle"),
        (format!("{job} batch.seg/out"), "in one place"),
        (format!("{job} pages.jsonl/out"), "something else"),
        (format!("dedup --batch {long} --output out"), "too long"),
        ("dedup --batch circle --output out".into(), "circle"),
        ("dedup --batch batch.seg/b.seg --output out".into(), "not a folder"),
        (format!("fingerprint --input pages.jsonl --output {long}.seg"), "too long"),
        ("fingerprint --input pages.jsonl/b.jsonl --output out.seg".into(), "not a folder"),
        ("fingerprint --input circle --output out.seg".into(), "circle"),
        ("store add circle --segment batch.seg --day 2026-01-02".into(), "circle"),
        ("run circle".into(), "circle"),
        ("run pages.jsonl/days.toml".into(), "not a folder"),
    ] {
        let said = fault(&bench, 2, &line);
        assert!(said.contains(advice), "{line}: {said}");
    }
}

#[test]
fn a_configuration_that_is_not_text_is_78() {
    let bench = small();
    bench.write("odd.toml", b"store = \"\xff\"\n");
    bench.write("odd.hosts", b"h\xff:1\n");
    fault(&bench, 78, "run odd.toml");
    fault(&bench, 78, "dedup --batch batch.seg --output out --config odd.toml");
    fault_of(&bench, 78, "a.seg", "fingerprint --input pages.jsonl --recipe odd.toml");
    fault(&bench, 78, "dedup --batch batch.seg --output out --hosts odd.hosts --process 0");
    bench.write("hosts.txt", "localhost:1\n");
    bench.secret("long", &"s".repeat(4097));
    let line = "dedup --batch batch.seg --output out --hosts hosts.txt --process 0";
    let said = fault(&bench, 78, &format!("{line} --secret-file long"));
    assert!(said.contains("too long"), "{said}");
}
