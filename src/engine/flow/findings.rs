//! The pairs that a worker finds in a chunk, on their way to the ledger.
//!
//! A crowd has more pairs than fit into memory. They go to the ledger in any case, so if there are many
//! they are written while the probe continues, and read back from there. If only verdicts are wanted, most
//! pairs of a crowd are counted and then dropped.

use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::dispatch::Yield;
use crate::error::{Error, Result};
use crate::ledger::{LedgerWriter, Receipt};
use crate::matches::{self, Pair, Sieve};
use crate::progress::{self, Activity};

/// How many pairs of a chunk are held in memory and written at once. Only chunks with more pairs go through
/// the sieve.
const HELD: usize = 1 << 15;

#[derive(Debug)]
pub(super) struct Findings {
    ledger: LedgerWriter,
    held: Vec<Pair>,
    found_here: u64,
    listed: u64,
    /// Decides which pairs are listed; none if all are.
    sieve: Option<Sieve>,
    found: Arc<AtomicU64>,
    /// More pairs than this are an error.
    most: u64,
    failed: Option<Error>,
}

impl Findings {
    pub(super) fn new(
        ledger: LedgerWriter,
        found: Arc<AtomicU64>,
        most: u64,
        sieve: Option<Sieve>,
    ) -> Findings {
        Findings {
            ledger,
            held: Vec::new(),
            found_here: 0,
            listed: 0,
            sieve,
            found,
            most,
            failed: None,
        }
    }

    pub(super) fn begin(&mut self, chunk: u64) {
        self.ledger.begin(chunk);
        self.held.clear();
        self.found_here = 0;
        self.listed = 0;
        self.sieve.iter_mut().for_each(Sieve::clear);
    }

    #[inline]
    pub(super) fn push(&mut self, pair: Pair) {
        self.found_here += 1;
        if self.found_here > HELD as u64 && !self.passes(&pair) {
            return;
        }
        self.hold(pair);
    }

    fn sift(&mut self) {
        if let Some(sieve) = &mut self.sieve {
            self.held.retain(|pair| sieve.passes(pair));
        }
    }

    fn passes(&mut self, pair: &Pair) -> bool {
        if self.found_here == HELD as u64 + 1 {
            self.sift();
        }
        if self.found_here.is_multiple_of(HELD as u64) {
            progress::tick(Activity::Working);
        }
        self.sieve.as_mut().is_none_or(|sieve| sieve.passes(pair))
    }

    /// Takes a pair that is listed in any case, and is none of fingerprints that were compared.
    pub(super) fn hold(&mut self, pair: Pair) {
        if self.held.len() == HELD {
            self.list();
            self.held.clear();
        }
        self.held.push(pair);
    }

    pub(super) fn finish(
        &mut self,
        chunk: u64,
        fingerprints: u64,
    ) -> Result<(Yield<Pair>, Receipt)> {
        if let Some(sieve) = self.sieve.take() {
            sieve.crowded().for_each(|mark| self.hold(mark));
            self.sieve = Some(sieve);
        }
        let all_held = self.listed == 0;
        self.list();
        self.failed.take().map_or(Ok(()), Err)?;
        let pairs = self.found_here;
        let receipt = Receipt { chunk, fingerprints, pairs, listed: self.listed, resumed: false };
        let finished = self.ledger.finish(receipt)?;
        let pairs: Yield<Pair> = if all_held {
            Box::new(mem::take(&mut self.held).into_iter().map(Ok))
        } else {
            Box::new(finished.pairs())
        };
        Ok((pairs, receipt))
    }

    pub(super) fn count_in(&self, pairs: u64) -> Result<()> {
        let found = self.found.fetch_add(pairs, Ordering::Relaxed) + pairs;
        if found <= self.most {
            return Ok(());
        }
        Err(matches::too_many(format_args!("more than {} groups", self.most), self.most))
    }

    /// Counts the pairs that are held and writes them to the ledger, unless something has failed.
    fn list(&mut self) {
        if self.failed.is_none() {
            let counted = self.count_in(self.held.len() as u64);
            self.failed = counted.and_then(|()| self.ledger.append(&self.held)).err();
        }
        self.listed += self.held.len() as u64;
    }
}
