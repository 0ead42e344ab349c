//! The processes that `--processes` starts, for one attempt at the job: introduced to each other,
//! watched, and ended together. What becomes of them is the first cause: the first failure that is
//! not the loss of another process.

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

use crate::processes::child::{self, Introduction, PULSE};
use crate::processes::signals;

/// How long the parent sleeps between two looks at its children.
const GLANCE: Duration = Duration::from_millis(20);
/// How long the others may take to notice a failure before they are asked to end.
const GRACE: Duration = Duration::from_secs(2);
/// How long they may take to end before they are killed.
const PRESSURE: Duration = Duration::from_secs(3);
/// How long the system may take to end one that was killed, before it is left to itself.
const PARTING: Duration = Duration::from_secs(1);

/// The children and what has become of them.
pub(crate) struct Crew {
    members: Vec<Member>,
    readers: Vec<JoinHandle<()>>,
    patience: Patience,
    /// When all must have said where they listen, until they have.
    start_by: Option<Instant>,
    looked: Instant,
    pulsed: Instant,
    causes: Vec<Cause>,
    interrupted: bool,
    ask_at: Option<Instant>,
    kill_at: Option<Instant>,
    leave_at: Option<Instant>,
}

struct Member {
    child: Child,
    stdin: ChildStdin,
    address: Option<String>,
    summary: Option<String>,
    ended: Option<ExitStatus>,
    /// How long it has given no sign of life. Time that this process was stopped does not count.
    silent: Duration,
}

/// What happens to a crew.
pub(crate) enum Event {
    /// A process wrote a line.
    Line(usize, Vec<u8>),
    /// Somebody sent this signal.
    Signal(&'static str),
}

/// How an attempt ended.
pub(crate) struct Verdict {
    /// The summary of the process whose end it was, if it wrote one.
    pub(crate) summary: Option<String>,
    /// The exit code.
    pub(crate) code: u8,
    /// The failure in the supervisor's words.
    pub(crate) error: Error,
    /// Whether there must be no other attempt: somebody wanted the end, or a process is still there.
    pub(crate) is_final: bool,
}

impl Verdict {
    /// Somebody wanted the end.
    pub(crate) fn interrupted(signal: &str) -> Verdict {
        let error = signals::interrupted(signal);
        Verdict { summary: None, code: error.kind().code(), error, is_final: true }
    }

    /// Why the attempt failed, in the words of the process that knows best.
    pub(crate) fn reason(&self) -> String {
        let told =
            self.summary.as_deref().and_then(|told| serde_json::from_str::<Value>(told).ok());
        let told = told.as_ref().and_then(|told| told["error"].as_str());
        told.map_or_else(|| self.error.to_string(), str::to_owned)
    }
}

/// Why the run fails, in the supervisor's words, and whose summary may say it better.
struct Cause {
    error: Error,
    member: Option<usize>,
    code: u8,
}

impl Crew {
    /// Starts the children, each of which must say where it listens in time. They die with the thread
    /// that starts them, so it must be the main one.
    pub(crate) fn start(
        processes: usize,
        patience: Patience,
        events: &Sender<Event>,
    ) -> Result<Crew> {
        let failed = |cause: io::Error| {
            Error::system(format_args!("cannot start {processes} processes"), &cause)
        };
        let (mut members, mut readers) = (Vec::new(), Vec::new());
        for process in 0..processes {
            let (member, stdout) = Member::start(process).map_err(failed)?;
            let sender = events.clone();
            members.push(member);
            readers.push(thread::spawn(move || read_lines(process, stdout, &sender)));
        }
        let now = Instant::now();
        Ok(Crew {
            members,
            readers,
            patience,
            start_by: Some(now + patience.arrival),
            looked: now,
            pulsed: now,
            causes: Vec::new(),
            interrupted: false,
            ask_at: None,
            kill_at: None,
            leave_at: None,
        })
    }

