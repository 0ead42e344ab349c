//! The dataflow that finds the passages of a day: every process finds those of a range of the kept pages, on all its workers. Process 0 gathers them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::dispatch::{UnitRunner, Yield, run_units};
use super::processes::Processes;
use crate::error::Result;
use crate::passages::{DayPassages, NamedPassage};
use crate::runs::Sorter;
use crate::work_queues::Claim;

/// Finds the passages of the range of this process. Process 0 gets those of all.
pub(crate) fn find_passages(
    processes: &mut Processes,
    passages: DayPassages,
) -> Result<Sorter<NamedPassage>> {
    let (folder, memory_bytes) = (passages.folder.clone(), passages.sort_bytes());
    let (range, fatal) = (Arc::new((AtomicBool::new(false), passages)), processes.fatal());
    processes.execute_gathered(move |worker| {
        let into = (Sorter::new(&folder, memory_bytes), Vec::new());
        run_units(worker, Arc::clone(&range), |_| 0, into, &fatal).map(|(found, _)| found)
    })
}

/// A range is one unit of work, whichever worker claims it.
impl UnitRunner for Arc<(AtomicBool, DayPassages)> {
    type Unit = ();
    type Record = NamedPassage;
    type Receipt = ();

    fn claim(&mut self) -> Result<Claim<()>> {
        let is_taken = self.0.swap(true, Ordering::Relaxed);
        Ok(if is_taken { Claim::Done } else { Claim::Unit(()) })
    }

    fn run(&mut self, (): ()) -> Result<(Yield<NamedPassage>, ())> {
        Ok((Box::new(self.1.find()?), ()))
    }
}
