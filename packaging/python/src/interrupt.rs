//! Work that Ctrl-C ends, and its errors as exceptions.
//!
//! The work runs on a thread of its own, without the interpreter's lock. The thread that called waits, and looks for signals
//! meanwhile. After one it asks the work to stop, and returns within [`PATIENCE`]. A step that cannot be stopped, such as the
//! writing of what was found, then ends in the background, and what it wrote goes with its folder.

use std::error::Error as _;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use dupsieve::flow::{Fatal, Processes};
use dupsieve::parallel::lock;
use dupsieve::{Error, Kind, Result};
use pyo3::prelude::*;
use pyo3::types::IntoPyDict;

const GLANCE: Duration = Duration::from_millis(50);

const PATIENCE: Duration = Duration::from_secs(1);

#[derive(Clone, Default)]
pub(crate) struct Stop(Arc<Stopping>);

#[derive(Default)]
struct Stopping {
    is_asked: AtomicBool,
    /// Where the error is raised that ends a dataflow.
    dataflow: Mutex<Option<Fatal>>,
}

impl Stop {
    pub(crate) fn check(&self) -> Result<()> {
        if self.0.is_asked.load(Ordering::Relaxed) { Err(interrupted()) } else { Ok(()) }
    }

    pub(crate) fn processes(&self, workers: usize) -> Result<Processes> {
        let processes = Processes::alone(workers);
        *lock(&self.0.dataflow) = Some(processes.fatal());
        self.check().map(|()| processes)
    }

    fn ask(&self) {
        self.0.is_asked.store(true, Ordering::Relaxed);
        if let Some(fatal) = &*lock(&self.0.dataflow) {
            fatal.raise(interrupted());
        }
    }
}

fn interrupted() -> Error {
    Error::new(Kind::Temporary, "interrupted")
}

/// Does `work` without the interpreter's lock, until it ends or a signal handler raises.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&Stop) -> Result<T> + Send + 'static,
) -> PyResult<T> {
    let (sender, done) = mpsc::channel();
    let stop = Stop::default();
    let stopped = stop.clone();
    let begun =
        thread::Builder::new().spawn(move || sender.send(work(&stopped)).unwrap_or_default());
    begun.map_err(|cause| exception(py, &Error::system("cannot start a thread", &cause)))?;
    // A receiver may not be shared among threads, and `detach` asks for what may.
    let done = Mutex::new(done);
    let wait = |time| py.detach(|| lock(&done).recv_timeout(time));
    loop {
        match wait(GLANCE) {
            Ok(result) => return result.map_err(|error| exception(py, &error)),
            Err(RecvTimeoutError::Disconnected) => {
                let error = Error::new(Kind::Internal, "the work has panicked");
                return Err(exception(py, &error));
            }
            Err(RecvTimeoutError::Timeout) => py.check_signals().inspect_err(|_| {
                stop.ask();
                drop(wait(PATIENCE));
            })?,
        }
    }
}

/// The exception for an error, one of those in `dupsieve/errors.py`: its class fits the kind, and its text is the sentence that the program prints.
pub(crate) fn exception(py: Python<'_>, error: &Error) -> PyErr {
    let cause = error.source().and_then(|cause| cause.downcast_ref::<io::Error>());
    let is_memory = cause.is_some_and(|cause| cause.kind() == io::ErrorKind::OutOfMemory);
    let made = py.import("dupsieve.errors").and_then(|errors| {
        let is_memory = [("is_memory", is_memory)].into_py_dict(py)?;
        let facts = (error.kind().code(), error.to_string(), error.name(), error.advice());
        errors.call_method("of", facts, Some(&is_memory))
    });
    made.map_or_else(|failure| failure, PyErr::from_value)
}
