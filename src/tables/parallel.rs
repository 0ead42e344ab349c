//! Work shared among the cores of this machine.

use std::thread;

/// The results of `work` on each of `items`, in order, on as many threads as there are cores.
pub(super) fn in_parallel<I: Sync, O: Send>(items: &[I], work: impl Fn(&I) -> O + Sync) -> Vec<O> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let share = items.len().div_ceil(threads).max(1);
    thread::scope(|scope| {
        let work = &work;
        let shares = items.chunks(share);
        let threads: Vec<_> = shares
            .map(|share| scope.spawn(move || share.iter().map(work).collect::<Vec<_>>()))
            .collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().expect("a thread that builds tables"))
            .collect()
    })
}
