//! Work shared among the threads of a process.

use std::io;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::{self, Builder};
use std::time::Duration;

/// The value of a mutex, whatever became of a thread that held it.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What `work` gives within `limit` on a thread of this name; none if it takes longer. The thread is left to itself then.
pub fn in_time<T: Send + 'static>(
    name: &str,
    limit: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<Option<T>> {
    let (send, done) = mpsc::channel();
    Builder::new().name(name.into()).spawn(move || send.send(work()))?;
    Ok(done.recv_timeout(limit).ok())
}

/// The results of `work` on each of `items`, in order, on up to `threads` threads.
/// Each takes consecutive items, about as many as the others.
///
/// ```
/// use dupsieve_base::parallel::in_parallel;
///
/// assert_eq!(in_parallel(2, &[1, 2, 3], |item| item * item), [1, 4, 9]);
/// ```
pub fn in_parallel<I: Sync, O: Send>(
    threads: usize,
    items: &[I],
    work: impl Fn(&I) -> O + Sync,
) -> Vec<O> {
    let share = items.len().div_ceil(threads.max(1)).max(1);
    if share >= items.len() {
        return items.iter().map(work).collect();
    }
    thread::scope(|scope| {
        let work = &work;
        let shares = items.chunks(share);
        let run = move |share: &[I]| share.iter().map(work).collect::<Vec<_>>();
        let threads: Vec<_> = shares
            .map(|share| {
                // Without another thread, this one does it.
                let thread = Builder::new().spawn_scoped(scope, move || run(share));
                thread.map_err(|_| run(share))
            })
            .collect();
        let done = threads.into_iter().map(|thread| thread.map_or_else(Ok, |thread| thread.join()));
        done.flat_map(|done| done.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

/// The rows of a segment in parts for [`in_parallel`]: whole blocks of every text column, some for each thread, and none
/// that takes a thread long.
pub fn row_parts(rows: u64, threads: usize) -> Vec<Range<u64>> {
    let (least, most) = (1 << 8, 1 << 16);
    let share = rows / (8 * threads.max(1) as u64);
    let part = share.next_multiple_of(least).clamp(least, most);
    (0..rows).step_by(part as usize).map(|start| start..rows.min(start + part)).collect()
}

/// The results of `one` and of `other`, at the same time if there is more than one thread.
pub fn both<A: Send, B>(
    threads: usize,
    one: impl FnOnce() -> A + Send,
    other: impl FnOnce() -> B,
) -> (A, B) {
    if threads < 2 {
        return (one(), other());
    }
    let one = Mutex::new(Some(one));
    let begin = || {
        let one = lock(&one).take();
        one.map(|one| one())
    };
    thread::scope(|scope| {
        let thread = Builder::new().spawn_scoped(scope, begin);
        let other = other();
        // Without another thread, this one does both.
        let one = thread.map_or_else(|_| Ok(begin()), |thread| thread.join());
        let one = one.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        (one.expect("nobody else began it"), other)
    })
}
