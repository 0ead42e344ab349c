//! The processes that `--processes` starts, for one attempt at the job. They are introduced to each other,
//! watched, and ended together. An attempt fails by its first cause: the first failure that is not the
//! loss of another process.

use std::env;
use std::io::{self, BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use dupsieve::peers::Patience;
use dupsieve::{Error, Kind, Result};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::flags::mounts;
use crate::processes::child::{HEARTBEAT, Introduction};
use crate::processes::{child, signals};

const CHECK_INTERVAL: Duration = Duration::from_millis(20);
/// How long the other children may take to notice a failure before they get SIGTERM.
const NOTICE_TIME: Duration = Duration::from_secs(2);
/// How long they may take to end after SIGTERM before they are killed.
const END_TIME: Duration = Duration::from_secs(3);
/// How long the system may take to end a killed process before the parent stops waiting for it.
const KILL_TIME: Duration = Duration::from_secs(1);

pub(crate) struct Children {
    children: Vec<ChildProcess>,
    readers: Vec<JoinHandle<()>>,
    patience: Patience,
    /// Until when all must have written where they listen; none once they have.
    start_by: Option<Instant>,
    counted: Instant,
    sent: Instant,
    causes: Vec<Cause>,
    interrupted: bool,
    ask_at: Option<Instant>,
    kill_at: Option<Instant>,
    leave_at: Option<Instant>,
}

struct ChildProcess {
    handle: Child,
    stdin: ChildStdin,
    address: Option<String>,
    summary: Option<String>,
    ended: Option<ExitStatus>,
    /// How long it has given no sign of life. Time during which this process was stopped does not count.
    silent: Duration,
}

pub(crate) enum Event {
    Line(usize, Vec<u8>),
    Signal(&'static str),
}

impl Children {
    /// Starts the children. Each must write where it listens before the patience for arrivals ends. The
    /// system ends them when the thread that started them ends, so that must be the main thread.
    pub(crate) fn start(
        processes: usize,
        patience: Patience,
        events: &Sender<Event>,
    ) -> Result<Children> {
        let failed = |cause: io::Error| {
            Error::system(format_args!("cannot start {processes} processes"), &cause)
        };
        let mut children = Vec::new();
        let mut readers = Vec::new();
        for process in 0..processes {
            let (child, stdout) = ChildProcess::start(process).map_err(failed)?;
            let sender = events.clone();
            children.push(child);
            readers.push(thread::spawn(move || read_lines(process, stdout, &sender)));
        }
        let now = Instant::now();
        Ok(Children {
            children,
            readers,
            patience,
            start_by: Some(now + patience.arrival),
            counted: now,
            sent: now,
            causes: Vec::new(),
            interrupted: false,
            ask_at: None,
            kill_at: None,
            leave_at: None,
        })
    }

    /// Watches the children until all have ended, or until those left cannot be ended.
    pub(crate) fn watch(mut self, events: &Receiver<Event>) -> Attempt {
        while self.children.iter().any(|child| child.ended.is_none()) && !self.is_stuck() {
            if let Ok(event) = events.recv_timeout(CHECK_INTERVAL) {
                self.handle(event);
            }
            self.reap();
            self.introduce();
            self.exchange_heartbeats();
            self.end_remaining();
        }
        let readers = std::mem::take(&mut self.readers);
        for (reader, child) in readers.into_iter().zip(&self.children) {
            if child.ended.is_some() {
                let _ = reader.join();
            }
        }
        while let Ok(event) = events.try_recv() {
            self.handle(event);
        }
        self.attempt()
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Line(process, line) => self.children[process].read(line, process == 0),
            Event::Signal(name) => {
                self.interrupted = true;
                self.blame(Cause::new(signals::interrupted(name)));
                self.ask_at = self.kill_at.is_none().then(Instant::now);
            }
        }
    }

    fn reap(&mut self) {
        for process in 0..self.children.len() {
            let child = &mut self.children[process];
            if child.ended.is_some() {
                continue;
            }
            child.ended = child.handle.try_wait().ok().flatten();
            if let Some(status) = child.ended.filter(|status| !status.success()) {
                self.blame(Cause::of_end(process, status));
                // Those that lost a killed child are lost for it, and may be seen to end before it is.
                if status.signal().is_some() && self.kill_at.is_none() {
                    self.causes.rotate_right(1);
                }
            }
        }
    }

    /// Introduces the children to each other once all listen; fails if one does not in time.
    fn introduce(&mut self) {
        let Some(start_by) = self.start_by else { return };
        let hosts: Vec<_> = self.children.iter().filter_map(|m| m.address.clone()).collect();
        if hosts.len() == self.children.len() {
            self.start_by = None;
            let secret = rand::random::<[u128; 2]>().map(|half| format!("{half:032x}")).concat();
            let introduction = Introduction { hosts, secret };
            let line = serde_json::to_string(&introduction).expect("it is plain data") + "\n";
            self.children.iter_mut().for_each(|child| child.send(&line));
        } else if start_by < Instant::now() {
            let late = self.children.iter().position(|child| child.address.is_none());
            let who = late.unwrap_or_default();
            let what = format!("process {who} did not start in time");
            let error = Error::new(Kind::Unavailable, what).called("peer-missing");
            self.blame(Cause::new(error));
        }
    }

    /// Sends heartbeats once the children know each other, and finds those that send none.
    fn exchange_heartbeats(&mut self) {
        let silence = self.patience.silence;
        let interval = child::heartbeat_interval(silence);
        let passed = self.counted.elapsed().min(interval);
        self.counted = Instant::now();
        if self.start_by.is_some() || !self.causes.is_empty() {
            return;
        }
        if self.sent.elapsed() >= interval {
            self.sent = Instant::now();
            self.children.iter_mut().for_each(|child| child.send("\n"));
        }
        for process in 0..self.children.len() {
            let child = &mut self.children[process];
            child.silent += passed;
            if child.ended.is_none() && child.silent > silence {
                let silence = silence.as_secs_f32();
                let what =
                    format!("lost process {process}, which gave no sign of life for {silence} s");
                let error = Error::new(Kind::Temporary, what).called("peer-lost");
                self.blame(Cause::new(error));
            }
        }
    }

    /// Records a cause. After the first one the remaining children get some time to notice it and to end
    /// by themselves, if they know each other; otherwise none.
    fn blame(&mut self, cause: Cause) {
        if self.causes.is_empty() {
            let are_strangers = self.start_by.take().is_some();
            let notice_time = if are_strangers { Duration::ZERO } else { NOTICE_TIME };
            self.ask_at = Some(Instant::now() + notice_time);
        }
        self.causes.push(cause);
    }

    /// Ends the children that remain: first with SIGTERM, later with SIGKILL.
    fn end_remaining(&mut self) {
        let now = Instant::now();
        let remaining = self.children.iter_mut().filter(|child| child.ended.is_none());
        if self.ask_at.take_if(|at| *at <= now).is_some() {
            self.kill_at = Some(now + END_TIME);
            for child in remaining {
                let _ = kill_process(Pid::from_child(&child.handle), Signal::TERM);
            }
        } else if self.kill_at.is_some_and(|at| at <= now) {
            self.leave_at.get_or_insert(now + KILL_TIME);
            for child in remaining {
                let _ = child.handle.kill();
            }
        }
    }

    /// Whether a killed child is still there after its time, for example because its disk hangs.
    fn is_stuck(&self) -> bool {
        self.leave_at.is_some_and(|at| at <= Instant::now())
    }

    /// How the attempt ended: as process 0 did if all succeeded, else by the first cause.
    fn attempt(mut self) -> Attempt {
        let well = |child: &ChildProcess| child.ended.is_some_and(|status| status.success());
        let is_final = self.interrupted || self.children.iter().any(|child| child.ended.is_none());
        let cause = if self.children.iter().all(well) {
            let error = Error::new(Kind::Internal, "process 0 ended without a summary line");
            Cause { error, process: Some(0), code: 0 }
        } else {
            let lost = Kind::Temporary.code();
            let first = self.causes.iter().position(|cause| cause.code != lost).unwrap_or(0);
            self.causes.swap_remove(first)
        };
        let summary = cause.process.and_then(|process| self.children[process].summary.take());
        Attempt { summary, code: cause.code, error: cause.error, is_final }
    }
}

impl ChildProcess {
    /// Starts a copy of this program, with the same arguments, as the given process.
    fn start(process: usize) -> io::Result<(ChildProcess, ChildStdout)> {
        let mut handle = Command::new(env::current_exe()?)
            .args(["--child", &process.to_string()])
            .args(env::args_os().skip(1))
            .envs(mounts().inheritance())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let stdin = handle.stdin.take().expect("stdin is piped");
        let stdout = handle.stdout.take().expect("stdout is piped");
        let silent = Duration::ZERO;
        Ok((
            ChildProcess { handle, stdin, address: None, summary: None, ended: None, silent },
            stdout,
        ))
    }

    /// Writes to the child's stdin. A failure means that the child has ended, which is noticed elsewhere.
    fn send(&mut self, line: &str) {
        let _ = self.stdin.write_all(line.as_bytes());
    }

    /// Handles a line of the child's stdout: a heartbeat, its address, its summary line, or something to
    /// pass on.
    fn read(&mut self, line: Vec<u8>, pass_on: bool) {
        self.silent = Duration::ZERO;
        let text = String::from_utf8_lossy(&line);
        if text == HEARTBEAT {
            return;
        }
        if self.address.is_none() && text.parse::<SocketAddr>().is_ok() {
            self.address = Some(text.into_owned());
        } else if is_summary(&text) {
            self.summary = Some(text.into_owned());
        } else if pass_on {
            let _ = io::stdout().write_all(&[&line[..], b"\n"].concat());
        }
    }
}

fn read_lines(process: usize, stdout: ChildStdout, events: &Sender<Event>) {
    for line in BufReader::new(stdout).split(b'\n').map_while(io::Result::ok) {
        if events.send(Event::Line(process, line)).is_err() {
            return;
        }
    }
}

fn is_summary(line: &str) -> bool {
    let keys = ["job", "code", "retryable"];
    line.starts_with('{')
        && serde_json::from_str::<Value>(line)
            .is_ok_and(|value| keys.iter().all(|key| value.get(key).is_some()))
}

pub(crate) struct Attempt {
    /// The summary line of the process that decided the attempt, if it wrote one.
    pub(crate) summary: Option<String>,
    pub(crate) code: u8,
    pub(crate) error: Error,
    /// Whether there must be no other attempt: a signal came, or a child could not be ended.
    pub(crate) is_final: bool,
}

impl Attempt {
    pub(crate) fn interrupted(signal: &str) -> Attempt {
        let error = signals::interrupted(signal);
        Attempt { summary: None, code: error.kind().code(), error, is_final: true }
    }

    /// Why the attempt failed: the error in the summary line, or else as the supervisor saw it.
    pub(crate) fn reason(&self) -> String {
        let parsed = |line: &str| serde_json::from_str::<Value>(line).ok();
        let summary = self.summary.as_deref().and_then(parsed);
        let error = summary.as_ref().and_then(|summary| summary["error"].as_str());
        error.map_or_else(|| self.error.to_string(), str::to_owned)
    }
}

/// Why an attempt fails, as the supervisor sees it, and the child whose summary line may say more.
struct Cause {
    error: Error,
    process: Option<usize>,
    code: u8,
}

impl Cause {
    fn new(error: Error) -> Cause {
        let code = error.kind().code();
        Cause { error, process: None, code }
    }

    fn of_end(process: usize, status: ExitStatus) -> Cause {
        match (status.code(), status.signal()) {
            (Some(code), _) => {
                let what =
                    format!("process {process} ended with code {code} and without a summary line");
                let code = u8::try_from(code).unwrap_or(Kind::Internal.code());
                Cause { error: Error::new(Kind::Internal, what), process: Some(process), code }
            }
            (None, signal) => {
                let name = signals::name_of(signal.unwrap_or_default());
                let what = format!("lost process {process} to {name}");
                Cause::new(Error::new(Kind::Temporary, what))
            }
        }
    }
}
