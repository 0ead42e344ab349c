//! The dataflow of a batch against a store by buckets: chunks of the store are probed by whichever worker is free, and
//! what is found is gathered.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use timely::worker::Worker;

use super::chunks::Chunks;
use super::dispatch::{UnitRunner, Yield, dispatch};
use super::fatal::Fatal;
use super::findings::Findings;
use super::gather::{Collect, End, Gather, Gathered};
use super::processes::Processes;
use crate::desk::{Claim, Desk};
use crate::error::Result;
use crate::ledger::{Ledger, Receipt};
use crate::lsh::{Held, ProbeScratch, StoreProbe};
use crate::matches::Pair;
use crate::parallel::lock;

/// A store that streams past a batch, shared by the workers of a process.
pub(crate) struct Overlapping {
    pub(crate) probe: StoreProbe,
    /// The chunks that earlier runs finished, and the place for those of this run.
    pub(crate) ledger: Ledger,
    /// Rows probed by this process so far.
    pub(crate) probed: Arc<AtomicU64>,
    /// Matches found by this process so far.
    pub(crate) found: Arc<AtomicU64>,
    /// More matches than this are an error.
    pub(crate) most: u64,
}

/// Probes all chunks on all workers of the processes. Process 0 has `held` take what is found, and gets it back with one
/// receipt for each chunk.
///
/// # Errors
/// The first error of any worker, as `Processes::execute`.
pub(crate) fn find_overlaps(
    processes: &mut Processes,
    overlapping: &Arc<Overlapping>,
    held: Option<Held>,
) -> Result<(Option<Held>, Vec<Receipt>)> {
    let (overlapping, desk) = (Arc::clone(overlapping), processes.desk());
    let fatal = processes.fatal();
    let held = Mutex::new(held);
    processes.execute_gathered(move |worker| {
        // All is gathered by the first worker of process 0.
        let held = (worker.index() == 0).then(|| lock(&held).take()).flatten();
        find(worker, &overlapping, &desk, held, &fatal)
    })
}

fn find(
    worker: &mut Worker,
    overlapping: &Arc<Overlapping>,
    desk: &Arc<dyn Desk>,
    held: Option<Held>,
    fatal: &Fatal,
) -> Result<(Option<Held>, Vec<Receipt>)> {
    let end = End::new(fatal.clone());
    let held = Gathered::new(held);
    let receipts = Gathered::new(Vec::new());
    worker.dataflow(|scope| {
        let chunks = Chunks::new(desk, scope, overlapping.probe.chunks(), 0);
        let prober = Prober::new(Arc::clone(overlapping), chunks);
        let dispatched = dispatch(scope, prober, &end);
        dispatched.receipts.gather(&receipts, &end);
        dispatched.window.close(dispatched.records.gather(&held, &end));
    });
    end.wait(worker)?;
    Ok((held.take(), receipts.take()))
}

impl Collect<Pair> for Option<Held> {
    fn collect(&mut self, found: &mut Vec<Pair>) -> Result<()> {
        let held = self.as_mut().expect("findings come to the first worker");
        found.drain(..).try_for_each(|found| held.take(found))
    }
}

/// One worker that probes.
struct Prober {
    join: Arc<Overlapping>,
    findings: Findings,
    scratch: ProbeScratch,
    /// The chunks that it claims.
    claims: Chunks,
}

impl Prober {
    fn new(join: Arc<Overlapping>, claims: Chunks) -> Prober {
        let found = Arc::clone(&join.found);
        let findings = Findings::new(join.ledger.writer(), found, join.most, None);
        Prober { join, findings, scratch: ProbeScratch::default(), claims }
    }
}

impl UnitRunner for Prober {
    type Unit = u64;
    type Record = Pair;
    type Receipt = Receipt;

    fn claim(&mut self) -> Result<Claim<u64>> {
        Ok(self.claims.next()?.map_or(Claim::Done, |chunk| Claim::Unit(chunk as u64)))
    }

    fn run(&mut self, chunk: u64) -> Result<(Yield<Pair>, Receipt)> {
        let Prober { join, findings, scratch, .. } = self;
        if let Some(finished) = join.ledger.chunk(chunk) {
            let receipt = finished.receipt();
            join.probed.fetch_add(receipt.fingerprints, Ordering::Relaxed);
            findings.count_in(receipt.listed)?;
            return Ok((Box::new(finished.pairs()), receipt));
        }
        findings.begin(chunk);
        let rows = join.probe.probe(chunk, scratch, &mut |found| findings.push(found))?;
        join.probed.fetch_add(rows, Ordering::Relaxed);
        findings.finish(chunk, rows)
    }
}
