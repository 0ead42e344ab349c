//! How a run ends early: the first error of any worker or operator ends all workers.
//!
//! The engine has no way to fail. An operator that meets an error must not panic, and it must not drop its
//! capability either: to everything after it, a cut stream looks like a complete one. It raises the error
//! here, keeps its capability, and sends nothing more. Then:
//!
//! - In one process, every worker sees the error within [`GLANCE`], drops its dataflows and returns.
//!   `Processes::execute` returns the error.
//! - In several processes, the others cannot be asked to return. The hook is called at once and ends the
//!   process. The other processes lose a connection ([`lost_peer`]) and end too.

use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use timely::worker::Worker;

use crate::{Error, Kind, Result};

/// How long a parked worker sleeps before it checks again for an error.
const GLANCE: Duration = Duration::from_millis(50);

type Hook = Arc<dyn Fn(&Error) + Send + Sync>;

/// The slot for the first error of a run, shared by all workers and operators of a process.
#[derive(Clone, Default)]
pub struct Fatal {
    first: Arc<OnceLock<Error>>,
    hook: Option<Hook>,
}

impl Fatal {
    /// A slot that passes the first error to `hook`. The hook must end the process.
    pub fn new(hook: impl Fn(&Error) + Send + Sync + 'static) -> Fatal {
        Fatal { hook: Some(Arc::new(hook)), ..Fatal::default() }
    }

    /// Ends the run with `error`, unless another error was raised before.
    pub fn raise(&self, error: Error) {
        if self.first.set(error).is_ok()
            && let (Some(hook), Some(error)) = (&self.hook, self.first.get())
        {
            hook(error);
        }
    }

    pub fn check(&self) -> Result<()> {
        self.first.get().map_or(Ok(()), |error| Err(error.clone()))
    }

    /// Steps the worker as long as `unfinished` returns true, and parks it when there is nothing to do. A
    /// worker waits for its dataflows with this.
    pub(super) fn step_while(
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

    /// Runs `work`, then steps the worker until its dataflows have finished; when an error is
    /// raised, by this worker or another one, drops them.
    pub(super) fn watch<R>(
        &self,
        worker: &mut Worker,
        work: impl FnOnce(&mut Worker) -> Result<R>,
    ) -> Result<R> {
        let _panic = RaiseOnPanic(self);
        let result = work(worker).and_then(|result| {
            self.step_while(worker, Worker::has_dataflows)?;
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
}

/// Raises an error when a worker panics. Without it, the other workers would wait for it for ever.
struct RaiseOnPanic<'a>(&'a Fatal);

impl Drop for RaiseOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.raise(Error::new(Kind::Internal, "a worker panicked"));
        }
    }
}

/// Which process was lost, if a panic message of the engine says that one was.
pub fn lost_peer(panic_message: &str) -> Option<&str> {
    const POISONED: &str = "MergeQueue poisoned.";
    // Before the cause, the message says what the engine was doing.
    let cause = panic_message.strip_prefix("timely communication error: ");
    let cause = cause.map(|cause| cause.split_once(": ").map_or(cause, |(_, cause)| cause));
    cause.or((panic_message == POISONED).then_some("another process"))
}

/// Whether a panic message of the engine says that its start was given up: its threads for a peer wait for
/// workers that will never be. The reason is another one, most often that a thread could not be started.
pub fn start_was_given_up(panic_message: &str) -> bool {
    let told = [
        "Failed to receive MergeQueue: RecvError",
        "failed to send MergeQueue: SendError",
        "Failed to recv buzzer: RecvError",
        "Failed to send buzzer: SendError",
    ];
    told.iter().any(|told| panic_message.starts_with(told))
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

    #[test]
    fn the_engine_s_words_for_a_start_that_was_given_up_are_known() {
        let (send, receive) = std::sync::mpsc::channel::<()>();
        drop(receive);
        let sent = send.send(()).unwrap_err();
        assert!(start_was_given_up(&format!("failed to send MergeQueue: {sent:?}")));
        assert!(start_was_given_up(&format!("Failed to send buzzer: {sent:?}")));
        let (send, receive) = std::sync::mpsc::channel::<()>();
        drop(send);
        let received = receive.recv().unwrap_err();
        assert!(start_was_given_up(&format!("Failed to receive MergeQueue: {received:?}")));
        assert!(start_was_given_up(&format!("Failed to recv buzzer: {received:?}")));
        assert!(!start_was_given_up("index out of bounds"));
    }
}
