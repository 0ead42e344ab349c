//! What a worker does with a chunk: decode it, probe it, write the pairs to its ledger, send them on.

use std::collections::HashMap;
use std::iter;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::chunks::Chunks;
use super::dispatch::{UnitRunner, Yield};
use super::findings::Findings;
use super::sweep::Sweep;
use crate::error::{Error, Result};
use crate::fingerprint::Fingerprint;
use crate::ledger::{Chunk, Finished, Ledger, Receipt};
use crate::matches::{FingerprintIndex, KeepRank, KeyProbe, Pair, Place, Sieve};
use crate::store::{Dated, KeyRange, Shown};
use crate::tables::{ArrangedBatch, Hit, MethodScratch, Probe, SelfJoin, SelfJoinScratch};
use crate::work_queues::Claim;

/// A join in progress, shared by the workers of a process.
#[derive(Debug)]
pub(crate) struct Probing<F: Fingerprint> {
    /// The distinct fingerprints of the batch, ascending.
    pub(crate) groups: Arc<[F]>,
    pub(crate) method: ArrangedBatch<F>,
    pub(crate) itself: SelfJoin<F>,
    /// The keys of the batch, past which those of the store and of the batch stream.
    pub(crate) keys: KeyProbe<F>,
    pub(crate) store: Vec<Dated>,
    /// The memory in which each worker reads them, in bytes.
    pub(crate) reading_bytes: u64,
    /// All chunks, the same in every process.
    pub(crate) chunks: Vec<Chunk<F>>,
    /// Fingerprints probed by this process so far, copies included.
    pub(crate) probed: Arc<AtomicU64>,
    pub(crate) found: Arc<AtomicU64>,
    pub(crate) most_pairs: u64,
    /// The place of each fingerprint in keep order, where whole pages are compared.
    pub(crate) order: Option<Arc<[KeepRank]>>,
    /// Leaves out pairs that decide no verdict; none if all pairs are wanted.
    pub(crate) sieve: Option<Sieve>,
    /// The chunks that earlier runs finished, and the place for those of this run.
    pub(crate) ledger: Ledger,
}

impl<F: Fingerprint> Probing<F> {
    /// How many chunks there are of the store, of the batch, and with each index of its keys.
    pub(super) fn queues(&self) -> Vec<u64> {
        let of_batch = iter::once(self.itself.parts()).chain(self.keys.chunks_by_index());
        let of_batch: Vec<u64> = of_batch.map(u64::from).collect();
        let store = self.chunks.len() as u64 - of_batch.iter().sum::<u64>();
        iter::once(store).chain(of_batch).collect()
    }
}

/// Which rows of the store a hit stands for: those that are shown, of all with its fingerprint.
#[derive(Default)]
struct Places {
    /// For each segment that hides rows, which ones.
    shown: Vec<Option<Shown>>,
    /// What was found in this window, by segment and first row: many of the batch may be near one place.
    found: HashMap<(u32, u64), Option<Place>>,
    failure: Option<Error>,
}

impl Places {
    fn new(store: &[Dated]) -> Places {
        let shown = store.iter().map(|dated| dated.hides().then(|| dated.shown())).collect();
        Places { shown, ..Places::default() }
    }

    fn begin(&mut self) {
        self.found.clear();
    }

    /// Of `rows` rows with one fingerprint, from `row` on, those that are shown; none if none is.
    #[inline]
    fn shown(&mut self, segment: u32, row: u64, rows: u64) -> Option<Place> {
        let Some(shown) = &mut self.shown[segment as usize] else {
            return Some(Place::Store { segment, row, rows });
        };
        *self.found.entry((segment, row)).or_insert_with(|| match shown.among(row, rows) {
            Ok(shown) => shown.map(|(row, rows)| Place::Store { segment, row, rows }),
            Err(error) => {
                self.failure.get_or_insert(error);
                None
            }
        })
    }

    fn check(&mut self) -> Result<()> {
        self.failure.take().map_or(Ok(()), Err)
    }
}

pub(super) struct Prober<F: Fingerprint> {
    join: Arc<Probing<F>>,
    pairs: Findings,
    places: Places,
    scratch: MethodScratch<F>,
    self_scratch: SelfJoinScratch<F>,
    run: Vec<F>,
    /// The pass over the segments, after the last chunk.
    sweep: Option<Sweep<F>>,
    claims: Chunks,
}

