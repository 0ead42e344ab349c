//! Processes of a hosts file that never start, are refused, freeze, or belong to another job.

use std::collections::VecDeque;
use std::fs::Permissions;
use std::io::Write;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;

use rustix::process::Signal;
use serde_json::Value;

use super::{
    assert_failed, assert_reported, at_work, fault, fault_of, free_address, long_job, small,
};
use crate::support::{Bench, Ended, Running, wait_until};

#[test]
fn a_peer_that_never_starts_or_is_refused_is_69() {
    let bench = small();
    bench.two_hosts();
    bench.secret("wrong", "something else, as long");
    let line = "dedup --batch batch.seg --store store --hosts hosts.txt --wait-for-peers 1";
    for process in [0, 1] {
        fault(&bench, 69, &format!("{line} --process {process} --secret-file secret --output a"));
    }
    assert_reported(&bench, 69, "a");
    for [first, second] in [
        ["--secret-file secret --output b", "--secret-file wrong --output b"],
        ["--secret-file secret --output b", "--secret-file secret --output b --distance 2"],
    ] {
        let both = [(0, first), (1, second)]
            .map(|(process, flags)| bench.start(&format!("{line} --process {process} {flags}")));
        for ended in both.map(Running::end) {
            assert_failed(&ended, 69);
        }
        assert!(!bench.path("b").exists());
    }
}

#[test]
fn a_process_that_gives_up_reports_the_callers() {
    let bench = small();
    let [leader, _] = bench.two_hosts();
    let flags = "--hosts hosts.txt --process 0 --secret-file secret --wait-for-peers 6";
    let waiting = bench.start(&format!("dedup --batch batch.seg --output out {flags}"));
    let mut callers = VecDeque::new();
    wait_until("it gives up", || {
        callers.push_back(TcpStream::connect(&leader));
        callers.drain(..callers.len().saturating_sub(300)).for_each(drop);
        !waiting.is_running()
    });
    let ended = waiting.end();
    assert_failed(&ended, 69);
    assert!(ended.stderr.contains("turned away here"), "{}", ended.stderr);
    assert!(ended.stderr.contains("from 127.0.0.1"), "{}", ended.stderr);
}

#[test]
fn a_bad_secret_is_refused() {
    let bench = small();
    let port = free_address().replace("127.0.0.1:", "");
    bench.write("hosts.txt", format!("0.0.0.0:{port}\nlocalhost:1\n"));
    let line = "dedup --batch batch.seg --output out --hosts hosts.txt --process";
    assert!(fault(&bench, 2, &format!("{line} 0")).contains("--secret-file"));
    assert!(fault(&bench, 2, &format!("{line} 1 --listen 0.0.0.0")).contains("--secret-file"));
    bench.secret("secret", "known to the two of us");
    bench.secret("empty", "\n");
    fault(&bench, 78, &format!("{line} 0 --secret-file empty"));
    fault(&bench, 66, &format!("{line} 0 --secret-file none"));
    std::fs::set_permissions(bench.path("secret"), Permissions::from_mode(0o644)).unwrap();
    let said = fault(&bench, 77, &format!("{line} 0 --secret-file secret"));
    assert!(said.contains("chmod 600") && said.contains("0644"), "{said}");
    std::fs::set_permissions(bench.path("secret"), Permissions::from_mode(0o440)).unwrap();
    let ended = bench.run(&format!("{line} 0 --secret-file secret --wait-for-peers 1"));
    assert_failed(&ended, 69);
    assert!(ended.stderr.contains("the group of the file can read"), "{}", ended.stderr);
    assert!(!ended.stderr.contains("known to") && !ended.stdout.contains("known to"));
}

#[test]
fn a_killed_peer_is_named() {
    let bench = Bench::new();
    let job = long_job(&bench);
    bench.two_hosts();
    let both = at_work(&bench, "out", || {
        [0, 1].map(|process| bench.start_process(process, &format!("{job} --wait-for-peers 20")))
    });
    both[1].signal(Signal::KILL);
    let [leader, other] = both.map(Running::end);
    // 69 if it was killed before it had connected.
    assert!([69, 75].contains(&leader.code), "{leader:?}");
    assert_failed(&leader, leader.code);
    assert!(leader.stderr.contains("process 1 at 127.0.0.1:"), "{}", leader.stderr);
    assert_eq!(other.code, -1);
    assert_reported(&bench, leader.code, "out");
}

#[test]
fn a_stalled_job_ends_and_says_where() {
    let bench = Bench::new();
    super::pipe(&bench.path("pipe.jsonl"));
    let mut open = std::fs::File::options();
    let mut writer = open.read(true).write(true).open(bench.path("pipe.jsonl")).unwrap();
    writer.write_all(b"{\"id\": \"a\", \"text\": \"a page\"}\n").unwrap();
    let said = fault_of(&bench, 75, "out.seg", "fingerprint --input pipe.jsonl --stall-timeout 2");
    assert!(said.contains("no progress for 2 s"), "{said}");
}

#[test]
fn the_doctor_says_whether_processes_meet() {
    let bench = Bench::new();
    let [_, other] = bench.two_hosts();
    let found = |ended: &Ended| {
        let answer: Value = serde_json::from_str(ended.stdout.lines().next().unwrap()).unwrap();
        let mut findings = answer["findings"].as_array().unwrap().iter();
        findings.find(|finding| finding["what"] == "other processes").unwrap().clone()
    };
    let both = [0, 1].map(|process| bench.start_process(process, "doctor --json"));
    for ended in both.map(Running::end) {
        assert_eq!((ended.code, &found(&ended)["found"]), (0, &"all met".into()), "{ended:?}");
    }
    let alone = bench.start_process(0, "doctor --json --wait-for-peers 1").end();
    assert_eq!((alone.code, &found(&alone)["state"]), (78, &"wrong".into()), "{alone:?}");
    assert!(alone.stderr.contains(&other), "{}", alone.stderr);
}
