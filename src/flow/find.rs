//! The dataflow of a join: chunks are probed by whichever worker is free, and the pairs are reduced and
//! gathered.
//!
//! ```text
//! dispatch(Prober) -+- pairs ----> reduce by range of the batch ----> gather -+-> window
//!                   +- receipts -> gather
//! ```

use std::path::PathBuf;
use std::sync::Arc;

use timely::worker::Worker;

use super::chunks::Chunks;
use super::dispatch::dispatch;
use super::fatal::Fatal;
use super::gather::{End, Gather, Gathered};
use super::probe::{Prober, Probing};
use super::processes::Processes;
use super::reduce::Reduce;
use crate::desk::Desk;
use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::ledger::Receipt;
use crate::matches::Pair;
use crate::runs::Sorter;

/// All pairs of a join and the receipts of its chunks. They are in process 0; elsewhere both are empty.
#[derive(Debug)]
pub(crate) struct Pairs {
    /// The pairs, being sorted.
    pub(crate) pairs: Sorter<Pair>,
    /// One receipt for each chunk, in no order.
    pub(crate) receipts: Vec<Receipt>,
}

/// Probes all chunks on all workers of the processes. Process 0 sorts the pairs in `memory_bytes` and spills
/// them into `folder`.
///
/// # Errors
/// The first error of any worker, as `Processes::execute`.
pub(crate) fn find_pairs<F: Fingerprint>(
    processes: &mut Processes,
    probing: &Arc<Probing<F>>,
    folder: PathBuf,
    memory_bytes: usize,
) -> Result<Pairs> {
    let (probing, desk) = (Arc::clone(probing), processes.desk());
    let fatal = processes.fatal();
    processes.execute_gathered(move |worker| {
        find(worker, &probing, &desk, Sorter::new(&folder, memory_bytes), &fatal)
    })
}

fn find<F: Fingerprint>(
    worker: &mut Worker,
    probing: &Arc<Probing<F>>,
    desk: &Arc<dyn Desk>,
    sorter: Sorter<Pair>,
    fatal: &Fatal,
) -> Result<Pairs> {
    let end = End::new(fatal.clone());
    let pairs = Gathered::new(sorter);
    let receipts = Gathered::new(Vec::new());
    worker.dataflow(|scope| {
        let parts = (probing.itself.parts() + probing.anchors.chunks()) as usize;
        let chunks = Chunks::new(desk, scope, probing.chunks.len() - parts, parts);
        let dispatched = dispatch(scope, Prober::new(Arc::clone(probing), chunks), &end);
        dispatched.receipts.gather(&receipts, &end);
        let groups = probing.groups.len() as u64;
        let taken = dispatched.records.reduce(groups).gather(&pairs, &end);
        dispatched.window.close(taken);
    });
    end.wait(worker)?;
    Ok(Pairs { pairs: pairs.take(), receipts: receipts.take() })
}