impl<F: Fingerprint> Prober<F> {
    pub(super) fn new(join: Arc<Probing<F>>, claims: Chunks) -> Prober<F> {
        let found = Arc::clone(&join.found);
        let sieve = join.sieve.clone();
        let pairs = Findings::new(join.ledger.writer(), found, join.most_pairs, sieve);
        let scratch = MethodScratch::default();
        let self_scratch = SelfJoinScratch::default();
        let places = Places::new(&join.store);
        Prober { join, pairs, places, scratch, self_scratch, run: Vec::new(), sweep: None, claims }
    }

    fn probe_store(&mut self, range: KeyRange<F>) -> Result<u64> {
        // One of the two works at a time, and only that one holds memory.
        self.self_scratch = SelfJoinScratch::default();
        let Prober { join, pairs, places, scratch, run, sweep: last, .. } = self;
        let (window, memory_bytes) = (join.method.window(), join.reading_bytes);
        let most = Sweep::<F>::most_segments(memory_bytes);
        let mut fingerprints = 0;
        for (segments, first) in join.store.chunks(most).zip((0..).step_by(most)) {
            let is_all = segments.len() == join.store.len();
            let gone_on = last.take().filter(|_| is_all).and_then(|last| last.go_on(range));
            let new = || Sweep::new(segments, range, window, memory_bytes);
            let mut sweep = gone_on.unwrap_or_else(new);
            while let Some(read) = sweep.next(run)? {
                fingerprints += read;
                join.probed.fetch_add(read, Ordering::Relaxed);
                places.begin();
                join.method.probe(
                    &sweep.runs(),
                    scratch,
                    &mut |Hit { batch, run, at, distance }| {
                        let (row, rows) = sweep.rows(run, at);
                        if let Some(existing) = places.shown(first + run, row, rows) {
                            pairs.push(Pair { new: batch.into(), existing, distance });
                        }
                    },
                );
                places.check()?;
            }
            *last = Some(sweep);
        }
        Ok(fingerprints)
    }

    fn resume(&self, finished: &Finished) -> Result<(Yield<Pair>, Receipt)> {
        let receipt = finished.receipt();
        self.join.probed.fetch_add(receipt.fingerprints, Ordering::Relaxed);
        self.pairs.count_in(receipt.listed)?;
        Ok((Box::new(finished.pairs()), receipt))
    }

    fn join_keys(&mut self, part: u32) -> Result<()> {
        self.scratch = MethodScratch::default();
        self.self_scratch = SelfJoinScratch::default();
        self.sweep = None;
        let Prober { join, pairs, .. } = self;
        join.keys.probe(part, &mut |pair| pairs.hold(pair))
    }

    fn join_batch(&mut self, part: u32) {
        self.scratch = MethodScratch::default();
        self.sweep = None;
        let Prober { join, pairs, self_scratch, .. } = self;
        join.itself.join(part, self_scratch, &mut |Hit { batch, at, distance, .. }| {
            let (new, group) =
                Sieve::turned::<FingerprintIndex>(join.order.as_deref(), batch.into(), at.into());
            pairs.push(Pair { new, existing: Place::Batch { group }, distance });
        });
    }
}

impl<F: Fingerprint> UnitRunner for Prober<F> {
    type Unit = (u64, Chunk<F>);
    type Record = Pair;
    type Receipt = Receipt;

    fn claim(&mut self) -> Result<Claim<(u64, Chunk<F>)>> {
        let claimed = self.claims.next()?;
        let unit = |chunk: usize| Claim::Unit((chunk as u64, self.join.chunks[chunk].clone()));
        Ok(claimed.map_or(Claim::Done, unit))
    }

    fn run(&mut self, (chunk, range): (u64, Chunk<F>)) -> Result<(Yield<Pair>, Receipt)> {
        if let Some(finished) = self.join.ledger.chunk(chunk) {
            return self.resume(finished);
        }
        self.pairs.begin(chunk);
        let mut fingerprints = 0;
        match range {
            Chunk::Store(range) => fingerprints = self.probe_store(range)?,
            Chunk::Batch(part) => self.join_batch(part),
            Chunk::Keys(part) => self.join_keys(part)?,
        }
        self.pairs.finish(chunk, fingerprints)
    }
}
