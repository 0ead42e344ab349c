//! Signals: one that would kill the process makes it exit with code 75 and a summary line instead.

use std::fs;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use dupsieve::parallel::lock;
use dupsieve::{Error, Kind, Result};
use rustix::fs::{OFlags, fcntl_setfl};
use signal_hook::consts::*;
use signal_hook::flag;
use signal_hook::iterator::Signals;
use signal_hook::low_level::{pipe, signal_name};

use crate::outcome::abort::Abort;
use crate::outcome::{abort, exit};

/// The signals that kill a process that does not handle them. SIGHUP is handled apart, and so are the
/// signals that a process causes itself.
const DEADLY: [i32; 11] = [
    SIGTERM, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGXCPU,
    SIGABRT,
];

/// Memory that is freed when none is left, so that the failure can be reported.
const RESERVE_BYTES: usize = 1 << 20;

static STARTS: AtomicBool = AtomicBool::new(true);

type Handler = Box<dyn Fn(&'static str) + Send>;

/// What a signal does instead of ending the process.
static HANDLER: Mutex<Option<Handler>> = Mutex::new(None);

pub(crate) fn listen() -> Result<()> {
    let failed = |cause| Error::system("cannot listen for signals", &cause);
    let hup = (!is_ignored(SIGHUP)).then_some(SIGHUP);
    let mut signals = Signals::new(DEADLY.into_iter().chain(hup)).map_err(failed)?;
    let mut reserve = Some(reserve()?);
    let listen = move || {
        for signal in signals.forever() {
            match signal {
                SIGABRT => {
                    let abort = Abort::found();
                    reserve.take();
                    abort::end(abort)
                }
                _ => handle(name_of(signal)),
            }
        }
    };
    exit::start_thread("signals", listen).map_err(failed)?;
    flag::register(SIGABRT, &exit::ABORTED).map_err(failed)?;
    // After the start of the thread that listens, because a thread that aborts waits for that one.
    block_in_abort().map_err(failed)?;
    STARTS.store(false, Ordering::SeqCst);
    // Ignored, because the write that exceeds the limit of a file's size also fails, and that error names the file.
    // Registered last: whoever sees that the process catches SIGXFSZ knows that the process listens for every signal.
    flag::register(SIGXFSZ, Arc::default()).map_err(failed)?;
    Ok(())
}

/// Until [`listen`] is done, a thread that aborts, as it does when no memory is left, ends the process at once, without a summary.
pub(crate) fn end_if_aborted() -> Result<()> {
    let code = Abort::NoMemory.error().kind().code();
    flag::register_conditional_shutdown(SIGABRT, code.into(), &STARTS)
        .map_err(|cause| Error::system("cannot handle signals", &cause))?;
    Ok(())
}

/// Memory that is really there, not just promised.
fn reserve() -> Result<Vec<u8>> {
    let mut reserve = Vec::new();
    reserve.try_reserve_exact(RESERVE_BYTES).map_err(|_| Abort::NoMemory.error())?;
    reserve.resize(RESERVE_BYTES, 1);
    Ok(reserve)
}

/// From now on a signal no longer ends the process but calls `handler` with the signal's name.
pub(crate) fn handle_with(handler: impl Fn(&'static str) + Send + 'static) {
    *lock(&HANDLER) = Some(Box::new(handler));
}

fn handle(name: &'static str) {
    match &*lock(&HANDLER) {
        Some(handler) => handler(name),
        None => exit::end(Err(interrupted(name))),
    }
}

pub(crate) fn interrupted(name: &str) -> Error {
    Error::new(Kind::Temporary, format!("interrupted by {name}")).called("interrupted")
}

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

/// Makes a thread that aborts wait inside the handler of SIGABRT, where it writes to a full pipe.
/// Otherwise the process would end as soon as the handler returns, before the failure is reported.
fn block_in_abort() -> io::Result<()> {
    let (reader, mut writer) = io::pipe()?;
    fcntl_setfl(&writer, OFlags::NONBLOCK)?;
    while writer.write(&[0; 4096]).is_ok() {}
    let same = writer.as_fd().try_clone_to_owned()?;
    pipe::register(SIGABRT, writer)?;
    fcntl_setfl(same, OFlags::empty())?;
    // Keep the pipe open until the process ends.
    std::mem::forget(reader);
    Ok(())
}
