//! The join by sorting: the fingerprints gathered by their keys, one key after the other.
//!
//! Nothing is indexed. For each key of a [`Design`] the fingerprints are sorted by it, and those that
//! come to stand together are compared. So a batch of a hundred million meets itself, or a window of
//! the store as large as that, in the memory of one pass; tables of all keys at once would hold the
//! batch many times.
//!
//! Keys that begin with the same block are sorted in two steps, of which the first serves them all:
//! a pass over the batch gathers its fingerprints into groups by the hash of that block, the *lead*,
//! and each group, some thousand fingerprints that stay in the cache, is sorted by each of the keys. A
//! pass takes one share of the groups, the unit of work; whoever takes it reads the batch through
//! and needs nobody else.
//!
//! Every pair is found once: it may meet under several keys, but counts under the first only. Where
//! too many meet under a key, they are sorted again by the bits outside it, dealt out over k + 1 keys: a
//! pair differs in at most k of them, so it agrees in one of the keys.

mod buckets;
mod cost;
mod meeting;

use std::ops::Range;
use std::sync::Arc;

use super::design::Design;
use super::{Hit, Probe, Scratch};
use crate::error::Result;
use crate::fingerprint::Fingerprint;
use buckets::{Buckets, Entry};
pub(super) use cost::Cost;
use meeting::Join;

/// About how many fingerprints a group has, as a power of two.
const GROUP_BITS: u32 = 10;

/// How many shares the groups of one lead are divided into, as a power of two.
const SHARE_BITS: u32 = 3;

/// How many parts the leads are divided among.
const TURNS: u32 = 4;

/// About how many fingerprints a share has at most, as a power of two.
const MOST_BITS: u32 = 24;

/// How many fingerprints of the store are best probed at once.
pub(super) const WINDOW: usize = 1 << 24;

/// The batch, to be joined with itself or others under the keys of a design.
#[derive(Debug)]
pub struct Sorted<F> {
    batch: Arc<[F]>,
    keys: Vec<F>,
    leads: Vec<Lead<F>>,
    k: u32,
}

/// What several keys begin with.
#[derive(Debug)]
struct Lead<F> {
    mask: F,
    /// Which keys begin with it.
    keys: Range<usize>,
    /// How many groups there are and how many shares, as powers of two.
    group_bits: u32,
    share_bits: u32,
}

/// Memory that one join works in.
#[derive(Debug)]
pub(super) struct Gathering<F> {
    picked: Vec<Entry<F>>,
    batch: Buckets<F>,
    others: Buckets<F>,
    spare: Vec<Buckets<F>>,
}

impl<F> Default for Gathering<F> {
    fn default() -> Gathering<F> {
        let (batch, others) = (Buckets::default(), Buckets::default());
        Gathering { picked: Vec::new(), batch, others, spare: Vec::new() }
    }
}

impl<F: Fingerprint> Sorted<F> {
    /// The join of `batch`, which is distinct, under the keys of `design` for distances up to `k`.
    ///
    /// # Errors
    /// [`Kind::Usage`](crate::error::Kind::Usage) where the design has no masks or does not cover `k`,
    /// or the batch has more than `u32::MAX` fingerprints.
    pub fn new(batch: Arc<[F]>, design: Design, k: u32) -> Result<Sorted<F>> {
        let count = u32::try_from(batch.len()).map_err(|_| super::too_many(batch.len()))?;
        let (mut keys, mut leads) = (Vec::new(), Vec::new());
        for (mask, led) in design.leads(F::WIDTH, k)? {
            let (group_bits, share_bits) = bits(count.into(), mask.count_ones());
            let first = keys.len();
            keys.extend(led.into_iter().map(F::from_u128));
            let (mask, keys) = (F::from_u128(mask), first..keys.len());
            leads.push(Lead { mask, keys, group_bits, share_bits });
        }
        Ok(Sorted { batch, keys, leads, k })
    }

    /// The keys under which pairs meet.
    pub fn keys(&self) -> &[F] {
        &self.keys
    }

    /// Into how many parts the join of the batch with itself is divided: the same for all designs.
    pub fn parts(&self) -> u32 {
        match self.batch.len() as u64 {
            0 => 0,
            count => TURNS << bits(count, u32::MAX).1,
        }
    }

    /// Joins the batch with itself, as far as it falls into `part`. Over all parts, `found` is called
    /// exactly once for each pair within k: with the later one as the batch's, and the earlier one as
    /// the one that was probed.
    pub fn join(&self, part: u32, scratch: &mut Scratch<F>, found: &mut dyn FnMut(Hit)) {
        let Gathering { picked, batch, spare, .. } = &mut scratch.gathering;
        let mut join = Join { k: self.k, spare };
        let (share, turn) = (part / TURNS, part % TURNS);
        let leads = self.leads.iter().skip(turn as usize).step_by(TURNS as usize);
        for lead in leads.filter(|lead| share < lead.shares()) {
            batch.gather(lead, share, &[&self.batch], picked);
            for group in batch.buckets() {
                join.under(&self.keys, lead.keys.clone(), group, None, &mut |a, b, distance| {
                    let (batch, at) = (a.place.max(b.place), a.place.min(b.place));
                    found(Hit { batch, run: 0, at, distance });
                });
            }
        }
    }
}

impl<F: Fingerprint> Probe<F> for Sorted<F> {
    fn probe(&self, runs: &[&[F]], scratch: &mut Scratch<F>, found: &mut dyn FnMut(Hit)) {
        let ends: Vec<usize> = runs
            .iter()
            .scan(0, |end, run| {
                *end += run.len();
                Some(*end)
            })
            .collect();
        let Gathering { picked, batch, others, spare } = &mut scratch.gathering;
        let mut join = Join { k: self.k, spare };
        let shares = |lead| (0..Lead::shares(lead)).map(move |share| (lead, share));
        for (lead, share) in self.leads.iter().flat_map(shares) {
            others.gather(lead, share, runs, picked);
            batch.gather(lead, share, &[&self.batch], picked);
            for (group, others) in batch.buckets().zip(others.buckets()) {
                let keys = lead.keys.clone();
                join.under(&self.keys, keys, group, Some(others), &mut |entry, other, distance| {
                    let place = other.place as usize;
                    let run = ends.partition_point(|&end| end <= place);
                    let at = place + runs[run].len() - ends[run];
                    found(Hit { batch: entry.place, run: run as u32, at: at as u32, distance });
                });
            }
        }
    }

    fn window(&self) -> usize {
        WINDOW
    }
}

impl<F: Fingerprint> Lead<F> {
    /// How many shares its groups are divided into.
    fn shares(&self) -> u32 {
        1 << self.share_bits
    }
}

/// How many groups and how many shares, as powers of two, so many fingerprints have under a lead of
/// so many bits.
fn bits(count: u64, lead_bits: u32) -> (u32, u32) {
    let count = count.max(1).ilog2();
    let groups = count.saturating_sub(GROUP_BITS).clamp(1, lead_bits);
    (groups, count.saturating_sub(MOST_BITS).max(SHARE_BITS).min(groups))
}

#[cfg(test)]
mod tests;
