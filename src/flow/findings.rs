//! What a worker finds in a chunk: its pairs, as many as there may be, on their way to the ledger.
//!
//! A crowded neighbourhood has more pairs than memory holds. They are noted in the ledger anyway, so
//! what is more than a few is noted while it is found, and read back from there. Where only the verdicts
//! are asked for, most pairs of a crowd are found and counted, and not even noted.

use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Yield;
use crate::error::{Error, Result};
use crate::ledger::{LedgerWriter, Receipt};
use crate::matches::{self, Pair, Sieve};
use crate::progress::{self, Activity};

/// How many pairs of a chunk are held, and how many are counted in at once. Only chunks with more are
/// put through the sieve.
const HELD: usize = 1 << 15;

/// The pairs of one chunk after the other.
#[derive(Debug)]
pub(super) struct Findings {
    ledger: LedgerWriter,
    held: Vec<Pair>,
    /// Pairs of the chunk that were found.
    found_here: u64,
    /// Pairs of the chunk that stand in the ledger.
    noted: u64,
    /// What decides which pairs are noted, unless all are.
    sieve: Option<Sieve>,
    /// Pairs found by this process.
    found: Arc<AtomicU64>,
    /// The most that are wanted.
    most: u64,
    failed: Option<Error>,
}

impl Findings {
    /// None so far; `found` counts those of all workers, of which `most` are wanted.
    pub(super) fn new(
        ledger: LedgerWriter,
        found: Arc<AtomicU64>,
        most: u64,
        sieve: Option<Sieve>,
    ) -> Findings {
        let (held, failed) = (Vec::new(), None);
        Findings { ledger, held, found_here: 0, noted: 0, sieve, found, most, failed }
    }

    /// Begins a chunk.
    pub(super) fn begin(&mut self, chunk: u64) {
        self.ledger.begin(chunk);
        self.held.clear();
        (self.found_here, self.noted) = (0, 0);
        self.sieve.iter_mut().for_each(Sieve::clear);
    }

    /// Takes one more.
    #[inline]
    pub(super) fn push(&mut self, pair: Pair) {
        self.found_here += 1;
        if self.found_here > HELD as u64 && !self.passes(&pair) {
            return;
        }
        self.hold(pair);
    }

    /// Whether a pair is to be noted, one of many.
    fn passes(&mut self, pair: &Pair) -> bool {
        if self.found_here.is_multiple_of(HELD as u64) {
            progress::tick(Activity::Working);
        }
        self.sieve.as_mut().is_none_or(|sieve| sieve.passes(pair))
    }

    fn hold(&mut self, pair: Pair) {
        if self.held.len() == HELD {
            self.note();
            self.held.clear();
        }
        self.held.push(pair);
    }

    /// What was found in the chunk, which is finished when this returns.
    ///
    /// # Errors
    /// The first that there was since it began; [`crate::Kind::BadData`] where more was found than is wanted.
    pub(super) fn finish(
        &mut self,
        chunk: u64,
        fingerprints: u64,
    ) -> Result<(Yield<Pair>, Receipt)> {
        if let Some(sieve) = self.sieve.take() {
            sieve.crowded().for_each(|mark| self.hold(mark));
            self.sieve = Some(sieve);
        }
        let all_held = self.noted == 0;
        self.note();
        self.failed.take().map_or(Ok(()), Err)?;
        let (pairs, listed) = (self.found_here, self.noted);
        let receipt = Receipt { chunk, fingerprints, pairs, listed, resumed: false };
        let finished = self.ledger.finish(receipt)?;
        let pairs: Yield<Pair> = match all_held {
            true => Box::new(mem::take(&mut self.held).into_iter().map(Ok)),
            false => Box::new(finished.pairs()),
        };
        Ok((pairs, receipt))
    }

    /// Counts in pairs that were found here or by an earlier run.
    pub(super) fn count_in(&self, pairs: u64) -> Result<()> {
        let found = self.found.fetch_add(pairs, Ordering::Relaxed) + pairs;
        match found > self.most {
            true => {
                Err(matches::too_many(format_args!("more than {} groups", self.most), self.most))
            }
            false => Ok(()),
        }
    }

    /// Counts in what is held and notes it, unless something has failed.
    fn note(&mut self) {
        if self.failed.is_none() {
            let noted = self.count_in(self.held.len() as u64);
            self.failed = noted.and_then(|()| self.ledger.append(&self.held)).err();
        }
        self.noted += self.held.len() as u64;
    }
}
