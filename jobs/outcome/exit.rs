//! How the process ends: with one documented exit code and one summary, whatever happens in
//! however many threads at once. The first to come here ends it; the others wait for that, but not
//! for longer than a disk or a reader that answers no more may take: then it ends without a word.

use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::panic;
use std::process;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread::{self, Thread, ThreadId};
use std::time::Duration;

use dupsieve::flow::lost_peer;
use dupsieve::output;
use dupsieve::{Error, Kind, Result};
use rustix::io::Errno;

use super::failure;
use super::summary::{Summary, Told};

/// What the exit codes mean: a contract with scripts and orchestrators.
pub(crate) const CODES: &str = "\
Exit codes:
   0  done, or done already
   2  the command line asks for something that cannot be done, or names an impossible path
  65  bad data: input over the threshold, a damaged file, more matches than allowed
  66  an input or a store is missing
  69  another process never came or was refused, or an address is taken
  70  a defect of dupsieve
  73  the output exists, made of other inputs or parameters
  74  reading or writing failed, or the disk is full
  75  temporary: another process was lost, a lock is held, interrupted, no progress, no memory
  77  not permitted, or a limit of the system on files is reached
  78  the configuration is wrong
69, 74 and 75 may go better the next time, 70 once.";

/// How long a process may take to say how it ended.
const LAST_WORDS: Duration = Duration::from_secs(10);

/// About how much memory it takes to write the report of a failure.
const REPORT_BYTES: usize = 1 << 16;

static JOB: OnceLock<String> = OnceLock::new();
static READER: OnceLock<Reader> = OnceLock::new();
static ENDING: OnceLock<ThreadId> = OnceLock::new();
/// Who ends the process when its last words take too long, and with what code.
static IMPATIENT: OnceLock<Thread> = OnceLock::new();
static CODE: AtomicU8 = AtomicU8::new(0);
/// The last words where no memory is left to make them: a line for stderr, and one for stdout.
static NO_MEMORY: OnceLock<[String; 2]> = OnceLock::new();

/// Who reads stdout, which decides what stands there when the process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    /// A program: one summary line, after a failure too.
    Program,
    /// A person at a terminal: sentences. A failure stands on stderr alone.
    Person,
    /// The supervisor of this process: the summary line with the sentences in it.
    Supervisor,
    /// Whoever asked a question: the answer and nothing else.
    Asker,
    /// The same who asked for JSON: where there is no answer, the summary line says why.
    AskerOfJson,
}

impl Reader {
    /// Who reads the stdout of a job; `answers` says that it prints an answer there, `json` that
    /// `--json` was given.
    pub(crate) fn of_job(answers: bool, json: bool) -> Reader {
        match (answers, json) {
            (true, true) => Reader::AskerOfJson,
            (true, false) => Reader::Asker,
            (false, false) if io::stdout().is_terminal() => Reader::Person,
            (false, _) => Reader::Program,
        }
    }
}

/// Says which job it is that ends, and who reads what it leaves on stdout.
pub(crate) fn name_job(job: &str, reader: Reader) {
    JOB.get_or_init(|| job.to_owned());
    READER.get_or_init(|| reader);
    NO_MEMORY.get_or_init(|| {
        let error = no_memory();
        [format!("dupsieve: {error}\n"), text_for(reader, Told::of(job, Err(error)))]
    });
}

/// The job that was named, or the program as long as none was.
pub(crate) fn job() -> &'static str {
    JOB.get().map_or("dupsieve", String::as_str)
}

/// Who reads stdout, a program as long as nothing else is known.
fn reader() -> Reader {
    READER.get().copied().unwrap_or(Reader::Program)
}

/// Makes a panic in any thread end the process: another thread may wait for the panicked one for
/// ever, and the engine panics when it loses a peer.
pub(crate) fn catch_panics() {
    let print = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        let message = panic.payload_as_str().unwrap_or("a panic without a message");
        if message.starts_with("failed printing to stdout") {
            // Whoever read it has left, as `head` does.
            end_with(None, Kind::Io.code());
        }
        if let Some(peer) = lost_peer(message) {
            end(Err(Error::new(Kind::Temporary, format!("lost {peer}"))));
        }
        if let Some(cause) = limit(message) {
            end(Err(Error::system("the system has no more to give", &cause)));
        }
        print(panic);
        let place = panic.location().map_or(String::new(), |place| format!(" at {place}"));
        end(Err(Error::new(Kind::Internal, format!("a defect{place}: {message}"))
            .help("please report it, with the log")))
    }));
}

/// The limit of the system that a panic is about, if it is: no more threads, files or memory.
fn limit(panic_message: &str) -> Option<io::Error> {
    let (_, number) = panic_message.split_once("Os { code: ")?;
    let cause = io::Error::from_raw_os_error(number.split(',').next()?.parse().ok()?);
    let limits = [Errno::AGAIN, Errno::MFILE, Errno::NFILE, Errno::NOMEM];
    Errno::from_io_error(&cause).filter(|number| limits.contains(number)).map(|_| cause)
}

