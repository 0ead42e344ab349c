//! How a run ends early: the first error of any worker or operator ends all workers.
//!
//! The engine has no failure of its own. An operator that meets an error must neither panic nor
//! drop its capability (a cut stream looks like a complete one to everything after it). It raises
//! the error here, keeps its capability, and emits nothing more; the rest is seen to:
//!
//! - in one process, every worker sees the error within [`GLANCE`], drops its dataflows and
//!   returns, and `Cluster::execute` gives the error back;
//! - in several processes the others cannot be asked to return, so the run's owner is told at once
//!   through its hook, which ends the process; the peers then lose a connection ([`lost_peer`]).

use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use timely::worker::Worker;

use crate::{Error, Kind, Result};

/// How long a parked worker sleeps before it looks again whether an error was raised.
const GLANCE: Duration = Duration::from_millis(50);

type Hook = Arc<dyn Fn(&Error) + Send + Sync>;

/// The slot for the first error of a run, shared by all that take part.
#[derive(Clone, Default)]
pub struct Fatal {
    first: Arc<OnceLock<Error>>,
    hook: Option<Hook>,
}

impl Fatal {
    /// A slot that tells `hook` the first error; the hook ends the process, so it never returns.
    pub fn new(hook: impl Fn(&Error) + Send + Sync + 'static) -> Fatal {
        Fatal { hook: Some(Arc::new(hook)), ..Fatal::default() }
    }

    /// Ends the run with `error`, unless it is ending with another one already.
    pub fn raise(&self, error: Error) {
        if self.first.set(error).is_ok()
            && let (Some(hook), Some(error)) = (&self.hook, self.first.get())
        {
            hook(error);
        }
    }

    /// The error that was raised, if any was.
    pub fn check(&self) -> Result<()> {
        self.first.get().map_or(Ok(()), |error| Err(error.clone()))
    }

    /// Steps the worker, parked when there is nothing to do, for as long as `unfinished` says so.
    /// This is how a worker waits for its dataflows.
    ///
    /// # Errors
    /// The error that was raised anywhere in this process, soon after it was.
    pub fn step_while(
        &self,
        worker: &mut Worker,
        mut unfinished: impl FnMut() -> bool,
    ) -> Result<()> {
        self.step_worker(worker, |_| unfinished())
    }

    /// Runs `work`, then steps the worker until its dataflows have finished; when an error is
    /// raised, by this worker or another one, drops them.
    pub(super) fn watch<R>(
        &self,
        worker: &mut Worker,
        work: impl FnOnce(&mut Worker) -> Result<R>,
    ) -> Result<R> {
        let _panic = RaiseOnPanic(self);
        let result = work(worker).and_then(|result| {
            self.step_worker(worker, |worker| worker.has_dataflows())?;
            Ok(result)
        });
        if let Err(error) = &result {
            self.raise(error.clone());
            for dataflow in worker.installed_dataflows() {
                worker.drop_dataflow(dataflow);
            }
        }
        result
    }

    fn step_worker(
        &self,
        worker: &mut Worker,
        mut unfinished: impl FnMut(&Worker) -> bool,
    ) -> Result<()> {
        while unfinished(worker) {
            self.check()?;
            worker.step_or_park(Some(GLANCE));
        }
        self.check()
    }
}

/// Without it the other workers of the process would wait for a panicked one for ever.
struct RaiseOnPanic<'a>(&'a Fatal);

impl Drop for RaiseOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.raise(Error::new(Kind::Internal, "a worker panicked"));
        }
    }
}

/// Whom the engine has lost, if a panic with this message is how it says so.
pub fn lost_peer(panic_message: &str) -> Option<&str> {
    const POISONED: &str = "MergeQueue poisoned.";
    // What it was doing stands before the cause.
    let cause = panic_message.strip_prefix("timely communication error: ");
    let cause = cause.map(|cause| cause.split_once(": ").map_or(cause, |(_, cause)| cause));
    cause.or((panic_message == POISONED).then_some("another process"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_engine_s_words_for_a_lost_peer_are_known() {
        let read = "timely communication error: reading data: process 1 at b:1, which is gone";
        assert_eq!(lost_peer(read), Some("process 1 at b:1, which is gone"));
        assert!(lost_peer("MergeQueue poisoned.").is_some());
        assert_eq!(lost_peer("index out of bounds"), None);
    }
}
