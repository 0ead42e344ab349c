//! Signals: any that would end the process ends it with 75 and a summary line instead, from the
//! first moment on.

use std::fs;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use dupsieve::{Error, Kind, Result};
use rustix::fs::{OFlags, fcntl_setfl};
use signal_hook::consts::*;
use signal_hook::flag;
use signal_hook::iterator::Signals;
use signal_hook::low_level::{pipe, signal_name};

use crate::outcome::exit;

/// What ends a process that does not listen. SIGHUP is another case, and so are the signals that a
/// process causes itself.
const ENDING: [i32; 11] = [
    SIGTERM, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGXCPU,
    SIGABRT,
];

/// Memory that is given back when there is none left, so that the end can be told.
const RESERVE: usize = 1 << 20;

type Act = Box<dyn Fn(&'static str) + Send>;

/// What happens instead of the end.
static INSTEAD: Mutex<Option<Act>> = Mutex::new(None);

/// Starts to listen: from now on a signal ends the process cleanly.
pub(crate) fn listen() -> Result<()> {
    let failed = |cause| Error::system("cannot listen to signals", &cause);
    let hup = (!is_ignored(SIGHUP)).then_some(SIGHUP);
    let mut signals = Signals::new(ENDING.into_iter().chain(hup)).map_err(failed)?;
    // The write beyond the limit of a file's size fails as well, and its error names the file.
    flag::register(SIGXFSZ, Arc::default()).map_err(failed)?;
    hold_whoever_aborts().map_err(failed)?;
    let mut reserve = Some(vec![1_u8; RESERVE]);
    let hear = move || {
        for signal in signals.forever() {
            match signal {
                SIGABRT => {
                    reserve.take();
                    exit::end_without_memory()
                }
                _ => act(name_of(signal)),
            }
        }
    };
    thread::Builder::new().name("signals".into()).spawn(hear).map_err(failed)?;
    Ok(())
}

/// From now on calls `act` with the name of each signal; the process goes on.
pub(crate) fn instead(act: impl Fn(&'static str) + Send + 'static) {
    *INSTEAD.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(act));
}

fn act(name: &'static str) {
    match &*INSTEAD.lock().unwrap_or_else(PoisonError::into_inner) {
        Some(instead) => instead(name),
        None => exit::end(Err(interrupted(name))),
    }
}

/// The failure that a signal causes.
pub(crate) fn interrupted(name: &str) -> Error {
    Error::new(Kind::Temporary, format!("interrupted by {name}"))
}

/// What people call a signal.
pub(crate) fn name_of(signal: i32) -> &'static str {
    signal_name(signal).unwrap_or("an unnamed signal")
}

/// Whether the process was started with this signal ignored, as `nohup` does with SIGHUP.
fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Has a thread that aborts wait inside the handler of SIGABRT, where it writes to a pipe that is
/// full. The process would end otherwise as soon as the handler returns, before anything is told.
fn hold_whoever_aborts() -> io::Result<()> {
    let (reader, mut writer) = io::pipe()?;
    fcntl_setfl(&writer, OFlags::NONBLOCK)?;
    while writer.write(&[0; 4096]).is_ok() {}
    let same = writer.as_fd().try_clone_to_owned()?;
    pipe::register(SIGABRT, writer)?;
    fcntl_setfl(same, OFlags::empty())?;
    // The pipe is there as long as the process.
    std::mem::forget(reader);
    Ok(())
}