    /// Watches the children until none is left that can be ended.
    pub(crate) fn watch(mut self, events: &Receiver<Event>) -> Verdict {
        while self.members.iter().any(|member| member.ended.is_none()) && !self.given_up() {
            if let Ok(event) = events.recv_timeout(GLANCE) {
                self.take(event);
            }
            self.reap();
            self.introduce();
            self.pulse();
            self.press();
        }
        let readers = std::mem::take(&mut self.readers);
        for (reader, member) in readers.into_iter().zip(&self.members) {
            if member.ended.is_some() {
                let _ = reader.join();
            }
        }
        while let Ok(event) = events.try_recv() {
            self.take(event);
        }
        self.verdict()
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Line(process, line) => self.members[process].said(line, process == 0),
            Event::Signal(name) => {
                self.interrupted = true;
                self.blame(Cause::new(signals::interrupted(name), None));
                self.ask_at = self.kill_at.is_none().then(Instant::now);
            }
        }
    }

    /// Notices who ended, and how.
    fn reap(&mut self) {
        for process in 0..self.members.len() {
            let member = &mut self.members[process];
            if member.ended.is_some() {
                continue;
            }
            member.ended = member.child.try_wait().ok().flatten();
            if let Some(status) = member.ended.filter(|status| !status.success()) {
                self.blame(Cause::of_end(process, status));
            }
        }
    }

    /// Introduces the children to each other once all listen; gives up if one never does.
    fn introduce(&mut self) {
        let Some(start_by) = self.start_by else { return };
        let hosts: Vec<_> = self.members.iter().filter_map(|m| m.address.clone()).collect();
        if hosts.len() == self.members.len() {
            self.start_by = None;
            let secret = rand::random::<[u128; 2]>().map(|half| format!("{half:032x}")).concat();
            let introduction = Introduction { hosts, secret };
            let line = serde_json::to_string(&introduction).expect("strings alone") + "\n";
            self.members.iter_mut().for_each(|member| member.tell(&line));
        } else if start_by < Instant::now() {
            let late = self.members.iter().position(|member| member.address.is_none());
            let who = late.unwrap_or_default();
            let what = format!("process {who} did not start in time");
            let error = Error::new(Kind::Unavailable, what);
            self.blame(Cause::new(error, None));
        }
    }

    /// Gives the children that know each other signs of life, and misses theirs.
    fn pulse(&mut self) {
        let silence = self.patience.silence;
        let pause = child::pause(silence);
        let lived = self.looked.elapsed().min(pause);
        self.looked = Instant::now();
        if self.start_by.is_some() || !self.causes.is_empty() {
            return;
        }
        if self.pulsed.elapsed() >= pause {
            self.pulsed = Instant::now();
            self.members.iter_mut().for_each(|member| member.tell("\n"));
        }
        for process in 0..self.members.len() {
            let member = &mut self.members[process];
            member.silent += lived;
            if member.ended.is_none() && member.silent > silence {
                let silence = silence.as_secs_f32();
                let what =
                    format!("lost process {process}, which gave no sign of life for {silence} s");
                self.blame(Cause::new(Error::new(Kind::Temporary, what), None));
            }
        }
    }

    /// Notes a cause. After the first, those that remain have a moment to end by themselves, if
    /// they know each other and so can notice.
    fn blame(&mut self, cause: Cause) {
        if self.causes.is_empty() {
            let strangers = self.start_by.take().is_some();
            self.ask_at = Some(Instant::now() + if strangers { Duration::ZERO } else { GRACE });
        }
        self.causes.push(cause);
    }

    /// Asks those that remain to end, and later makes them.
    fn press(&mut self) {
        let now = Instant::now();
        let remaining = self.members.iter_mut().filter(|member| member.ended.is_none());
        if self.ask_at.take_if(|at| *at <= now).is_some() {
            self.kill_at = Some(now + PRESSURE);
            for member in remaining {
                let _ = kill_process(Pid::from_child(&member.child), Signal::TERM);
            }
        } else if self.kill_at.is_some_and(|at| at <= now) {
            self.leave_at.get_or_insert(now + PARTING);
            for member in remaining {
                let _ = member.child.kill();
            }
        }
    }

