//! The dataflow of a join: chunks are probed by whichever worker is free, and what they find is handed over.
//!
//! ```text
//! dispatch(Prober) -+- pairs ----> hand over to the owner of a range of the batch, or gather -+-> window
//!                   +- receipts -> gather
//! ```
//!
//! Each owner sorts its own, so the pairs of all owners, one after the other, are in order. Each pair is found in one chunk only.

use std::path::PathBuf;
use std::sync::Arc;

use super::chunks::Chunks;
use super::dispatch::run_units;
use super::owners::Owners;
use super::probe::{Prober, Probing};
use super::processes::Processes;
use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::ledger::Receipt;
use crate::matches::Pair;
use crate::runs::{SortedRecords, Sorter};

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
