//! The threads that make fingerprints of texts and do whatever else takes long: a fixed number of them, with a bounded
//! queue.

use std::thread;

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use dupsieve::rooms::fingerprint::{PageTime, Recipe};
use dupsieve::rooms::flow::Fingerprinting;
use dupsieve::{Error, Result};
use tokio::sync::oneshot;

use super::problem::{Fault, Problem};
use crate::outcome::exit;

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

    /// Has `work` done by one of the threads. It may ask whether somebody still waits for its answer: nobody does once the
    /// client has gone or the time is over.
    ///
    /// # Errors
    /// A problem if too many requests wait.
    pub(super) async fn run<R: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Fingerprinting, &dyn Fn() -> bool) -> R + Send + 'static,
    ) -> Result<R, Problem> {
        let (answer, answered) = oneshot::channel();
        let work = move |fingerprinting: &mut Fingerprinting| {
            let is_wanted = || !answer.is_closed();
            if is_wanted() {
                let done = work(fingerprinting, &is_wanted);
                let _ = answer.send(done);
            }
        };
        self.0.try_send(Box::new(work)).map_err(|full| match full {
            TrySendError::Full(_) => Problem::new(Fault::Overloaded, "too many requests wait"),
            TrySendError::Disconnected(_) => Problem::new(Fault::Overloaded, "the service ends"),
        })?;
        answered.await.map_err(|_| Problem::new(Fault::Internal, "the work was given up"))
    }
}

/// Works until the service ends. A panic fails the one request that it is of.
fn run(work: &Receiver<Work>, recipe: &Recipe) {
    while let Ok(mut fingerprinting) = Fingerprinting::new(recipe, PageTime::default()) {
        let work = || work.iter().for_each(|work| work(&mut fingerprinting));
        if exit::contain(work).is_ok() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_fails_one_request_and_the_thread_works_on() {
        let recipe = Recipe::named("external-64", None).expect("a recipe");
        let pool = Pool::start(1, 8, &recipe).expect("threads");
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        exit::catch_panics();
        for number in 0..3 {
            let failed = runtime.block_on(pool.run(|_, _| -> u32 { panic!("on purpose") }));
            assert_eq!(failed.expect_err("it panics").status().as_u16(), 500);
            assert_eq!(runtime.block_on(pool.run(move |_, _| number)).ok(), Some(number));
        }
        drop(std::panic::take_hook());
    }

    #[test]
    fn work_learns_that_nobody_waits_any_more() {
        let recipe = Recipe::named("external-64", None).expect("a recipe");
        let pool = Pool::start(1, 8, &recipe).expect("threads");
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let (begun, is_begun) = std::sync::mpsc::channel();
        let (gone, is_gone) = std::sync::mpsc::channel();
        let (seen, was_seen) = std::sync::mpsc::channel();
        let work = move |_: &mut Fingerprinting, is_wanted: &dyn Fn() -> bool| {
            let before = is_wanted();
            let _ = begun.send(());
            let _ = is_gone.recv();
            let _ = seen.send((before, is_wanted()));
        };
        runtime.block_on(async {
            let mut waiting = Box::pin(pool.run(work));
            let polled = std::future::poll_fn(|cx| waiting.as_mut().poll(cx).map(drop).into());
            assert!(std::task::Poll::is_pending(&polled.await), "it waits");
            is_begun.recv().expect("it works");
            drop(waiting);
        });
        gone.send(()).expect("it waits for this");
        assert_eq!(was_seen.recv(), Ok((true, false)));
    }
}
