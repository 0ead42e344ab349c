//! One of the processes that `--processes` starts: how it meets the others, through the supervisor,
//! and how it goes when the supervisor is gone.
//!
//! A child writes the address it listens at as the first line of its stdout. When all have, the
//! supervisor answers with one line of JSON on stdin, an [`Introduction`]. From then on both write a
//! [`PULSE`] every second or so, by which each knows that the other is neither gone nor frozen.

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

/// What is written as a sign of life.
pub(crate) const PULSE: &str = "alive";

/// The longest introduction, in bytes.
const INTRODUCTION_BYTES: u64 = 1 << 20;

/// How long the pause between two signs of life is, where `silence` counts as death.
pub(crate) fn pause(silence: Duration) -> Duration {
    Duration::from_secs(1).min(silence / 8)
}

/// All that the processes need to find and to trust each other.
#[derive(Serialize, Deserialize)]
pub(crate) struct Introduction {
    /// Where each process listens.
    pub(crate) hosts: Vec<String>,
    /// What they alone know, of this run alone.
    pub(crate) secret: String,
}

/// Has the system end this process when its supervisor dies, before they have met.
pub(crate) fn die_with_parent() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Signal, set_parent_process_death_signal};
        // Where it is not allowed, the end of stdin still tells.
        let _ = set_parent_process_death_signal(Some(Signal::TERM));
    }
}

/// Tells the supervisor where this process listens and hears from it who the others are. From then
/// on the process ends with its supervisor, or when that has been silent for half as long as
/// `silence`: there is no network between them.
pub(crate) fn meet(silence: Duration) -> Result<(TcpListener, Introduction)> {
    let failed = |cause: io::Error| {
        Error::new(Kind::Temporary, format!("cannot meet the other processes: {cause}"))
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
    writeln!(io::stdout(), "{}", listener.local_addr().map_err(failed)?).map_err(failed)?;
    let mut line = String::new();
    io::stdin().lock().take(INTRODUCTION_BYTES).read_line(&mut line).map_err(failed)?;
    if line.is_empty() {
        return Err(orphaned());
    }
    let introduction = serde_json::from_str(&line).map_err(|cause| failed(cause.into()))?;
    let stdout = File::from(io::stdout().as_fd().try_clone_to_owned().map_err(failed)?);
    let (hear, heard) = mpsc::channel();
    let spawn = |name: &str, act: Box<dyn FnOnce() + Send>| {
        thread::Builder::new().name(name.into()).spawn(act).map(drop).map_err(failed)
    };
    spawn("pulse", Box::new(move || send_pulses(stdout, pause(silence))))?;
    spawn("supervisor", Box::new(move || hear_pulses(|| hear.send(()).is_ok())))?;
    spawn("orphan", Box::new(move || end_with_supervisor(&heard, silence)))?;
    Ok((listener, introduction))
}

/// Writes past the lock of stdout, so that nobody can hold it up.
fn send_pulses(mut stdout: File, pause: Duration) {
    let pulse = format!("{PULSE}\n");
    while stdout.write_all(pulse.as_bytes()).is_ok() {
        thread::sleep(pause);
    }
}

fn hear_pulses(hear: impl Fn() -> bool) {
    let mut some = [0; 64];
    while io::stdin().lock().read(&mut some).is_ok_and(|read| read > 0) && hear() {}
}

/// Time that this process was stopped itself does not count: it is measured in pulses missed.
fn end_with_supervisor(heard: &Receiver<()>, silence: Duration) {
    let (pause, mut waited) = (pause(silence), Duration::ZERO);
    while waited < silence / 2 {
        match heard.recv_timeout(pause) {
            Ok(()) => waited = Duration::ZERO,
            Err(RecvTimeoutError::Timeout) => waited += pause,
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    exit::end(Err(orphaned()))
}

fn orphaned() -> Error {
    Error::new(Kind::Temporary, "the process that supervised this one is gone")
}