    /// Whether one that was killed is still there, as on a disk that answers no more.
    fn given_up(&self) -> bool {
        self.leave_at.is_some_and(|at| at <= Instant::now())
    }

    /// The summary line and the exit code of the attempt: process 0's if all went well, else those of
    /// the first cause.
    fn verdict(mut self) -> Verdict {
        let well = |member: &Member| member.ended.is_some_and(|status| status.success());
        let is_final = self.interrupted || self.members.iter().any(|member| member.ended.is_none());
        let cause = if self.members.iter().all(well) {
            let error = Error::new(Kind::Internal, "process 0 ended without a summary");
            Cause { error, member: Some(0), code: 0 }
        } else {
            let lost = Kind::Temporary.code();
            let first = self.causes.iter().position(|cause| cause.code != lost).unwrap_or(0);
            self.causes.swap_remove(first)
        };
        let summary = cause.member.and_then(|process| self.members[process].summary.take());
        Verdict { summary, code: cause.code, error: cause.error, is_final }
    }
}

impl Member {
    /// Starts a copy of this program, with the same arguments, as the given process.
    fn start(process: usize) -> io::Result<(Member, ChildStdout)> {
        let mut child = Command::new(env::current_exe()?)
            .args(["--child", &process.to_string()])
            .args(env::args_os().skip(1))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let (stdin, stdout) = stdin.zip(stdout).expect("both were asked for");
        let (address, summary, ended, silent) = (None, None, None, Duration::ZERO);
        Ok((Member { child, stdin, address, summary, ended, silent }, stdout))
    }

    /// Writes to the child's stdin. Whoever does not read it any more has ended, which is noticed.
    fn tell(&mut self, line: &str) {
        let _ = self.stdin.write_all(line.as_bytes());
    }

    /// Takes a line of the child's stdout: a sign of life, its address, its summary, or something to
    /// pass on.
    fn said(&mut self, line: Vec<u8>, pass_on: bool) {
        self.silent = Duration::ZERO;
        let text = String::from_utf8_lossy(&line);
        if text == PULSE {
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

impl Cause {
    fn new(error: Error, member: Option<usize>) -> Cause {
        let code = error.kind().code();
        Cause { error, member, code }
    }

    /// What it means that a child did not end well.
    fn of_end(process: usize, status: ExitStatus) -> Cause {
        match (status.code(), status.signal()) {
            (Some(code), _) => {
                let what = format!("process {process} ended with code {code} and no summary");
                let code = u8::try_from(code).unwrap_or(Kind::Internal.code());
                Cause { error: Error::new(Kind::Internal, what), member: Some(process), code }
            }
            (None, signal) => {
                let name = signals::name_of(signal.unwrap_or_default());
                let what = format!("lost process {process} to {name}");
                Cause::new(Error::new(Kind::Temporary, what), None)
            }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::summary::{Summary, Told};

    #[test]
    fn a_summary_is_told_from_other_lines() {
        let told = Told::of("dedup", Ok(Summary::new().count("matches", 3)));
        assert!(is_summary(&told.line()));
        for line in ["", "127.0.0.1:2101", "{", "{}", "{\"code\": 1}", "[\"job\"]"] {
            assert!(!is_summary(line), "{line}");
        }
    }

    #[test]
    fn a_killed_child_counts_as_a_lost_process() {
        let killed = Cause::of_end(1, ExitStatus::from_raw(9));
        assert_eq!((killed.code, killed.member), (75, None));
        assert_eq!(killed.error.to_string(), "lost process 1 to SIGKILL");
        let failed = Cause::of_end(1, ExitStatus::from_raw(65 << 8));
        assert_eq!((failed.code, failed.member), (65, Some(1)));
    }
}