/// Ends the process with the outcome of its job. A failure is told on stderr, and where it is to be
/// reported; what stands on stdout depends on its [`Reader`]. A run that another one has superseded
/// fails for that reason and no other, and reports nothing beside what is the other's output now.
pub(crate) fn end(outcome: Result<Summary>) -> ! {
    claim(code_of(&outcome));
    let superseded = outcome.as_ref().err().and_then(|_| output::superseded());
    let is_superseded = superseded.is_some();
    let outcome = outcome.map_err(|error| superseded.unwrap_or(error));
    if let Err(error) = &outcome {
        // In one piece: other processes write there too.
        let _ = io::stderr().write_all(format!("dupsieve: {error}\n").as_bytes());
        let path = failure::take_place();
        if let Some(path) = path.filter(|_| !is_superseded) {
            // The failure itself is what counts.
            let _ = failure::write(&path, error);
        }
    }
    let code = code_of(&outcome);
    exit(Some(Told::of(job(), outcome)), code)
}

/// The standard library aborts where memory runs out, after it has said so on stderr.
fn no_memory() -> Error {
    Error::new(Kind::Temporary, "aborted, most likely because there was no memory left")
        .help("free some memory, or allow the job less of it with --memory and --workers")
}

/// Ends the process where no memory is left. The last words are written without any: threads that
/// still work may take what little is given back. The report of the failure needs some: it comes last,
/// and is left out where there is none.
pub(crate) fn end_without_memory() -> ! {
    let Some([sentence, summary]) = NO_MEMORY.get() else { end(Err(no_memory())) };
    let code = Kind::Temporary.code();
    claim(code);
    let _ = write_all(io::stderr(), sentence.as_bytes());
    let _ = write_all(io::stdout(), summary.as_bytes());
    if let Some(path) = failure::take_place()
        && Vec::<u8>::new().try_reserve_exact(REPORT_BYTES).is_ok()
        && output::superseded().is_none()
    {
        let _ = failure::write(&path, &no_memory());
    }
    process::exit(code.into())
}

fn code_of(outcome: &Result<Summary>) -> u8 {
    outcome.as_ref().map_or_else(|error| error.kind().code(), |_| 0)
}

/// Ends the process with an outcome whose failure was told on stderr already, or with none.
pub(crate) fn end_with(told: Option<Told>, code: u8) -> ! {
    claim(code);
    exit(told, code)
}

/// Prepares for the end: what it takes then may no longer be had.
pub(crate) fn prepare() -> Result<()> {
    let wait = || {
        while CODE.load(Ordering::Acquire) == 0 {
            thread::park();
        }
        give_up(CODE.load(Ordering::Acquire))
    };
    let thread = thread::Builder::new().name("impatient".into()).spawn(wait);
    let thread = thread.map_err(|cause| Error::system("cannot start a thread", &cause))?;
    IMPATIENT.get_or_init(|| thread.thread().clone());
    Ok(())
}

/// Returns once in the life of the process, which from then on ends with `code`. Success may wait for
/// whoever reads stdout; a failure, and a signal that comes meanwhile, do not.
fn claim(code: u8) {
    let this = thread::current().id();
    match ENDING.set(this) {
        Ok(()) => {
            CODE.store(code, Ordering::Release);
            IMPATIENT.get().into_iter().for_each(Thread::unpark);
        }
        // A panic while ending.
        Err(again) if ENDING.get() == Some(&again) => process::exit(Kind::Internal.code().into()),
        Err(_) => give_up(code),
    }
}

fn give_up(code: u8) -> ! {
    thread::sleep(LAST_WORDS);
    process::exit(code.into())
}

/// Writes past the lock of stdout, which a thread that will not go on may hold, and whoever reads
/// stdout may have left. Where it cannot be written otherwise, a success nobody was told of is none: the
/// same command again finds the output done, and says so.
fn exit(told: Option<Told>, mut code: u8) -> ! {
    let text = told.map_or(String::new(), |told| text_for(reader(), told));
    if let Err(cause) = write_all(io::stdout(), text.as_bytes())
        && code == 0
        && cause.kind() != io::ErrorKind::BrokenPipe
    {
        let error = Error::io("stdout", &cause);
        let _ = io::stderr().write_all(format!("dupsieve: {error}\n").as_bytes());
        code = error.kind().code();
    }
    process::exit(code.into())
}

/// What stands on stdout at the end. Sentences that have no place there are log lines.
fn text_for(reader: Reader, mut told: Told) -> String {
    match reader {
        Reader::Asker => String::new(),
        Reader::AskerOfJson if told.code == 0 => String::new(),
        Reader::Person => told.take_sentences().iter().map(|line| format!("{line}\n")).collect(),
        Reader::Supervisor => told.line() + "\n",
        Reader::Program | Reader::AskerOfJson => {
            std::mem::take(&mut told.sentences).iter().for_each(|line| tracing::info!("{line}"));
            told.line() + "\n"
        }
    }
}

/// Writes all of `bytes` to `stream`, whoever else is writing there.
fn write_all(stream: impl AsFd, mut bytes: &[u8]) -> io::Result<()> {
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
    fn a_panic_about_a_limit_is_no_defect() {
        let panic =
            |number| format!("failed to spawn thread: {:?}", io::Error::from_raw_os_error(number));
        for number in [Errno::AGAIN, Errno::MFILE, Errno::NOMEM] {
            let cause = limit(&panic(number.raw_os_error())).unwrap();
            assert_eq!(Errno::from_io_error(&cause), Some(number));
        }
        assert!(limit(&panic(Errno::BADF.raw_os_error())).is_none());
        assert!(limit("index out of bounds: Os { code: ").is_none() && limit("").is_none());
    }
}
