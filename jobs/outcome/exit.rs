//! How the process ends: with one documented exit code and one summary, even if several threads fail at
//! once. The first thread to come here ends the process, and the others wait for it. If a disk or the
//! reader of stdout hangs meanwhile, the process ends without a summary after [`EXIT_TIMEOUT`].

use std::cell::Cell;
use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::panic;
use std::process;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Barrier, OnceLock};
use std::thread::{self, JoinHandle, Thread, ThreadId};
use std::time::Duration;

use dupsieve::catch_panic;
use dupsieve::flow::{lost_peer, start_was_given_up};
use dupsieve::{Error, Kind, Result};
use rustix::io::Errno;

use super::account;
use super::failure;
use super::identity;
use super::log;
use super::metrics_file;
use super::summary::{Summary, SummaryLine};
use super::terminal;

/// What the exit codes mean: a contract with scripts and orchestrators.
pub(crate) const CODES: &str = "\
Exit codes:
   0  done, or done already
   2  wrong usage: contradicting flags, or a path that cannot be used
  65  bad data: too many bad records, a damaged file, or more matches than allowed
  66  an input or a store is missing
  69  another process did not start or was refused, or an address is in use
  70  a defect in dupsieve
  73  the output exists already, made from other inputs or parameters
  74  reading or writing failed, or the disk is full
  75  temporary: lost another process, lock held, interrupted, no progress, or out of memory
  77  permission denied, or a limit on files reached
  78  wrong configuration file
Trying again may help after 69, 74 and 75, and once after 70.";

const EXIT_TIMEOUT: Duration = Duration::from_secs(10);

const ABORT_CHECK: Duration = Duration::from_secs(1);

/// The stack of a thread that ends the process, also where the others have less.
const STACK_BYTES: usize = 2 << 20;

static AUDIENCE: OnceLock<Audience> = OnceLock::new();
static ENDING_THREAD: OnceLock<ThreadId> = OnceLock::new();
/// The thread that ends the process when its report takes too long, and the exit code for that.
static WATCHDOG: OnceLock<Thread> = OnceLock::new();
static CODE: AtomicU8 = AtomicU8::new(0);
/// Whether a thread has aborted, as the standard library does when no memory is left or a stack overflows.
pub(crate) static ABORTED: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Whether a panic of this thread ends no more than what it is doing.
    static IS_CONTAINED: Cell<bool> = const { Cell::new(false) };
}

/// Who reads stdout. This decides what the process writes there when it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Audience {
    /// A program: one summary line, also after a failure.
    Program,
    /// A person at a terminal: sentences. A failure is written to stderr only.
    Person,
    /// The supervisor of this process: the summary line, with the sentences in it.
    Supervisor,
    /// Someone who asked a question: the answer and nothing else.
    Answer,
    /// Someone who asked for the answer as JSON: the answer, or the summary line after a failure.
    JsonAnswer,
}

impl Audience {
    /// Who reads the stdout of a job. `answers` says that the job prints an answer there, and `json`
    /// that `--json` was given.
    pub(crate) fn of_job(answers: bool, json: bool) -> Audience {
        match (answers, json) {
            (true, true) => Audience::JsonAnswer,
            (true, false) => Audience::Answer,
            (false, false) if io::stdout().is_terminal() => Audience::Person,
            (false, _) => Audience::Program,
        }
    }
}

pub(crate) fn set_audience(audience: Audience) {
    AUDIENCE.get_or_init(|| audience);
}

/// Who reads stdout; a program until something else is known.
pub(super) fn audience() -> Audience {
    AUDIENCE.get().copied().unwrap_or(Audience::Program)
}

/// Makes a panic in any thread end the process. Otherwise another thread could wait for the panicked one
/// for ever. The engine also panics when it loses a peer. What is [contained](contain) ends nothing else.
pub(crate) fn catch_panics() {
    let print = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        if catch_panic::is_called() {
            return;
        }
        if IS_CONTAINED.get() {
            return print(panic);
        }
        let message = panic.payload_as_str().unwrap_or("a panic without a message");
        if message.starts_with("failed printing to stdout") {
            // The reader has closed the pipe, as `head` does.
            end_with(None, Kind::Io.code());
        }
        if let Some(peer) = lost_peer(message) {
            end(Err(Error::new(Kind::Temporary, format!("lost {peer}")).called("peer-lost")));
        }
        if start_was_given_up(message) {
            let given_up = "the dataflow could not start, for want of memory or threads";
            end(Err(Error::new(Kind::Temporary, given_up)));
        }
        if let Some(cause) = system_limit(message) {
            end(Err(Error::system("a limit of the system is reached", &cause)));
        }
        print(panic);
        let place = panic.location().map_or(String::new(), |place| format!(" at {place}"));
        end(Err(Error::new(Kind::Internal, format!("a defect in dupsieve{place}: {message}"))
            .help("please report it together with the log")))
    }));
}

