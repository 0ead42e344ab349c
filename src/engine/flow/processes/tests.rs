//! Several processes are played by threads of the test, on loopback ports of the system's choice.

use std::fs;
use std::io::Write;
use std::iter;
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use super::*;
use crate::flow::chunks::Chunks;
use crate::flow::dispatch::{UnitRunner, Yield, run_units};
use crate::output::Lock;
use crate::peers::{Patience, Secret};
use crate::work_queues::Claim;

const SOON: Duration = Duration::from_secs(2);
const LATE: Duration = Duration::from_secs(60);

/// What a test says of process I: its topology, its identity, its secret and its patience.
type Settings = (Topology, JobIdentity, Secret, Duration);

fn settings(process: usize, processes: usize, patience: Duration) -> Settings {
    let topology = Topology { workers: 2, processes, process };
    (topology, JobIdentity::new("test", ""), Secret::new(b"secret"), patience)
}

fn listeners(count: usize) -> (Vec<TcpListener>, Vec<String>) {
    let listeners: Vec<_> = (0..count).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    let hosts = listeners.iter().map(|l| l.local_addr().unwrap().to_string()).collect();
    (listeners, hosts)
}

fn join(settings: Settings, listener: TcpListener, hosts: &[String]) -> Processes {
    let (topology, job, secret, time) = settings;
    let patience = Patience { arrival: time, silence: time };
    let peers = Peers { hosts: hosts.to_vec(), secret, patience };
    let fatal = Fatal::new(|error| panic!("nothing fails here: {error}"));
    Processes::join(topology, listener, peers, job, fatal).unwrap()
}

/// Runs `part` in each of the processes, all at the same time; its results in their order.
fn play<R: Send>(all: Vec<Settings>, part: impl Fn(Processes) -> R + Sync) -> Vec<R> {
    let (listeners, hosts) = listeners(all.len());
    thread::scope(|scope| {
        let parts: Vec<_> = all
            .into_iter()
            .zip(listeners)
            .map(|(settings, listener)| {
                let (part, hosts) = (&part, &hosts);
                scope.spawn(move || part(join(settings, listener, hosts)))
            })
            .collect();
        parts.into_iter().map(|part| part.join().unwrap()).collect()
    })
}

struct Hundreds<C>(C);

impl<C: FnMut() -> Result<Claim<()>> + 'static> UnitRunner for Hundreds<C> {
    type Unit = ();
    type Record = u64;
    type Receipt = ();

    fn claim(&mut self) -> Result<Claim<()>> {
        (self.0)()
    }

    fn run(&mut self, (): ()) -> Result<(Yield<u64>, ())> {
        Ok((Box::new((0..100).map(Ok)), ()))
    }
}

/// Each worker sends 0..100, each number to the worker with its remainder, which sums them up.
fn sum_by_remainder(fatal: &Fatal, worker: &mut Worker) -> Result<u64> {
    let mut claims = vec![Claim::Done, Claim::Unit(())];
    let runner = Hundreds(move || Ok(claims.pop().unwrap_or(Claim::Done)));
    let into = (Vec::new(), Vec::new());
    let (numbers, _) = run_units(worker, runner, |number| *number, into, fatal)?;
    Ok(numbers.iter().sum())
}

fn expected_sum(index: u64, peers: u64) -> u64 {
    peers * (0..100).filter(|number| number % peers == index).sum::<u64>()
}

#[test]
fn a_leader_may_take_longer_than_the_patience_of_the_others() {
    let all = (0..3).map(|process| settings(process, 3, SOON)).collect();
    let heard = play(all, |mut processes| {
        processes.agree("slow", || {
            thread::sleep(SOON + SOON / 2);
            Ok(String::from("done"))
        })
    });
    assert_eq!(heard, vec![Ok("done".to_owned()); 3]);
}

