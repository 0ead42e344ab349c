//! SIGTERM and Ctrl-C: the job ends soon, with 75, in every phase.

use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::{
    assert_failed, assert_reported, at_work, children, is_there, long_job, two_hosts, wait_until,
};
use crate::support::{Bench, Running};

/// How long the end may take. On an idle machine it takes less than five seconds.
const SOON: Duration = Duration::from_secs(60);

#[test]
fn interrupted_is_75() {
    let bench = Bench::new();
    let job = long_job(&bench);
    for signal in [Signal::TERM, Signal::INT] {
        for flags in ["--workers 2", "--workers 1 --processes 2"] {
            let running = at_work(&bench, "out", || bench.start(&format!("{job} {flags}")));
            let began = Instant::now();
            running.signal(signal);
            let ended = running.end();
            assert_failed(&ended, 75);
            assert!(ended.stderr.contains("interrupted by SIG"), "{ended:?}");
            assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
            assert_reported(&bench, 75, "out");
        }
    }
}

/// Interrupts a job some time after it has begun to listen for signals. It must end in time, with 75 unless
/// it had ended before.
fn interrupt(mut running: Running, after: Duration) -> bool {
    wait_until(60, || running.listens());
    thread::sleep(after);
    let crew = children(running.id());
    if !running.is_running() {
        assert_eq!(running.end().code, 0);
        return false;
    }
    let began = Instant::now();
    running.signal(Signal::TERM);
    let ended = running.end();
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
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
    two_hosts(&bench);
    for process in [0, 1] {
        let line = format!("{job} --hosts hosts.txt --process {process} --secret-file secret");
        assert!(interrupt(bench.start(&line), Duration::from_millis(500)));
    }
}
