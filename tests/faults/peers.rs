//! Processes of a hosts file that never start, are refused, freeze, or belong to another job.

use std::fs::Permissions;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::thread;
use std::time::Duration;

use rustix::process::Signal;

use super::{
    assert_failed, assert_reported, at_work, fault, fault_of, free_address, long_job, small,
    two_hosts,
};
use crate::support::{Bench, Ended, Running, wait_until};

#[test]
fn a_peer_that_never_starts_or_is_refused_is_69() {
    let bench = small();
    let [ours, theirs] = [(), ()].map(|()| free_address());
    bench.write("hosts.txt", format!("{ours}\n{theirs}\n"));
    bench.secret("secret", "known to the two of us");
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
fn unknown_callers_disturb_nobody() {
    let bench = small();
    let [leader, other] = [(), ()].map(|()| free_address());
    bench.write("hosts.txt", format!("{leader}\n{other}\n"));
    bench.secret("secret", "known to the two of us");
    let line =
        "dedup --batch batch.seg --store store --hosts hosts.txt --secret-file secret --output out";
    let waiting = bench.start(&format!("{line} --process 0"));
    let mut silent = Vec::new();
    wait_until("twelve strangers have called", || {
        if let Ok(mut caller) = std::net::TcpStream::connect(&leader) {
            match silent.len() % 3 {
                0 => caller.write_all(b"GET / HTTP/1.1\r\nHost: health\r\n\r\n").unwrap(),
                1 => caller.write_all(&[0; 8]).unwrap(),
                _ => {}
            }
            silent.push(caller);
        }
        silent.len() == 12
    });
    let came = bench.start(&format!("{line} --process 1"));
    let (waiting, came) = (waiting.end(), came.end());
    assert_eq!((waiting.code, came.code), (0, 0), "{}{}", waiting.stderr, came.stderr);
    assert!(bench.path("out/_SUCCESS").exists());
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

/// Starts both processes of the long job and freezes one of them, at once or when it has taken so much processor
/// time. Returns how the other ended.
fn freeze(frozen: usize, after: Option<Duration>, output: &str, bench: &Bench) -> Ended {
    let hosts = [(), ()].map(|()| free_address()).join("\n");
    bench.write(&format!("{output}.hosts"), hosts);
    let job = long_job(bench).replace("--output out", &format!("--output {output}"));
    let start = || {
        [0, 1].map(|process| {
            bench.start(&format!(
                "{job} --hosts {output}.hosts --process {process} --secret-file secret --workers 1 \
                 --peer-timeout 2 --wait-for-peers 5"
            ))
        })
    };
    let both = if after.is_some() { at_work(bench, output, start) } else { start() };
    if both[frozen].works_for(after.unwrap_or_default()) {
        both[frozen].signal(Signal::STOP);
    }
    let [leader, other] = both;
    let (victim, survivor) = if frozen == 0 { (leader, other) } else { (other, leader) };
    let ended = survivor.end();
    victim.kill();
    ended
}

#[test]
fn a_frozen_peer_is_lost_in_every_phase() {
    let bench = Bench::new();
    bench.secret("secret", "known to the two of us");
    long_job(&bench);
    let after = [0, 10, 60, 150, 300].map(|after| Some(Duration::from_millis(after)));
    let cases = after.into_iter().chain([None]).flat_map(|after| [(0, after), (1, after)]);
    let ended = thread::scope(|scope| {
        let case = |(number, (frozen, after))| {
            let bench = &bench;
            scope.spawn(move || (frozen, freeze(frozen, after, &format!("out-{number}"), bench)))
        };
        let cases: Vec<_> = cases.enumerate().map(case).collect();
        cases.into_iter().map(|case| case.join().unwrap()).collect::<Vec<_>>()
    });
    let mut lost = 0;
    for (frozen, ended) in ended {
        match ended.code {
            0 => {}
            69 | 75 => {
                assert_failed(&ended, ended.code);
                assert!(ended.stderr.contains(&format!("process {frozen} at ")), "{ended:?}");
                lost += u32::from(ended.code == 75);
            }
            _ => panic!("{ended:?}"),
        }
    }
    // Even on a busy machine one pair was at work by then.
    let mut tries = 0;
    while lost == 0 && tries < 10 {
        let ended = freeze(1, Some(Duration::ZERO), &format!("late-{tries}"), &bench);
        lost += u32::from(ended.code == 75);
        tries += 1;
    }
    assert!(lost > 0, "the job is too short");
}

#[test]
fn a_killed_peer_is_named() {
    let bench = Bench::new();
    let job = long_job(&bench);
    two_hosts(&bench);
    let both = at_work(&bench, "out", || {
        [0, 1].map(|process| {
            bench.start(&format!(
                "{job} --hosts hosts.txt --process {process} --secret-file secret \
                 --wait-for-peers 20"
            ))
        })
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