#[test]
fn a_leader_that_was_superseded_tells_all_why() {
    let home = tempfile::tempdir().unwrap();
    let output = home.path().join("out");
    let lead = || {
        let _lock = Lock::beside(&output)?;
        fs::write(home.path().join(".out.lock"), "").unwrap();
        Err(Error::new(Kind::Missing, "the other run has removed it"))
    };
    let all = (0..2).map(|process| settings(process, 2, LATE)).collect();
    for heard in play(all, |mut processes| processes.agree::<u64>("fail", lead)) {
        let heard = heard.unwrap_err();
        assert_eq!(heard.kind(), Kind::Temporary, "{heard}");
        assert!(heard.to_string().contains("taken over"), "{heard}");
    }
}

/// What the processes end with when process 1 has other settings, or is at another step.
fn mismatch(other: Settings, steps: [&'static str; 2]) -> Vec<(Kind, String)> {
    play(vec![settings(0, 2, SOON), other], |mut processes| {
        let step = steps[processes.topology().process];
        let error = processes.agree(step, || Ok(())).unwrap_err();
        (error.kind(), error.to_string())
    })
}

#[test]
fn peers_that_differ_refuse_each_other_with_the_reason() {
    let behind = mismatch(settings(1, 2, SOON), ["filter", "dedup"]);
    let reason = "another step: expected 0 \"filter\", found 0 \"dedup\"";
    assert!(behind[1].1.contains(reason), "{behind:?}");
    let mismatch = |other| mismatch(other, ["begin"; 2]);
    let (topology, job, secret, patience) = settings(1, 2, SOON);
    let thief = mismatch((topology, job, Secret::new(b"a guess"), patience));
    assert!(thief.iter().all(|(kind, _)| *kind == Kind::Unavailable), "{thief:?}");
    assert!(thief[1].1.contains("refused: it hung up at the greeting"), "{thief:?}");
    let other = JobIdentity::new("test", "k=3");
    for (_, message) in mismatch((topology, other, secret.clone(), patience)) {
        assert!(message.contains("refused: another job, or other parameters"), "{message}");
    }
    let narrow = mismatch((Topology { workers: 1, ..topology }, job, secret, patience));
    for ((kind, message), (peer, [ours, theirs])) in narrow.iter().zip([(1, [1, 2]), (0, [2, 1])]) {
        let reason = format!("another number of workers: expected {ours}, found {theirs}");
        assert_eq!(*kind, Kind::Unavailable);
        assert!(message.starts_with(&format!("process {peer} at 127.0.0.1:")), "{message}");
        assert!(message.contains(&reason), "{message}");
    }
}

/// A process that was started again waits for the others at the first step, and they for it where they are: each hears that the other lives.
#[test]
fn a_peer_that_was_started_again_is_not_waited_for() {
    for restarted in 0..2 {
        let (listeners, hosts) = listeners(2);
        let begin = |process: usize| {
            let listener = listeners[process].try_clone().unwrap();
            join(settings(process, 2, 2 * SOON), listener, &hosts)
        };
        let error = thread::scope(|scope| {
            let (tell, told) = mpsc::channel();
            scope.spawn(move || {
                let mut processes = begin(restarted);
                processes.agree("one", || Ok(())).unwrap();
                drop(processes);
                let _anew = begin(restarted);
                told.recv().unwrap();
            });
            let mut processes = begin(1 - restarted);
            processes.agree("one", || Ok(())).unwrap();
            let error = processes.agree("two", || Ok(())).unwrap_err();
            tell.send(()).unwrap();
            error
        });
        assert_eq!(error.kind(), Kind::Temporary, "{error}");
        let what = format!("process {restarted} at {} was started again", hosts[restarted]);
        assert!(error.to_string().starts_with(&what), "{error}");
    }
}

/// Process 1 misses process 2 alone, since process 0 arrived before it was started again: that call tells.
#[test]
fn a_peer_that_arrived_and_was_started_again_is_noticed_while_another_is_missed() {
    let (listeners, hosts) = listeners(3);
    let begin = |process: usize, patience: Duration| {
        let listener = listeners[process].try_clone().unwrap();
        join(settings(process, 3, patience), listener, &hosts)
    };
    let error = thread::scope(|scope| {
        scope.spawn(|| begin(2, LATE).agree("one", || Ok(())).unwrap());
        scope.spawn(|| {
            let mut processes = begin(0, SOON);
            processes.agree("one", || Ok(())).unwrap();
            processes.agree("two", || Ok(())).unwrap_err();
            drop(processes);
            begin(0, SOON).agree("one", || Ok(())).unwrap_err();
        });
        let mut processes = begin(1, LATE);
        processes.agree("one", || Ok(())).unwrap();
        processes.agree("two", || Ok(())).unwrap_err()
    });
    assert_eq!(error.kind(), Kind::Temporary, "{error}");
    let what = format!("process 0 at {} was started again", hosts[0]);
    assert!(error.to_string().starts_with(&what), "{error}");
}

#[test]
fn a_peer_that_never_comes_is_named_by_all() {
    let all = (0..3).map(|process| settings(process, 3, 2 * SOON)).collect();
    let heard = play(all, |mut processes| match processes.topology().process {
        2 => Ok(()),
        _ => processes.agree("begin", || Ok(())),
    });
    for error in heard.into_iter().take(2).map(Result::unwrap_err) {
        assert_eq!(error.kind(), Kind::Unavailable);
        // Of the two, the one that gives up last may miss the other as well.
        assert!(error.to_string().contains("process 2 at 127.0.0.1:"), "{error}");
        assert!(error.to_string().contains("(Connection refused"), "{error}");
    }
}

#[test]
fn strangers_at_the_door_do_no_harm() {
    let (mut listeners, hosts) = listeners(2);
    let (second, first) = (listeners.pop().unwrap(), listeners.pop().unwrap());
    let knock = |bytes: &[u8]| {
        let mut socket = TcpStream::connect(&hosts[0]).unwrap();
        socket.write_all(bytes).unwrap();
        socket
    };
    let part = |process, listener, hosts: &[String]| {
        let mut processes = join(settings(process, 2, LATE), listener, hosts);
        processes.agree("sum", || Ok(())).unwrap();
        let fatal = processes.fatal();
        processes.execute(move |worker| sum_by_remainder(&fatal, worker)).unwrap()
    };
    thread::scope(|scope| {
        let leader = scope.spawn(|| part(0, first, &hosts));
        let _silent: Vec<TcpStream> = (0..10).map(|_| knock(b"")).collect();
        let _half = knock(b"dupsiev1\x40");
        drop(knock(b"abc"));
        drop(knock(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"));
        drop(knock(&[b"dupsiev0".as_slice(), &[0; 100]].concat()));
        let _long = knock(&[b"dupsiev1".as_slice(), &[255; 100]].concat());
        drop(knock(&[b"dupsiev1".as_slice(), &48_u16.to_le_bytes(), &[255; 48]].concat()));
        drop(knock(&1_u64.to_be_bytes()));
        let other = scope.spawn(|| part(1, second, &hosts));
        assert_eq!(leader.join().unwrap(), [0, 1].map(|index| expected_sum(index, 4)));
        assert_eq!(other.join().unwrap(), [2, 3].map(|index| expected_sum(index, 4)));
    });
}

/// Runs a dataflow that never ends, and in which, if it `fails`, an operator raises an error.
fn endless(fatal: &Fatal, worker: &mut Worker, fails: bool) -> Result<()> {
    let failure = move || Err(Error::new(Kind::Io, "the disk is full"));
    let runner = Hundreds(move || if fails { failure() } else { Ok(Claim::Later) });
    run_units(worker, runner, |_| 0, (Vec::new(), Vec::new()), fatal).map(drop)
}

type End = fn(&Fatal, &mut Worker) -> Result<()>;

#[test]
fn an_error_or_a_panic_in_one_worker_ends_those_that_wait_for_it() {
    let ends: [(End, Kind); 3] = [
        (|fatal, worker| endless(fatal, worker, true), Kind::Io),
        (|_, _| Err(Error::new(Kind::BadData, "a block is damaged")), Kind::BadData),
        (|_, _| panic!("as the test wants it"), Kind::Internal),
    ];
    for (end, kind) in ends {
        let mut processes = Processes::alone(2);
        let fatal = processes.fatal();
        let ended = processes.execute(move |worker| match worker.index() {
            0 => endless(&fatal, worker, false),
            _ => end(&fatal, worker),
        });
        assert_eq!(ended.unwrap_err().kind(), kind);
    }
}

#[test]
fn the_hook_hears_the_first_error_alone() {
    let (told, hear) = mpsc::channel();
    let told = Mutex::new(told);
    let fatal = Fatal::new(move |error| told.lock().unwrap().send(error.to_string()).unwrap());
    fatal.raise(Error::new(Kind::Io, "first"));
    fatal.clone().raise(Error::new(Kind::Io, "second"));
    drop(fatal);
    assert_eq!(hear.iter().collect::<Vec<_>>(), ["first"]);
}

/// Takes chunks, in step with the other process.
struct Paced {
    chunks: Chunks,
    process: usize,
    /// How many chunks process 0 begins while process 1 is busy with one.
    slower: u64,
    /// How many chunks each process has begun; no end of them where it found no more.
    begun: Arc<[AtomicU64; 2]>,
}

impl UnitRunner for Paced {
    type Unit = usize;
    type Record = u64;
    type Receipt = u64;

    fn claim(&mut self) -> Result<Claim<usize>> {
        let chunk = self.chunks.next()?;
        if chunk.is_none() {
            self.begun[self.process].store(u64::MAX / self.slower, Ordering::Release);
        }
        Ok(chunk.map_or(Claim::Done, Claim::Unit))
    }

    fn run(&mut self, chunk: usize) -> Result<(Yield<u64>, u64)> {
        let begun = self.begun[self.process].fetch_add(1, Ordering::AcqRel);
        let other = || self.begun[1 - self.process].load(Ordering::Acquire);
        let waits = || match self.process {
            0 => begun >= self.slower * other(),
            _ => other() <= self.slower * begun,
        };
        let since = Instant::now();
        while waits() {
            if since.elapsed() > LATE {
                let error = Error::new(Kind::Temporary, "the other process begins no more chunks");
                return Err(error.found(format_args!("{begun} begun here, {} there", other())));
            }
            thread::yield_now();
        }
        Ok((Box::new(iter::once(Ok(chunk as u64))), self.process as u64))
    }
}

/// While process 1 is busy with a chunk, it waits for process 0 to begin more of them, which must not wait for process 1: few or
/// many, and whatever it knows of process 1. Of 220 chunks, process 1 gets its share, and at least the 13 that it claims at first.
#[test]
fn a_slow_process_gets_less() {
    for (slower, most) in [(4, 220 / 4), (60, 13)] {
        let narrow = |process| {
            let (topology, job, secret, patience) = settings(process, 2, LATE);
            (Topology { workers: 1, ..topology }, job, secret, patience)
        };
        let begun = Arc::new([AtomicU64::new(0), AtomicU64::new(0)]);
        let gathered = play(vec![narrow(0), narrow(1)], |mut processes| {
            processes.agree("deal", || Ok(())).unwrap();
            let (work, fatal) = (processes.work(), processes.fatal());
            let (process, begun) = (processes.topology().process, Arc::clone(&begun));
            let gathered = processes.execute_gathered(move |worker| {
                let chunks = Chunks::new(&work, worker, vec![200, 20]);
                let runner = Paced { chunks, process, slower, begun: Arc::clone(&begun) };
                run_units(worker, runner, |_| 0, (Vec::new(), Vec::new()), &fatal)
            });
            gathered.unwrap()
        });
        let (mut chunks, takers) = gathered.into_iter().next().unwrap();
        chunks.sort_unstable();
        assert!(chunks.into_iter().eq(0..220), "every chunk once");
        let slow = takers.iter().sum::<u64>();
        assert!((13..=most).contains(&slow), "{slow} of 220, {slower} times slower");
    }
}
