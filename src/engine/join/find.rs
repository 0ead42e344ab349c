//! The pairs of a join: planned, arranged, probed by all workers.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::request::Join;
use super::site::Site;
use crate::error::{Error, Result};
use crate::fingerprint::Fingerprint;
use crate::flow::{Owners, Pairs, Probing, Processes, Role, find_pairs};
use crate::ledger::{self, Ledger, LedgerKey, Receipt};
use crate::matches::{self, Detail, InKeepOrder, KeepRank, KeyProbe, Pair, Sieve};
use crate::output::{self, Staging};
use crate::runs::SortedRecords;
use crate::step::{self, Step};
use crate::store::{BLOCK_ROWS, Dated, Digest, Segment};
use crate::tables::{ArrangedBatch, Distribution, Estimate, Plan, Problem, SelfJoin};

/// About how many fingerprints of a store tell how it is distributed.
const SAMPLES: u64 = 8192;

/// How a join was done: the figures that differ from run to run.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// The design for the store; without a store, the one for the batch itself.
    pub design: String,
    /// The design for the batch and itself.
    pub itself: String,
    /// Chunks that were taken over from an earlier run.
    pub chunks_resumed: u64,
    /// Bytes that this process read from the segments of the store.
    pub bytes_read: u64,
    /// The time it took to arrange the batch.
    pub tables: Duration,
    /// The time it took to probe.
    pub probe: Duration,
}

/// The pairs of a join. Where something besides the distance decides, each process has those that its workers own; else all are in process 0.
pub(super) struct FoundPairs {
    pub(super) chunks: u64,
    /// How many of these read a portion once more. That depends on the memory.
    pub(super) repeated: u64,
    pub(super) pairs: Vec<SortedRecords<Pair>>,
    pub(super) receipts: Vec<Receipt>,
    pub(super) store: Vec<Dated>,
    pub(super) ledger: Ledger,
    pub(super) figures: Figures,
}

impl Join {
    pub(super) fn find<F: Fingerprint>(
        &self,
        processes: &mut Processes,
        site: &Site<'_>,
        store: Vec<Dated>,
        order: Option<&InKeepOrder>,
    ) -> Result<FoundPairs> {
        step::begin(Step::Joining);
        let began = Instant::now();
        let groups: Arc<[F]> = matches::distinct_fingerprints(&self.batch)?.into();
        let segments: Vec<Segment> = store.iter().map(|it| it.segment().clone()).collect();
        let workers = processes.topology().workers;
        let problem = Problem {
            distribution: Distribution::of(&groups, &samples(&segments)),
            ..self.problem(groups.len() as u64, workers as u64)
        };
        let plan = self.plan(&problem, site.itself_bytes)?;
        let probing =
            Arc::new(self.arrange(groups, store, &segments, &plan, (workers, order), site)?);
        let tables = began.elapsed();
        let Pairs { pairs, receipts } = self
            .probe(processes, site, &probing)
            .map_err(|error| make_room(site.output, &probing.ledger, error))?;
        let probe = began.elapsed() - tables;
        let chunks = probing.chunks.len() as u64;
        let chunks_resumed = receipts.iter().filter(|receipt| receipt.resumed).count() as u64;
        if chunks_resumed > 0 {
            tracing::info!("{chunks_resumed} of {chunks} chunks were done already");
        }
        let figures = Figures {
            design: self.store.as_ref().map_or(&plan.itself, |_| &plan.chosen).design.to_string(),
            itself: plan.itself.design.to_string(),
            chunks_resumed,
            bytes_read: segments.iter().map(Segment::bytes_read).sum(),
            tables,
            probe,
        };
        let store = probing.store.clone();
        let ledger = probing.ledger.clone();
        let repeated = probing.keys.repeated().into();
        Ok(FoundPairs { chunks, repeated, pairs, receipts, store, ledger, figures })
    }

