//! One of the processes that `--processes` starts: how it meets the others, through the supervisor,
//! and how it goes when the supervisor is gone.
//!
//! A child writes the address it listens at as the first line of its stdout. When all have, the
//! supervisor answers with one line of JSON on stdin, an [`Introduction`], and keeps stdin open for
//! as long as it lives.

use std::io::{self, BufRead, Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::thread;

use dupsieve::{Error, Kind, Result};
use serde::{Deserialize, Serialize};

use crate::ending;

/// The longest introduction, in bytes.
const INTRODUCTION_BYTES: u64 = 1 << 20;

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
/// on the process ends with its supervisor.
pub(crate) fn meet() -> Result<(TcpListener, Introduction)> {
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
    thread::Builder::new().name("orphan".into()).spawn(end_with_supervisor).map_err(failed)?;
    Ok((listener, introduction))
}

fn end_with_supervisor() {
    let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
    ending::end(Err(orphaned()))
}

fn orphaned() -> Error {
    Error::new(Kind::Temporary, "the process that supervised this one is gone")
}
