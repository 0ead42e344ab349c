//! The probe lifted to a stream: chunks of the store, and of the batch itself, are dealt to workers,
//! which decode and probe each as a whole and send on nothing but pairs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use super::findings::Findings;
use super::sweep::Sweep;
use super::verify_cold::{Candidate, Candidates, Confirming, Hot};
use super::{Claim, Work, Yield};
use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::ledger::{Chunk, Finished, Ledger, Receipt};
use crate::matches::{Pair, Place, Sieve};
use crate::store::{KeyRange, Segment};
use crate::tables::{Hit, Probe, Scratch, Sorted};

/// The join of a batch with a store, shared by the workers of a process.
#[derive(Debug)]
pub struct Join<F: Fingerprint, P> {
    /// The distinct fingerprints of the batch, ascending.
    pub groups: Arc<[F]>,
    /// The batch arranged for probing.
    pub method: P,
    /// The same by their hot bits, where a segment of the store has the cold ones apart.
    pub hot: Option<Hot<P>>,
    /// The join of the batch with itself.
    pub itself: Sorted<F>,
    /// The segments of the store, if there is one.
    pub segments: Vec<Segment>,
    /// All chunks, the same ones in every process.
    pub chunks: Vec<Chunk<F>>,
    /// Fingerprints probed by this process so far, copies included.
    pub probed: Arc<AtomicU64>,
    /// Pairs found by this process so far.
    pub found: Arc<AtomicU64>,
    /// The most pairs that are wanted.
    pub most_pairs: u64,
    /// What leaves out pairs that decide no verdict, unless all pairs are wanted.
    pub sieve: Option<Sieve>,
    /// The chunks that earlier runs have finished, and where this one notes its own.
    pub ledger: Ledger,
    /// How many chunks the workers of this process have claimed.
    pub claimed: AtomicUsize,
    /// Which of how many processes this is.
    pub process: (usize, usize),
}

impl<F: Fingerprint, P> Join<F, P> {
    /// The runs of whole fingerprints and those of hot bits; in either the others are empty.
    fn divide<'a>(&self, runs: Vec<&'a [F]>) -> [Vec<&'a [F]>; 2] {
        let only = |split| {
            let runs = runs.iter().zip(&self.segments);
            runs.map(|(&run, segment)| if segment.is_split() == split { run } else { &[] })
                .collect()
        };
        [only(false), only(true)]
    }

    /// What candidates are confirmed with, where there can be any.
    fn confirming<'a>(&'a self, pairs: &'a mut Findings) -> Option<Confirming<'a, F, P>> {
        let Join { segments, groups, hot, .. } = self;
        hot.as_ref().map(|hot| Confirming { segments, groups, hot, pairs })
    }
}

/// One worker's hand in a join.
#[derive(Debug)]
pub struct Prober<F: Fingerprint, P> {
    join: Arc<Join<F, P>>,
    pairs: Findings,
    scratch: Scratch<F>,
    run: Vec<F>,
    candidates: Candidates<F>,
}

impl<F: Fingerprint, P: Probe<F>> Prober<F, P> {
    /// A hand in `join`.
    pub fn new(join: Arc<Join<F, P>>) -> Prober<F, P> {
        let (scratch, candidates) = (Scratch::default(), Candidates::default());
        let (found, sieve) = (Arc::clone(&join.found), join.sieve.clone());
        let pairs = Findings::new(join.ledger.writer(), found, join.most_pairs, sieve);
        Prober { join, pairs, scratch, run: Vec::new(), candidates }
    }

    fn probe_store(&mut self, range: KeyRange<F>) -> Result<u64> {
        let Prober { join, pairs, scratch, run, candidates } = self;
        let (mut fingerprints, mut sweep) =
            (0, Sweep::new(&join.segments, range, join.method.window()));
        while let Some(read) = sweep.next(run)? {
            fingerprints += read;
            join.probed.fetch_add(read, Ordering::Relaxed);
            let [whole, split] = join.divide(sweep.runs());
            join.method.probe(&whole, scratch, &mut |Hit { batch, run, at, distance }| {
                let (row, rows) = sweep.rows(run, at);
                let existing = Place::Store { segment: run, row, rows };
                pairs.push(Pair { new: batch.into(), existing, distance });
            });
            if let Some(mut confirming) = join.confirming(pairs) {
                let probe = &confirming.hot.method;
                probe.probe(&split, scratch, &mut |Hit { batch, run, at, .. }| {
                    let hot = split[run as usize][at as usize];
                    let (row, rows) = sweep.rows(run, at);
                    let candidate = Candidate { segment: run, row, rows, near: batch, hot };
                    candidates.push(candidate, &mut confirming);
                });
            }
        }
        if let Some(mut confirming) = join.confirming(pairs) {
            candidates.finish(&mut confirming)?;
        }
        Ok(fingerprints)
    }

    /// What an earlier run found in a chunk.
    fn resume(&self, finished: &Finished) -> Result<(Yield<Pair>, Receipt)> {
        let receipt = finished.receipt();
        self.join.probed.fetch_add(receipt.fingerprints, Ordering::Relaxed);
        self.pairs.count_in(receipt.listed)?;
        Ok((Box::new(finished.pairs()), receipt))
    }

    fn join_batch(&mut self, part: u32) {
        let Prober { join, pairs, scratch, .. } = self;
        join.itself.join(part, scratch, &mut |Hit { batch, at, distance, .. }| {
            let existing = Place::Batch { group: at.into() };
            pairs.push(Pair { new: batch.into(), existing, distance });
        });
    }
}

impl<F: Fingerprint, P: Probe<F> + 'static> Work for Prober<F, P> {
    type Unit = (u64, Chunk<F>);
    type Record = Pair;
    type Receipt = Receipt;

    fn claim(&mut self) -> Claim<(u64, Chunk<F>)> {
        let (process, processes) = self.join.process;
        let claimed = self.join.claimed.fetch_add(1, Ordering::Relaxed);
        let number = claimed * processes + process;
        match self.join.chunks.get(number) {
            Some(chunk) => Claim::Unit(number as u64, (number as u64, chunk.clone())),
            None => Claim::Done,
        }
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
        }
        self.pairs.finish(chunk, fingerprints)
    }
}