    /// Arranges the batch as planned, and opens the ledgers of earlier runs.
    fn arrange<F: Fingerprint>(
        &self,
        groups: Arc<[F]>,
        store: Vec<Dated>,
        segments: &[Segment],
        plan: &Plan,
        (workers, order): (usize, Option<&InKeepOrder>),
        site: &Site<'_>,
    ) -> Result<Probing<F>> {
        let itself =
            SelfJoin::new(&groups, plan.itself.design, self.distance, plan.share, workers)?;
        // The same in all processes, because it decides how often everything is read.
        let (fingerprints, memory) = (Arc::clone(&groups), site.itself_bytes as usize);
        let keys = KeyProbe::new(&self.batch, &store, fingerprints, order, memory, workers)?;
        let chunks = ledger::chunks(itself.parts(), keys.chunks(), segments);
        let of_groups = order.map(InKeepOrder::of_groups);
        let order = order.map(InKeepOrder::of_fingerprints);
        let sieve = self.sieve(groups.len(), order.clone());
        let key = LedgerKey {
            build: site.build,
            batch: self.batch.digest(),
            distance: self.distance,
            sieve: sieve.as_ref(),
            order: of_groups.as_deref(),
            store: &store,
            chunks: &chunks,
            itself: &itself,
        };
        let ledger = open_ledger(site.output, key.digest())?;
        let Estimate { design, window, memory_bytes, .. } = plan.chosen;
        // What the tables leave is read in.
        let spare = self.budget.tables().saturating_sub(memory_bytes);
        let reading_bytes = (self.budget.reading() + spare) / workers as u64;
        let shared = ArrangedBatch::sharing(&itself, design);
        let build = || ArrangedBatch::build(&groups, design, self.distance, workers);
        let method = shared.map_or_else(build, Ok)?;
        Ok(Probing {
            method: method.in_windows(window),
            itself,
            keys,
            chunks,
            groups,
            store,
            reading_bytes,
            ledger,
            probed: Arc::default(),
            found: Arc::default(),
            most_pairs: self.most_pairs(),
            order,
            sieve,
        })
    }

    fn probe<F: Fingerprint>(
        &self,
        processes: &mut Processes,
        site: &Site<'_>,
        probing: &Arc<Probing<F>>,
    ) -> Result<Pairs> {
        let total = self.store_rows() / processes.topology().processes as u64;
        let _watched = (site.watch)(total, Arc::clone(&probing.probed));
        let fingerprints = probing.groups.len() as u32;
        let owners = self.confirms().then(|| Owners::of(fingerprints, processes.topology()));
        let folder = spill_folder(site.output, &site.staging);
        find_pairs(processes, probing, owners, folder, self.budget.pairs())
    }

    /// The most pairs of fingerprints that may be found. If all are written and nothing else has to be
    /// confirmed, each is at least one row.
    fn most_pairs(&self) -> u64 {
        match self.detail {
            Detail::All if !self.confirms() => self.max_matches,
            _ => u64::MAX,
        }
    }

    /// Leaves out the pairs that decide no verdict, unless all are written.
    fn sieve(&self, groups: usize, order: Option<Arc<[KeepRank]>>) -> Option<Sieve> {
        let sieve = || order.map_or_else(|| Sieve::new(groups, !self.confirms()), Sieve::in_order);
        (self.detail == Detail::Best).then(sieve)
    }
}

/// Some fingerprints of the store, ascending: first ones of blocks, evenly spread.
fn samples<F: Fingerprint>(segments: &[Segment]) -> Vec<F> {
    let rows: u64 = segments.iter().map(|segment| segment.rows()).sum();
    let step = (rows / SAMPLES / BLOCK_ROWS as u64).max(1) as usize;
    let firsts = segments.iter().flat_map(|segment| segment.cuts().step_by(step));
    let mut samples: Vec<F> = firsts.map(|(first, _)| F::from_u128(first)).collect();
    samples.sort_unstable();
    samples
}

pub(super) fn spill_folder(output: &Path, staging: &Role<Staging>) -> PathBuf {
    match staging {
        Role::Leader(staging) => Staging::folder(staging).to_path_buf(),
        Role::Follower => output::parent_of(output).to_path_buf(),
    }
}

/// Reads which chunks earlier runs finished, and removes the ledgers of other joins.
fn open_ledger(output: &Path, key: Digest) -> Result<Ledger> {
    let ledger = Ledger::open(&output::resume_folder(output), key)?;
    if ledger.remove_others()? > 0 {
        tracing::info!(
            "an earlier run of another build of dupsieve, or with other inputs, was interrupted; \
             its chunks are probed again"
        );
    }
    ledger.damage().iter().for_each(|damage| tracing::warn!("{damage}"));
    Ok(ledger)
}

/// After a failure: removes the ledgers if the disk has less room left than they take. Otherwise the next
/// run would find the disk as full as this one left it.
pub(super) fn make_room(output: &Path, ledger: &Ledger, error: Error) -> Error {
    let room =
        ledger.bytes().and_then(|bytes| output::check_free_space(output::parent_of(output), bytes));
    if room.is_err() && ledger.remove().is_ok() {
        tracing::warn!("the finished chunks were removed, because the disk has too little room");
    }
    error
}
