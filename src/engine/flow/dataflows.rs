//! The dataflows of a join: chunks are probed by whichever worker is free, and what they find is handed over; then pairs are confirmed, and passages
//! found.
//!
//! ```text
//! dispatch(Prober) -+- pairs ----> hand over to the owner of a range of the batch, or gather -+-> window
//!                   +- receipts -> gather
//! ```
//!
//! Each owner sorts its own, so the pairs of all owners, one after the other, are in order. Each pair is found in one chunk only.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::chunks::Chunks;
use super::dispatch::{UnitRunner, Yield, run_units};
use super::owners::Owners;
use super::probe::{Prober, Probing};
use super::processes::Processes;
use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::ledger::Receipt;
use crate::matches::{Certificate, Confirmed, Pair, PairWindows, Task};
use crate::passages::{DayPassages, NamedPassage};
use crate::runs::{SortedRecords, Sorter};
use crate::work_queues::Claim;

#[derive(Debug)]
pub(crate) struct Pairs {
    /// The pairs that each worker of this process owns, in order.
    pub(crate) pairs: Vec<SortedRecords<Pair>>,
    /// One receipt for each chunk, in no order. They are in process 0.
    pub(crate) receipts: Vec<Receipt>,
}

/// Probes all chunks on all workers of the processes. The pairs are handed over to their `owners`; without, all of them
/// go to the first worker of process 0. The owners of a process sort them in `memory_bytes` and spill them into `folder`.
pub(crate) fn find_pairs<F: Fingerprint>(
    processes: &mut Processes,
    probing: &Arc<Probing<F>>,
    owners: Option<Owners>,
    folder: PathBuf,
    memory_bytes: usize,
) -> Result<Pairs> {
    let (probing, work) = (Arc::clone(probing), processes.work());
    let fatal = processes.fatal();
    let sharing = owners.map_or(1, |_| processes.topology().workers);
    let found = processes.execute(move |worker| {
        let sorter = Sorter::new(&folder, memory_bytes / sharing);
        let chunks = Chunks::new(&work, worker, probing.queues());
        let prober = Prober::new(Arc::clone(&probing), chunks);
        let owner = move |pair: &Pair| owners.map_or(0, |owners| owners.owner(pair.new.into()));
        let (pairs, receipts) = run_units(worker, prober, owner, (sorter, Vec::new()), &fatal)?;
        Ok((pairs.sorted()?, receipts))
    })?;
    let (pairs, receipts): (_, Vec<_>) = found.into_iter().unzip();
    Ok(Pairs { pairs, receipts: receipts.concat() })
}

/// Confirms the pairs in the windows of every process: each takes those of the range that it owns, and its workers the pieces of a window. Process 0 gets all that are confirmed, sorted in `memory_bytes` and in `folder`, and the
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

/// Finds the passages of the range of the kept pages that is of this process. Process 0 gets those of all.
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
