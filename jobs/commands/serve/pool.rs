//! The threads that make fingerprints of texts and do whatever else takes long: a fixed number of them, with a bounded
//! queue.

use std::thread;

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use dupsieve::fingerprint::{PageTime, Recipe};
use dupsieve::flow::Fingerprinting;
use dupsieve::{Error, Result};
use tokio::sync::oneshot;

use super::problem::{Fault, Problem};

type Work = Box<dyn FnOnce(&mut Fingerprinting) + Send>;

/// Threads that work for requests.
pub(super) struct Pool(Sender<Work>);

impl Pool {
    /// Starts so many threads, each of which makes fingerprints by `recipe`. So many requests may wait for them.
    pub(super) fn start(threads: usize, waiting: usize, recipe: &Recipe) -> Result<Pool> {
        let (send, receive) = bounded(waiting);
        for _ in 0..threads {
            let work = receive.clone();
            let recipe = recipe.clone();
            // What is wrong with a recipe shows here, before the first page.
            Fingerprinting::new(&recipe, PageTime::default())?;
            let run = move || run(&work, &recipe);
            let thread = thread::Builder::new().name("pages".into()).spawn(run);
            thread.map_err(|cause| Error::system("cannot start a thread", &cause))?;
        }
        Ok(Pool(send))
    }

    /// Has `work` done by one of the threads.
    ///
    /// # Errors
    /// A problem if too many requests wait.
    pub(super) async fn run<R: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Fingerprinting) -> R + Send + 'static,
    ) -> Result<R, Problem> {
        let (answer, answered) = oneshot::channel();
        let work = move |fingerprinting: &mut Fingerprinting| {
            // Nobody waits any more for a request that took too long.
            if !answer.is_closed() {
                let _ = answer.send(work(fingerprinting));
            }
        };
        self.0.try_send(Box::new(work)).map_err(|full| match full {
            TrySendError::Full(_) => Problem::new(Fault::Overloaded, "too many requests wait"),
            TrySendError::Disconnected(_) => Problem::new(Fault::Overloaded, "the service ends"),
        })?;
        answered.await.map_err(|_| Problem::new(Fault::Internal, "the work was given up"))
    }
}

fn run(work: &Receiver<Work>, recipe: &Recipe) {
    let Ok(mut fingerprinting) = Fingerprinting::new(recipe, PageTime::default()) else { return };
    for work in work {
        work(&mut fingerprinting);
    }
}
