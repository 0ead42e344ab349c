//! What changes between two assignments: the old one enters a differential collection with -1, the new one
//! with +1. What is in both cancels, and the rest are the changes.

use std::sync::{Arc, Mutex};

use differential_dataflow::input::Input;
use timely::worker::Worker;

use super::fatal::Fatal;
use super::gather::{End, Gather, Gathered};
use super::processes::Processes;
use crate::clusters::Assignment;
use crate::error::Result;
use crate::parallel::lock;

/// The two assignments. The first worker takes them.
type Given = Mutex<Option<[Vec<Assignment>; 2]>>;

/// What is only in `before`, with -1, and what is only in `after`, with +1; sorted.
pub(super) fn changes(
    processes: &mut Processes,
    before: Vec<Assignment>,
    after: Vec<Assignment>,
) -> Result<Vec<(Assignment, isize)>> {
    let given: Arc<Given> = Arc::new(Mutex::new(Some([before, after])));
    let fatal = processes.fatal();
    let mut changes = processes.execute_gathered(move |worker| step(worker, &given, &fatal))?;
    changes.sort_unstable();
    Ok(changes)
}

fn step(worker: &mut Worker, given: &Given, fatal: &Fatal) -> Result<Vec<(Assignment, isize)>> {
    let end = End::new(fatal.clone());
    let changes = Gathered::new(Vec::new());
    let mut input = worker.dataflow(|scope| {
        let (input, assigned) = scope.new_collection::<Assignment, isize>();
        assigned.consolidate().inner.gather(&changes, &end);
        input
    });
    if worker.index() == 0 {
        let given = lock(given).take();
        let [before, after] = given.unwrap_or_default();
        before.into_iter().for_each(|assigned| input.update(assigned, -1));
        after.into_iter().for_each(|assigned| input.update(assigned, 1));
    }
    input.close();
    end.wait(worker)?;
    let changes: Vec<(Assignment, u64, isize)> = changes.take();
    Ok(changes.into_iter().map(|(assigned, _, diff)| (assigned, diff)).collect())
}
