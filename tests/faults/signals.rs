//! SIGTERM and Ctrl-C: the job ends with 75, in every phase.

use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use rustix::process::Signal;

use super::{assert_failed, assert_reported, at_work, is_there, long_job};
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
fn interrupted_is_75_while_waiting_for_others() {
    let bench = Bench::new();
    let job = long_job(&bench);
    let [leader, _] = bench.two_hosts();
    let first = bench.start_process(0, job);
    wait_until("the leader waits for callers", || TcpStream::connect(&leader).is_ok());
    assert!(interrupt(first, Duration::ZERO));
    let silent = TcpListener::bind(&leader).unwrap();
    let second = bench.start_process(1, job);
    let _call = silent.accept().unwrap();
    assert!(interrupt(second, Duration::ZERO));
}
