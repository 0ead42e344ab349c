//! SIGTERM and Ctrl-C: the job ends with 75, in every phase.

use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use rustix::process::Signal;

use super::{assert_failed, assert_reported, at_work, is_there, long_job, two_hosts};
use crate::support::{Bench, Running, children, wait_until};

#[test]
fn interrupted_is_75() {
    let bench = Bench::new();
    let job = long_job(&bench);
    for signal in [Signal::TERM, Signal::INT] {
        for flags in ["--workers 2", "--workers 1 --processes 2"] {
            let running = at_work(&bench, "out", || bench.start(&format!("{job} {flags}")));
            running.signal(signal);
            let ended = running.end();
            assert_failed(&ended, 75);
            assert!(ended.stderr.contains("interrupted by SIG"), "{ended:?}");
            assert_reported(&bench, 75, "out");
            assert!(!bench.path(".out.lock").exists(), "{flags}: a lock is left");
        }
    }
}

/// Interrupts a job that listens for signals and has taken so much processor time. It must end with 75 unless it
/// had ended before.
fn interrupt(running: Running, after: Duration) -> bool {
    wait_until("the job listens", || running.listens() || !running.is_running());
    running.works_for(after);
    let crew = children(running.id());
    running.signal(Signal::TERM);
    let ended = running.end();
    assert!(crew.into_iter().all(|child| !is_there(child)), "children outlive the supervisor");
    match ended.code {
        0 => false,
        _ => {
            assert_failed(&ended, 75);
            true
        }
    }
}

#[test]
fn interrupted_is_75_in_every_phase() {
    let bench = Bench::new();
    let dedup = long_job(&bench);
    bench.documents(0, 1);
    let pages = bench.read("documents.jsonl");
    let many = (0..10).map(|copy| pages.replace("\"id\":\"", &format!("\"id\":\"{copy}-")));
    bench.write("many.jsonl", many.collect::<String>());
    let fingerprint = "fingerprint --input many.jsonl --output many.seg";
    let mut interrupted = 0;
    for job in [dedup, fingerprint] {
        for flags in ["--workers 2", "--workers 1 --processes 2"] {
            for after in [0, 20, 80, 200, 400, 700].map(Duration::from_millis) {
                let running = bench.start(&format!("{job} {flags} --overwrite"));
                interrupted += u32::from(interrupt(running, after));
            }
        }
    }
    assert!(interrupted > 0, "the jobs are too short");
}

#[test]
fn interrupted_is_75_while_waiting_for_others() {
    let bench = Bench::new();
    let job = long_job(&bench);
    let [leader, _] = two_hosts(&bench);
    let start = |process| {
        bench.start(&format!("{job} --hosts hosts.txt --process {process} --secret-file secret"))
    };
    let first = start(0);
    wait_until("the leader waits for callers", || TcpStream::connect(&leader).is_ok());
    assert!(interrupt(first, Duration::ZERO));
    let silent = TcpListener::bind(&leader).unwrap();
    let second = start(1);
    let _call = silent.accept().unwrap();
    assert!(interrupt(second, Duration::ZERO));
}