/// Does work for one of many requests: a panic is logged to stderr and ends this work, not the process.
///
/// The commit of a day by `serve` is not done so: a panic there ends the service. What the journal has in memory may not be
/// what it has on disk then; the next start reads it from the disk and finishes the day.
#[cfg(feature = "serve")]
pub(crate) fn contain<T>(work: impl FnOnce() -> T) -> thread::Result<T> {
    let was = IS_CONTAINED.replace(true);
    let done = panic::catch_unwind(panic::AssertUnwindSafe(work));
    IS_CONTAINED.set(was);
    done
}

/// The system error that a panic reports, if it is a limit on threads, files or memory.
fn system_limit(panic_message: &str) -> Option<io::Error> {
    let mut forms = ["Os { code: ", "(os error "].into_iter();
    let (_, number) = forms.find_map(|form| panic_message.split_once(form))?;
    let cause = io::Error::from_raw_os_error(number.split([',', ')']).next()?.parse().ok()?);
    let limits = [Errno::AGAIN, Errno::MFILE, Errno::NFILE, Errno::NOMEM];
    Errno::from_io_error(&cause).filter(|number| limits.contains(number)).map(|_| cause)
}

/// Ends the process with the outcome of its job. A failure is written to stderr, by a child's supervisor as its last line, and
/// to the report beside the output; what is written to stdout depends on the [`Audience`]. A run that another one has superseded
/// fails for that reason only, and writes no report, because the output now belongs to the other run.
pub(crate) fn end(outcome: Result<Summary>) -> ! {
    if outcome.as_ref().is_err_and(is_of_unread_stdout) {
        end_with(None, Kind::Io.code());
    }
    claim(code_of(&outcome));
    let superseded = outcome.as_ref().err().and_then(|_| identity::locks().superseded());
    let is_superseded = superseded.is_some();
    let outcome = outcome.map_err(|error| failure::in_flags(superseded.unwrap_or(error)));
    if let Err(error) = &outcome {
        if audience() != Audience::Supervisor {
            log::failure(&error.to_string(), &failure::shown(error));
        }
        let path = failure::take_place();
        if let Some(path) = path.filter(|_| !is_superseded) {
            // If the report cannot be written either, the failure itself matters more.
            let _ = failure::write(&path, error);
        }
    }
    let code = code_of(&outcome);
    exit(Some(SummaryLine::of(identity::job(), outcome)), code)
}

/// Whether an answer could not be written because its reader has closed the pipe, as `head` does. That needs no message.
fn is_of_unread_stdout(error: &Error) -> bool {
    *error == Error::io("stdout", &Errno::PIPE.into())
}

fn code_of(outcome: &Result<Summary>) -> u8 {
    outcome.as_ref().map_or_else(|error| error.kind().code(), |_| 0)
}

/// Ends the process with `code`, and with the summary line of a child.
pub(crate) fn end_with(line: Option<SummaryLine>, code: u8) -> ! {
    claim(code);
    if let Some((error, shown)) = line.as_ref().and_then(SummaryLine::failure) {
        log::failure(error, shown);
    }
    exit(line, code)
}

/// Starts a thread and returns when it runs. The first thing that a thread does is to take memory for itself; if there is
/// none it panics or aborts, which must not happen after its work has been counted on.
pub(crate) fn start_thread(
    name: &str,
    work: impl FnOnce() + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    let runs = Arc::new(Barrier::new(2));
    let told = runs.clone();
    let builder = thread::Builder::new().name(name.into()).stack_size(STACK_BYTES);
    let thread = builder.spawn(move || {
        told.wait();
        work();
    })?;
    runs.wait();
    Ok(thread)
}

