//! The dataflow that confirms: each process takes the windows of the range that it owns, and its workers take the pieces of a window. What
//! is confirmed is gathered.

use std::path::PathBuf;
use std::sync::Arc;

use super::dispatch::{UnitRunner, Yield, run_units};
use super::processes::Processes;
use crate::error::Result;
use crate::matches::{Certificate, Confirmed, PairWindows, Task};
use crate::runs::Sorter;
use crate::work_queues::Claim;

/// Confirms the pairs in the windows of every process. Process 0 gets all that are confirmed, sorted in `memory_bytes` and in `folder`, and the
/// certificates of all pieces.
pub(crate) fn confirm(
    processes: &mut Processes,
    windows: PairWindows,
    folder: PathBuf,
    memory_bytes: usize,
) -> Result<(Sorter<Confirmed>, Vec<Certificate>)> {
    let (windows, fatal) = (Arc::new(windows), processes.fatal());
    processes.execute_gathered(move |worker| {
        let into = (Sorter::new(&folder, memory_bytes), Vec::new());
        run_units(worker, Arc::clone(&windows), |_| 0, into, &fatal)
    })
}

impl UnitRunner for Arc<PairWindows> {
    type Unit = Task;
    type Record = Confirmed;
    type Receipt = Certificate;

    fn claim(&mut self) -> Result<Claim<Task>> {
        PairWindows::claim(self)
    }

    fn run(&mut self, piece: Task) -> Result<(Yield<Confirmed>, Certificate)> {
        let (confirmed, certificate) = PairWindows::run(self, piece)?;
        Ok((Box::new(confirmed.into_iter().map(Ok)), certificate))
    }
}
