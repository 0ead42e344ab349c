//! How the process ends when a thread of it aborts. The standard library aborts when no memory is left, and when the
//! stack of a thread overflows; it says so on stderr.
//!
//! What is reported then was made beforehand, because threads that still run may use up any memory that is freed.

#[cfg(target_os = "linux")]
use std::ffi::CStr;
use std::io;
use std::sync::OnceLock;

use dupsieve::{Error, Kind};

use super::account;
use super::exit::{Audience, audience, claim, exit, leave, text_for, write_all};
use super::failure;
use super::identity;
use super::log;
use super::metrics_file;
use super::summary::SummaryLine;

/// About how much memory is needed to write the report of a failure.
const REPORT_BYTES: usize = 1 << 16;

/// More memory than a stack that is used as usual grows by.
const GROWTH_BYTES: usize = 1 << 22;

/// What to report, by the place in [`Abort::ALL`]: the text for stderr, and the one for stdout.
static REPORTS: OnceLock<[[String; 2]; 2]> = OnceLock::new();

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Abort {
    /// Most likely no memory was left.
    NoMemory,
    Overflow,
}

impl Abort {
    const ALL: [Abort; 2] = [Abort::NoMemory, Abort::Overflow];

    /// Why a thread of this process has aborted, which still waits in the handler of SIGABRT. This keeps no memory.
    pub(crate) fn found() -> Abort {
        if has_overflowed() && has_room() { Abort::Overflow } else { Abort::NoMemory }
    }

    fn kind(self) -> Kind {
        match self {
            Abort::NoMemory => Kind::Temporary,
            Abort::Overflow => Kind::Internal,
        }
    }

    pub(crate) fn error(self) -> Error {
        match self {
            Abort::NoMemory => {
                Error::new(self.kind(), "aborted, most likely because memory ran out")
                    .called("out-of-memory")
                    .help("free some memory, or lower --memory or --workers")
            }
            Abort::Overflow => {
                Error::new(self.kind(), "a defect in dupsieve: the stack of a thread overflowed")
                    .help("please report it together with the log and the pages that were read")
            }
        }
    }
}

/// Makes what is reported after an abort, now that the job and its audience are known.
pub(crate) fn prepare() {
    REPORTS.get_or_init(|| {
        Abort::ALL.map(|abort| {
            let error = abort.error();
            // What a child writes to stdout, its supervisor writes to stderr.
            let told = audience() == Audience::Supervisor;
            let shown = failure::shown(&error);
            let line = match told {
                true => String::new(),
                false => log::failure_text(&error.to_string(), &shown, None),
            };
            [line, text_for(audience(), &mut SummaryLine::of(identity::job(), Err(error)))]
        })
    });
}

/// Ends the process after an abort. The report of the failure needs some memory: it is written last, and left out if
/// there is none.
pub(crate) fn end(abort: Abort) -> ! {
    let code = abort.kind().code();
    // First, so that the process ends in time even if what follows finds no memory either.
    claim(code);
    let Some(reports) = REPORTS.get() else {
        let error = abort.error();
        log::failure(&error.to_string(), &failure::shown(&error));
        exit(Some(SummaryLine::of(identity::job(), Err(error))), code)
    };
    let [sentence, summary] = &reports[abort as usize];
    let _ = write_all(io::stderr(), sentence.as_bytes());
    let _ = write_all(io::stdout(), summary.as_bytes());
    if let Some(path) = failure::take_place()
        && Vec::<u8>::new().try_reserve_exact(REPORT_BYTES).is_ok()
        && identity::locks().superseded().is_none()
    {
        let _ = failure::write(&path, &abort.error());
    }
    if Vec::<u8>::new().try_reserve_exact(REPORT_BYTES).is_ok() {
        let line = SummaryLine::of(identity::job(), Err(abort.error()));
        metrics_file::write(&line, code, &account::so_far());
    }
    leave(code)
}

/// Whether there is memory by which a stack could have grown. The stack of the first thread grows as it is used, and overflows where memory
/// has run out.
fn has_room() -> bool {
    Vec::<u8>::new().try_reserve_exact(GROWTH_BYTES).is_ok()
}

/// Whether a thread has found that its stack overflowed. The standard library finds that in its handler of SIGSEGV: while
/// a thread is there, this signal is blocked. A thread that is being started has all signals blocked, SIGBUS too, which
/// the handler leaves alone.
#[cfg(target_os = "linux")]
fn has_overflowed() -> bool {
    use std::mem::MaybeUninit;

    use rustix::cstr;
    use rustix::fs::{Mode, OFlags, RawDir, open};

    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(threads) = open(cstr!("/proc/self/task"), flags, Mode::empty()) else { return false };
    let mut room = [MaybeUninit::uninit(); 4096];
    let mut entries = RawDir::new(&threads, &mut room);
    while let Some(Ok(entry)) = entries.next() {
        if handles_fault(&threads, entry.file_name()).unwrap_or(false) {
            return true;
        }
    }
    false
}

/// Whether a thread has SIGSEGV blocked and SIGBUS not, as its `status` says.
#[cfg(target_os = "linux")]
fn handles_fault(threads: impl std::os::fd::AsFd, thread: &CStr) -> rustix::io::Result<bool> {
    use rustix::cstr;
    use rustix::fs::{Mode, OFlags, openat};
    use rustix::process::Signal;

    let folder = openat(threads, thread, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    let status = openat(folder, cstr!("status"), OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    let mut room = [0; 4096];
    let len = rustix::io::read(status, &mut room)?;
    let text = str::from_utf8(&room[..len]).unwrap_or_default();
    let blocked = text.lines().find_map(|line| line.strip_prefix("SigBlk:"));
    let blocked = blocked.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    let has = |mask: u64, signal: Signal| mask >> (signal.as_raw() - 1) & 1 == 1;
    Ok(blocked.is_some_and(|mask| has(mask, Signal::SEGV) && !has(mask, Signal::BUS)))
}

/// Other systems do not show it.
#[cfg(not(target_os = "linux"))]
fn has_overflowed() -> bool {
    false
}
