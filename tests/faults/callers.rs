//! Callers without the secret: however many there are, they neither prevent a run nor end it, and a process
//! that gives up reports them.

use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::{assert_failed, long_job, small, two_hosts};
use crate::support::{Bench, Running, free_address};

/// Callers that send nothing, and connect again when they are disconnected, until dropped.
struct Crowd {
    is_over: Arc<AtomicBool>,
    callers: Vec<JoinHandle<()>>,
}

impl Crowd {
    /// This many callers at each of the addresses.
    fn at(addresses: &[String], count: usize) -> Crowd {
        let is_over = Arc::new(AtomicBool::new(false));
        let call = |address: &String| {
            let (address, is_over) = (address.clone(), Arc::clone(&is_over));
            thread::spawn(move || {
                let mut callers: Vec<Option<TcpStream>> = (0..count).map(|_| None).collect();
                while !is_over.load(Ordering::Relaxed) {
                    callers.iter_mut().for_each(|caller| stay(caller, &address));
                    thread::sleep(Duration::from_millis(50));
                }
            })
        };
        let callers = addresses.iter().map(call).collect();
        Crowd { is_over, callers }
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.callers.drain(..).for_each(|caller| caller.join().unwrap());
    }
}

/// Connects, unless the caller is still connected.
fn stay(caller: &mut Option<TcpStream>, address: &str) {
    let waits = |socket: &TcpStream| {
        socket.peek(&mut [0]).is_err_and(|cause| cause.kind() == std::io::ErrorKind::WouldBlock)
    };
    if !caller.as_ref().is_some_and(waits) {
        *caller = TcpStream::connect(address).ok();
        caller.iter().for_each(|socket| socket.set_nonblocking(true).unwrap());
    }
}

fn start(bench: &Bench, job: &str, flags: &str) -> [Running; 2] {
    [0, 1].map(|process| {
        let flags = format!("--process {process} --secret-file secret --workers 1 {flags}");
        bench.start(&format!("{job} --hosts hosts.txt {flags}"))
    })
}

#[test]
fn two_hundred_silent_callers_do_not_stop_a_run() {
    let bench = Bench::new();
    let job = long_job(&bench);
    bench.done(&job.replace("--output out", "--output alone"));
    let hosts = two_hosts(&bench);
    let crowd = Crowd::at(&hosts, 200);
    for ended in start(&bench, job, "").map(Running::end) {
        assert_eq!(ended.code, 0, "{ended:?}");
        assert_eq!(ended.summary()["code"], 0);
    }
    drop(crowd);
    assert!(bench.files("out") == bench.files("alone"));
}

#[test]
fn four_hundred_callers_at_once_end_no_run() {
    let bench = Bench::new();
    let job = long_job(&bench);
    let hosts = two_hosts(&bench);
    let both = start(&bench, job, "");
    let mut crowd = Vec::new();
    while both.iter().any(Running::is_running) {
        // The callers of the burst before have left.
        crowd = (0..400).map(|call| TcpStream::connect(&hosts[call % 2]).ok()).collect();
        thread::sleep(Duration::from_millis(200));
    }
    drop::<Vec<Option<TcpStream>>>(crowd);
    for ended in both.map(Running::end) {
        assert_eq!(ended.code, 0, "{ended:?}");
    }
}

#[test]
fn a_process_that_gives_up_reports_the_callers() {
    let bench = small();
    let [leader, other] = [(), ()].map(|()| free_address());
    bench.write("hosts.txt", format!("{leader}\n{other}\n"));
    bench.secret("secret", "known to the two of us");
    let crowd = Crowd::at(&[leader], 200);
    let flags = "--hosts hosts.txt --process 0 --secret-file secret --wait-for-peers 6";
    let ended = bench.run(&format!("dedup --batch batch.seg --output out {flags}"));
    drop(crowd);
    assert_failed(&ended, 69);
    assert!(ended.stderr.contains("turned away here"), "{}", ended.stderr);
    assert!(ended.stderr.contains("from 127.0.0.1"), "{}", ended.stderr);
}
