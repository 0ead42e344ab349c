//! The threads that make fingerprints of texts and do whatever else takes long: a fixed number of them, with a bounded
//! queue that is fair to all clients.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

use dupsieve::fingerprint::{PageTime, Recipe};
use dupsieve::flow::Fingerprinting;
use dupsieve::parallel::lock;
use dupsieve::{Error, Result};
use tokio::sync::oneshot;

use super::problem::{Fault, Problem};
use super::queue::{Asked, Queue};
use crate::outcome::exit;

type Work = Box<dyn FnOnce(&mut Fingerprinting) + Send>;

/// Threads that work for requests. They end with it.
pub(super) struct Pool(Arc<Waiting>);

struct Waiting {
    /// None once the service ends.
    queue: Mutex<Option<Queue<Work>>>,
    most: usize,
    has_come: Condvar,
}

impl Waiting {
    fn next(&self) -> Option<Work> {
        let mut queue = lock(&self.queue);
        loop {
            if let Some(work) = queue.as_mut()?.pop() {
                return Some(work);
            }
            queue = self.has_come.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        *lock(&self.0.queue) = None;
        self.0.has_come.notify_all();
    }
}

impl Pool {
    /// Starts so many threads, each of which makes fingerprints by `recipe`. So many requests may wait for them.
    pub(super) fn start(threads: usize, most: usize, recipe: &Recipe) -> Result<Pool> {
        let queue = Mutex::new(Some(Queue::new()));
        let pool = Pool(Arc::new(Waiting { queue, most, has_come: Condvar::new() }));
        for _ in 0..threads {
            let waiting = Arc::clone(&pool.0);
            let recipe = recipe.clone();
            // What is wrong with a recipe shows here, before the first page.
            Fingerprinting::new(&recipe, PageTime::default())?;
            let run = move || run(&waiting, &recipe);
            let thread = thread::Builder::new().name("pages".into()).spawn(run);
            thread.map_err(|cause| Error::system("cannot start a thread", &cause))?;
        }
        Ok(pool)
    }

    /// Has `work` done by one of the threads. It may ask whether somebody still waits for its answer: nobody does once the
    /// client has gone or the time is over.
    pub(super) async fn run<R: Send + 'static>(
        &self,
        asked: Asked,
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
        match &mut *lock(&self.0.queue) {
            None => return Err(Problem::new(Fault::Overloaded, "the service ends")),
            Some(queue) if queue.len() >= self.0.most => {
                return Err(Problem::new(Fault::Overloaded, "too many requests wait"));
            }
            Some(queue) => queue.push(asked, Box::new(work)),
        }
        self.0.has_come.notify_one();
        answered.await.map_err(|_| Problem::new(Fault::Internal, "the work was given up"))
    }
}

/// Works until the service ends. A panic fails the one request that it is of.
fn run(waiting: &Waiting, recipe: &Recipe) {
    while let Ok(mut fingerprinting) = Fingerprinting::new(recipe, PageTime::default()) {
        let all = std::iter::from_fn(|| waiting.next());
        let work = || all.for_each(|work| work(&mut fingerprinting));
        if exit::contain(work).is_ok() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::pin::Pin;
    use std::sync::mpsc::channel;
    use std::task::Poll;

    use super::*;
    use crate::commands::serve::queue::Peer;

    const ASKED: Asked = Asked { peer: Peer(None), bytes: 1 };

    fn pool() -> Pool {
        let recipe = Recipe::named("external-64", None).expect("a recipe");
        Pool::start(1, 8, &recipe).expect("threads")
    }

    async fn is_pending(answer: &mut (impl Future + Unpin)) -> bool {
        poll_fn(|cx| Poll::Ready(Pin::new(&mut *answer).poll(cx).is_pending())).await
    }

    #[test]
    fn a_panic_fails_one_request_and_the_thread_works_on() {
        let pool = pool();
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        exit::catch_panics();
        for number in 0..3 {
            let failed = runtime.block_on(pool.run(ASKED, |_, _| -> u32 { panic!("on purpose") }));
            assert_eq!(failed.expect_err("it panics").status().as_u16(), 500);
            assert_eq!(runtime.block_on(pool.run(ASKED, move |_, _| number)).ok(), Some(number));
        }
        drop(std::panic::take_hook());
    }

    #[test]
    fn work_learns_that_nobody_waits_any_more() {
        let pool = pool();
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let (begun, is_begun) = channel();
        let (gone, is_gone) = channel();
        let (seen, was_seen) = channel();
        let work = move |_: &mut Fingerprinting, is_wanted: &dyn Fn() -> bool| {
            let before = is_wanted();
            let _ = begun.send(());
            let _ = is_gone.recv();
            let _ = seen.send((before, is_wanted()));
        };
        runtime.block_on(async {
            let mut waiting = Box::pin(pool.run(ASKED, work));
            assert!(is_pending(&mut waiting).await);
            is_begun.recv().expect("it works");
            drop(waiting);
        });
        gone.send(()).expect("it waits for this");
        assert_eq!(was_seen.recv(), Ok((true, false)));
    }

    #[test]
    fn a_small_request_does_not_wait_for_the_large_ones_of_another_client() {
        let pool = pool();
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let (begun, is_begun) = channel();
        let (go, goes) = channel::<()>();
        let (seen, order) = channel();
        let asked =
            |machine: u8, bytes| Asked { peer: Peer(Some([10, 0, 0, machine].into())), bytes };
        runtime.block_on(async {
            let mut first = Box::pin(pool.run(asked(1, 1 << 20), move |_, _| {
                let _ = begun.send(());
                let _ = goes.recv();
            }));
            assert!(is_pending(&mut first).await);
            is_begun.recv().expect("it works");
            let mut waiting = Vec::new();
            for (machine, bytes) in [(1, 1 << 20), (1, 1 << 20), (2, 1 << 20), (2, 100)] {
                let seen = seen.clone();
                let work = move |_: &mut _, _: &dyn Fn() -> bool| seen.send((machine, bytes));
                let mut next = Box::pin(pool.run(asked(machine, bytes), work));
                assert!(is_pending(&mut next).await);
                waiting.push(next);
            }
            go.send(()).expect("it waits for this");
            for next in waiting {
                assert!(next.await.is_ok());
            }
        });
        let large = 1 << 20;
        let order: Vec<_> = order.try_iter().collect();
        assert_eq!(order, [(2, 100), (1, large), (2, large), (1, large)]);
    }
}
