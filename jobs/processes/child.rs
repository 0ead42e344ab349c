//! The child's side of `--processes`: how it meets the other children, and how it ends when the
//! supervisor is gone.
//!
//! The first line that a child writes to stdout is the address it listens at. Once all children have
//! written theirs, the supervisor sends each of them an [`Introduction`] on stdin, one line of JSON.
//! From then on both sides write a [`HEARTBEAT`] about every second, so that each notices when the other
//! is gone or frozen.

use std::fs::File;
use std::io::{self, BufRead, Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::AsFd;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use dupsieve::{Error, Kind, Result};
use serde::{Deserialize, Serialize};

use crate::outcome::exit;

/// The line that a child writes as a sign of life.
pub(crate) const HEARTBEAT: &str = "alive";

const MAX_INTRODUCTION_BYTES: u64 = 1 << 20;

/// The time between two heartbeats, if a process counts as lost after `silence`.
pub(crate) fn heartbeat_interval(silence: Duration) -> Duration {
    Duration::from_secs(1).min(silence / 8)
}

/// What the children need to find each other and to trust each other.
#[derive(Serialize, Deserialize)]
pub(crate) struct Introduction {
    pub(crate) hosts: Vec<String>,
    pub(crate) secret: String,
}

/// Tells the system to end this process when its supervisor dies. This covers the time before they
/// exchange heartbeats.
pub(crate) fn die_with_parent() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Signal, set_parent_process_death_signal};
        // If this is not allowed, the end of stdin still shows that the supervisor is gone.
        let _ = set_parent_process_death_signal(Some(Signal::TERM));
    }
}

/// Tells the supervisor where this process listens, and learns from it who the others are. From then on
/// this process ends when the supervisor ends, or when it has been silent for half of `silence`: no
/// network lies between them, so half is enough.
pub(crate) fn meet(silence: Duration) -> Result<(TcpListener, Introduction)> {
    let failed = |cause: io::Error| {
        Error::new(Kind::Temporary, format!("cannot meet the other processes: {cause}"))
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
    writeln!(io::stdout(), "{}", listener.local_addr().map_err(failed)?).map_err(failed)?;
    let mut line = String::new();
    io::stdin().lock().take(MAX_INTRODUCTION_BYTES).read_line(&mut line).map_err(failed)?;
    if line.is_empty() {
        return Err(orphaned());
    }
    let introduction = serde_json::from_str(&line).map_err(|cause| failed(cause.into()))?;
    let stdout = File::from(io::stdout().as_fd().try_clone_to_owned().map_err(failed)?);
    let (sender, heartbeats) = mpsc::channel();
    let spawn = |name: &str, act: Box<dyn FnOnce() + Send>| {
        thread::Builder::new().name(name.into()).spawn(act).map(drop).map_err(failed)
    };
    let interval = heartbeat_interval(silence);
    spawn("heartbeat", Box::new(move || send_heartbeats(stdout, interval)))?;
    spawn("supervisor", Box::new(move || read_heartbeats(|| sender.send(()).is_ok())))?;
    spawn("orphan", Box::new(move || end_with_supervisor(&heartbeats, silence)))?;
    Ok((listener, introduction))
}

/// `stdout` is a copy of its own, so that a thread that holds the lock of stdout cannot delay a
/// heartbeat.
fn send_heartbeats(mut stdout: File, interval: Duration) {
    let line = format!("{HEARTBEAT}\n");
    while stdout.write_all(line.as_bytes()).is_ok() {
        thread::sleep(interval);
    }
}

fn read_heartbeats(report: impl Fn() -> bool) {
    let mut buffer = [0; 64];
    while io::stdin().lock().read(&mut buffer).is_ok_and(|read| read > 0) && report() {}
}

/// Silence is counted in missed heartbeats, so that time during which this process itself was stopped
/// does not count.
fn end_with_supervisor(heartbeats: &Receiver<()>, silence: Duration) {
    let interval = heartbeat_interval(silence);
    let mut waited = Duration::ZERO;
    while waited < silence / 2 {
        match heartbeats.recv_timeout(interval) {
            Ok(()) => waited = Duration::ZERO,
            Err(RecvTimeoutError::Timeout) => waited += interval,
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    exit::end(Err(orphaned()))
}

fn orphaned() -> Error {
    Error::new(Kind::Temporary, "lost the supervisor: the process that started this one is gone")
}
