//! `--processes`: a child or the supervisor is killed or frozen, and all children start again.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::{assert_failed, at_work, is_there, long_job};
use crate::support::{Bench, Running, children, outlast, wait_until};

/// A job of so many processes that is at work, and these.
fn supervised(bench: &Bench, count: usize, flags: &str) -> (Running, Vec<Pid>) {
    let line = format!("{} --workers 1 --processes {count} {flags}", long_job(bench));
    let running = at_work(bench, "out", || bench.start(&line));
    let processes = children(running.id());
    assert_eq!(processes.len(), count, "the job was too short");
    (running, processes)
}

#[test]
fn a_killed_child_is_75_and_ends_the_others() {
    let bench = Bench::new();
    for victim in [0, 1, 2] {
        let (running, processes) = supervised(&bench, 3, "--restarts 0");
        kill_process(processes[victim], Signal::KILL).unwrap();
        let ended = running.end();
        assert_failed(&ended, 75);
        assert!(ended.stderr.contains("SIGKILL"), "{}", ended.stderr);
        assert!(!bench.path("out").exists());
        assert!(processes.iter().all(|&child| rustix::process::test_kill_process(child).is_err()));
    }
    bench.done(&format!("{} --workers 1 --processes 2", long_job(&bench)));
}

#[test]
fn children_end_with_a_supervisor_that_is_killed() {
    let bench = Bench::new();
    let (running, processes) = supervised(&bench, 2, "");
    assert!(running.kill());
    wait_until("the children end", || !processes.iter().any(|&child| is_there(child)));
    assert!(!bench.path("out").exists());
}

#[test]
fn all_children_start_again_when_one_is_killed_or_frozen() {
    let bench = Bench::new();
    let job = long_job(&bench);
    bench.done(&job.replace("--output out", "--output alone"));
    for (victim, signal) in
        [(0, Signal::KILL), (1, Signal::KILL), (0, Signal::STOP), (1, Signal::STOP)]
    {
        let out = format!("out-{victim}-{}", signal.as_raw());
        let job = job.replace("--output out", &format!("--output {out}"));
        let line = format!("{job} --workers 1 --processes 2 --peer-timeout 5");
        let running = at_work(&bench, &out, || bench.start(&line));
        let first = children(running.id());
        kill_process(first[victim], signal).unwrap();
        let ended = running.end();
        assert_eq!(ended.code, 0, "{ended:?}");
        assert_eq!(ended.stdout.lines().count(), 1, "{ended:?}");
        assert_eq!(ended.summary()["error"], serde_json::Value::Null);
        assert!(ended.stderr.contains("starting all processes again (1 of 2)"), "{ended:?}");
        assert!(first.into_iter().all(|child| !is_there(child)));
        assert!(bench.files(&out) == bench.files("alone"), "{out} differs");
    }
}

#[test]
fn children_do_not_wait_for_a_frozen_supervisor() {
    let bench = Bench::new();
    let (running, processes) = supervised(&bench, 2, "--peer-timeout 2 --restarts 0");
    running.signal(Signal::STOP);
    for &child in &processes {
        kill_process(child, Signal::STOP).unwrap();
    }
    outlast(Duration::from_secs(2));
    // A process that was frozen itself does not count another as lost at once.
    for &child in &processes {
        kill_process(child, Signal::CONT).unwrap();
    }
    wait_until("the children end", || !processes.iter().any(|&child| is_there(child)));
    running.kill();
}

#[test]
fn processes_that_were_all_stopped_continue() {
    let bench = Bench::new();
    let (running, processes) = supervised(&bench, 2, "--peer-timeout 5");
    let signal_all = |signal| {
        running.signal(signal);
        processes.iter().for_each(|&child| kill_process(child, signal).unwrap());
    };
    signal_all(Signal::STOP);
    outlast(Duration::from_secs(5));
    signal_all(Signal::CONT);
    let ended = running.end();
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(!ended.stderr.contains("again"), "{ended:?}");
}
