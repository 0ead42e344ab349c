//! The batch joined with itself, part by part, or with windows of the store.

use std::sync::Arc;

use super::lead::{Lead, MOST, TURNS, bits, part_bits, parts};
use super::meeting::Join;
use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::tables::buckets::{Buckets, Entry, check_count};
use crate::tables::design::Design;
use crate::tables::probe::{Hit, Places, Probe};

/// How many fingerprints of the store are best probed at once, if there is memory for so many.
pub(super) const WINDOW: usize = 1 << 24;

/// The batch, to be joined with itself or others under the keys of a design.
#[derive(Debug)]
pub(in crate::tables) struct SortedJoin<F> {
    batch: Arc<[F]>,
    pub(in crate::tables) keys: Vec<F>,
    leads: Vec<Lead<F>>,
    k: u32,
}

#[derive(Debug, Default)]
pub(in crate::tables) struct Gathering<F> {
    picked: Vec<Entry<F>>,
    batch: Buckets<F>,
    others: Buckets<F>,
    spare: Vec<Buckets<F>>,
}

impl<F: Fingerprint> SortedJoin<F> {
    /// The join of `batch`, which is distinct, under the keys of `design` for distances up to `k`.
    pub(in crate::tables) fn new(batch: Arc<[F]>, design: Design, k: u32) -> Result<SortedJoin<F>> {
        SortedJoin::in_shares(batch, design, k, MOST)
    }

    /// The same, in shares of about `most` fingerprints at most.
    pub(in crate::tables) fn in_shares(
        batch: Arc<[F]>,
        design: Design,
        k: u32,
        most: u64,
    ) -> Result<SortedJoin<F>> {
        let count = check_count(batch.len())?;
        let mut keys = Vec::new();
        let mut leads = Vec::new();
        for (mask, led) in design.masked(F::WIDTH, k)?.leads(F::WIDTH)? {
            let (group_bits, share_bits) = bits(count.into(), mask.count_ones(), most);
            let part_bits = part_bits(count.into(), mask.count_ones());
            let first = keys.len();
            keys.extend(led.into_iter().map(F::from_u128));
            let mask = F::from_u128(mask);
            let keys = first..keys.len();
            leads.push(Lead { mask, keys, group_bits, share_bits, part_bits });
        }
        Ok(SortedJoin { batch, keys, leads, k })
    }

    pub(in crate::tables) fn parts(&self) -> u32 {
        parts(self.batch.len())
    }

    /// Joins one part of the batch with itself. Over all parts, `found` is called exactly once for each pair
    /// within k: with the later one as the batch's, and the earlier one as the probed one.
    pub(in crate::tables) fn join(
        &self,
        part: u32,
        scratch: &mut Gathering<F>,
        found: &mut dyn FnMut(Hit),
    ) {
        let Gathering { picked, batch, spare, .. } = scratch;
        let leads = self.leads.iter().skip((part % TURNS) as usize).step_by(TURNS as usize);
        let shares =
            leads.flat_map(|lead| lead.shares_of(part / TURNS).map(move |share| (lead, share)));
        for (lead, share) in shares {
            lead.gather(share, &[&self.batch], picked, batch);
            let mut join = Join { k: self.k, shared: lead.group_bits, spare };
            for group in batch.buckets() {
                join.under(&self.keys, lead.keys.clone(), group, None, &mut |a, b, distance| {
                    let batch = a.place.max(b.place);
                    let at = a.place.min(b.place);
                    found(Hit { batch, run: 0, at, distance });
                });
            }
        }
    }
}

impl<F: Fingerprint> Probe<F> for SortedJoin<F> {
    type Scratch = Gathering<F>;

    fn probe(&self, runs: &[&[F]], scratch: &mut Gathering<F>, found: &mut dyn FnMut(Hit)) {
        let places = Places::of(runs);
        let Gathering { picked, batch, others, spare } = scratch;
        let shares = |lead| (0..Lead::shares(lead)).map(move |share| (lead, share));
        for (lead, share) in self.leads.iter().flat_map(shares) {
            lead.gather(share, runs, picked, others);
            lead.gather(share, &[&self.batch], picked, batch);
            let mut join = Join { k: self.k, shared: lead.group_bits, spare };
            for (group, others) in batch.buckets().zip(others.buckets()) {
                let keys = lead.keys.clone();
                join.under(&self.keys, keys, group, Some(others), &mut |entry, other, distance| {
                    let (run, at) = places.find(other.place);
                    found(Hit { batch: entry.place, run: run as u32, at: at as u32, distance });
                });
            }
        }
    }

    fn window(&self) -> usize {
        WINDOW
    }
}

#[cfg(test)]
mod tests;
