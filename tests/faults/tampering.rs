//! A man in the middle: bytes that are changed or repeated between two processes never change a result.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use super::{assert_failed, free_address, long_job, small};
use crate::support::{Bench, Ended, Running, wait_until};

/// What the man in the middle does to bytes: the number of the connection, the direction, and the offset of
/// the first byte.
type Touch = dyn Fn(usize, bool, usize, &mut [u8]) + Send + Sync;

fn between(leader: String, touch: Arc<Touch>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for (number, caller) in listener.incoming().enumerate() {
            let (Ok(caller), Ok(called)) = (caller, TcpStream::connect(&leader)) else { continue };
            let ends = [(&caller, &called, true), (&called, &caller, false)];
            for (from, to, forth) in ends {
                let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                let touch = Arc::clone(&touch);
                thread::spawn(move || {
                    hand_on(from, to, |at, bytes| touch(number, forth, at, bytes))
                });
            }
        }
    });
    address
}

fn hand_on(mut from: TcpStream, mut to: TcpStream, touch: impl Fn(usize, &mut [u8])) {
    let (mut bytes, mut at) = ([0; 4096], 0);
    while let Ok(read @ 1..) = from.read(&mut bytes) {
        touch(at, &mut bytes[..read]);
        at += read;
        if to.write_all(&bytes[..read]).is_err() {
            break;
        }
    }
    let _ = (from.shutdown(Shutdown::Read), to.shutdown(Shutdown::Write));
}

const SHORT: &str = "--peer-timeout 3 --wait-for-peers 5";

/// Runs a job that makes `output` in two processes. The second reaches the leader through the man in the
/// middle.
fn run(bench: &Bench, job: &str, output: &str, patience: &str, touch: Arc<Touch>) -> [Ended; 2] {
    let [leader, other] = [(), ()].map(|()| free_address());
    let seen = between(leader.clone(), touch);
    for (process, leader) in [(0, leader), (1, seen)] {
        bench.write(&format!("{output}-{process}.hosts"), format!("{leader}\n{other}\n"));
    }
    let flags = format!("--secret-file secret --workers 1 {patience}");
    [0, 1]
        .map(|process| {
            let hosts = format!("--hosts {output}-{process}.hosts --process {process}");
            bench.start(&format!("{job} --output {output} {hosts} {flags}"))
        })
        .map(Running::end)
}

/// Flips a bit of byte `at` of every connection, on the way to the leader or back.
fn flip(at: usize, forth: bool) -> Arc<Touch> {
    Arc::new(move |_, goes_forth, from, bytes: &mut [u8]| {
        let here = at.checked_sub(from).filter(|&here| here < bytes.len());
        if let Some(here) = here.filter(|_| goes_forth == forth) {
            bytes[here] ^= 4;
        }
    })
}

#[test]
fn a_flipped_bit_changes_no_result() {
    let bench = Bench::new();
    bench.secret("secret", "known to the two of us");
    let job = long_job(&bench).strip_suffix(" --output out").unwrap();
    bench.done(&format!("{job} --output alone"));
    let alone = bench.files("alone");
    // In the handshake, in the greeting, in an agreement, and in the dataflow.
    let places = [9_usize, 30, 150, 700, 20_000].map(|at| [(at, true), (at, false)]).concat();
    let refused = thread::scope(|scope| {
        let case = |&(at, forth): &(usize, bool)| {
            let (bench, alone) = (&bench, &alone);
            scope.spawn(move || {
                let output = format!("out-{at}-{forth}");
                let ended = run(bench, job, &output, SHORT, flip(at, forth));
                let codes = ended.each_ref().map(|ended| ended.code);
                if codes == [0, 0] {
                    assert!(bench.files(&output) == *alone, "byte {at} made a difference");
                    return 0;
                }
                assert!(codes.iter().all(|code| [0, 69, 75].contains(code)), "{ended:?}");
                let failed = ended.iter().find(|ended| ended.code != 0).unwrap();
                assert_failed(failed, failed.code);
                1
            })
        };
        let cases: Vec<_> = places.iter().map(case).collect();
        cases.into_iter().map(|case| case.join().unwrap()).sum::<u32>()
    });
    assert!(refused >= 5, "{refused}");
}

#[test]
fn a_repeated_message_is_ignored() {
    let bench = small();
    bench.secret("secret", "known to the two of us");
    let job = "dedup --batch batch.seg --store store";
    let heard = Arc::new(Mutex::new(BTreeMap::new()));
    let recorder = Arc::clone(&heard);
    let ended = run(
        &bench,
        job,
        "out",
        "",
        Arc::new(move |number, forth, _, bytes: &mut [u8]| {
            if forth {
                let mut heard = recorder.lock().unwrap();
                heard.entry(number).or_insert_with(Vec::new).extend_from_slice(bytes);
            }
        }),
    );
    assert_eq!(ended.map(|ended| ended.code), [0, 0]);
    let heard = heard.lock().unwrap().values().max_by_key(|bytes| bytes.len()).unwrap().clone();
    assert!(heard.len() > 100);
    let [leader, other] = [(), ()].map(|()| free_address());
    bench.write("hosts.txt", format!("{leader}\n{other}\n"));
    let line = format!(
        "{job} --output again --hosts hosts.txt --process 0 --secret-file secret --wait-for-peers 3"
    );
    let waiting = bench.start(&line);
    let mut answers = Vec::new();
    wait_until("the leader listens", || {
        let Ok(mut caller) = TcpStream::connect(&leader) else { return false };
        caller.write_all(&heard).unwrap();
        let _ = caller.read_to_end(&mut answers);
        true
    });
    let ended = waiting.end();
    assert_failed(&ended, 69);
    assert!(ended.stderr.contains("refused a caller"), "{}", ended.stderr);
    assert!(ended.stderr.contains("altered on its way"), "{}", ended.stderr);
}