/// Starts the thread that ends the process after [`EXIT_TIMEOUT`]. Later the system may have no thread left.
///
/// It also ends a process that has aborted where nobody ends it: the thread that should may have aborted itself.
pub(crate) fn prepare() -> Result<()> {
    let wait = || {
        while CODE.load(Ordering::Acquire) == 0 && !ABORTED.load(Ordering::Acquire) {
            thread::park_timeout(ABORT_CHECK);
        }
        match CODE.load(Ordering::Acquire) {
            0 => give_up(Kind::Temporary.code()),
            code => give_up(code),
        }
    };
    let thread = start_thread("exit-timeout", wait)
        .map_err(|cause| Error::system("cannot start a thread", &cause))?;
    WATCHDOG.get_or_init(|| thread.thread().clone());
    Ok(())
}

/// Returns only once in the life of a process, which then ends with `code`. A success may wait for the
/// reader of stdout; a failure, or a signal meanwhile, does not.
pub(super) fn claim(code: u8) {
    let this = thread::current().id();
    match ENDING_THREAD.set(this) {
        Ok(()) => {
            CODE.store(code, Ordering::Release);
            WATCHDOG.get().into_iter().for_each(Thread::unpark);
        }
        // A panic while the process ends.
        Err(again) if ENDING_THREAD.get() == Some(&again) => leave(Kind::Internal.code()),
        Err(_) => give_up(code),
    }
}

fn give_up(code: u8) -> ! {
    thread::sleep(EXIT_TIMEOUT);
    leave(code)
}

/// Ends the process at once, whatever its other threads do. [`process::exit`] waits for a lock of the standard library,
/// which a thread keeps once its stack has overflowed, and for another thread that is in it.
pub(super) fn leave(code: u8) -> ! {
    signal_hook::low_level::exit(code.into())
}

/// Ends the process with `code`, or another one if its summary cannot be written. The locks that it still holds go with it.
pub(super) fn exit(line: Option<SummaryLine>, code: u8) -> ! {
    let code = line.map_or(code, |line| tell(line, code));
    identity::locks().end();
    process::exit(code.into())
}

/// Writes to stdout without its lock, which a stopped thread may hold. The reader of stdout may have closed
/// it; if writing fails for another reason, a success becomes a failure, because nobody has learnt of
/// it. The same command, run again, finds its output done and says so.
fn tell(mut line: SummaryLine, mut code: u8) -> u8 {
    let account = line.account.take().unwrap_or_else(account::so_far);
    if audience() == Audience::Supervisor {
        line.account = Some(account.clone());
    }
    let text = text_for(audience(), &mut line);
    if let Err(cause) = write_all(io::stdout(), text.as_bytes())
        && code == 0
        && cause.kind() != io::ErrorKind::BrokenPipe
    {
        let error = Error::io("stdout", &cause);
        log::failure(&error.to_string(), &failure::shown(&error));
        code = error.kind().code();
    }
    metrics_file::write(&line, code, &account);
    code
}

/// What is written to stdout at the end. Sentences that are not written there are logged.
pub(super) fn text_for(audience: Audience, line: &mut SummaryLine) -> String {
    match audience {
        Audience::Answer => String::new(),
        Audience::JsonAnswer if line.code == 0 => String::new(),
        Audience::Person => {
            line.take_sentences().iter().map(|sentence| terminal::shown(sentence) + "\n").collect()
        }
        Audience::Supervisor => line.to_json() + "\n",
        Audience::Program | Audience::JsonAnswer => {
            line.shown = None;
            let sentences = std::mem::take(&mut line.sentences);
            sentences.iter().for_each(|sentence| tracing::info!("{sentence}"));
            line.to_json() + "\n"
        }
    }
}

/// Writes all of `bytes` to `stream`, without taking a lock.
pub(super) fn write_all(stream: impl AsFd, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match rustix::io::write(&stream, bytes) {
            Err(Errno::INTR) => {}
            written => bytes = &bytes[written?..],
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_about_a_limit_of_the_system_is_not_a_defect() {
        let panics = |number: Errno| {
            let cause = io::Error::from_raw_os_error(number.raw_os_error());
            [format!("failed to spawn thread: {cause:?}"), format!("failed to allocate: {cause}")]
        };
        for number in [Errno::AGAIN, Errno::MFILE, Errno::NOMEM] {
            for panic in panics(number) {
                let cause = system_limit(&panic).unwrap();
                assert_eq!(Errno::from_io_error(&cause), Some(number));
            }
        }
        assert!(panics(Errno::BADF).iter().all(|panic| system_limit(panic).is_none()));
        assert!(
            system_limit("index out of bounds: Os { code: ").is_none()
                && system_limit("").is_none()
        );
    }
}
