//! The probe for a sorted store: the batch conditioned on the prefix of what is probed.
//!
//! What is probed comes in sorted runs, and so in groups that share a prefix. Of the batch only the
//! fingerprints whose own prefix is within k of that one can match, and one whose prefix uses up w of
//! the k errors has only r = k - w left for the bits behind it. Most have none left. Take two blocks of
//! those bits, X and Y. By the general pigeonhole, with tX + tY = r - 1, either X is within tX or Y is
//! within tY: else they would differ in tX + 1 + tY + 1 = r + 1 bits.
//!
//! | r | 0 | 1 | 2 | 3 | 4 | 5 |
//! |---|---|---|---|---|---|---|
//! | X within | 0 | 0 | 1 | 1 | 2 | 2 |
//! | or Y within | - | 0 | 0 | 1 | 1 | 2 |
//!
//! So each such fingerprint of the batch gives a few keys, exact ones mostly, and all of them together
//! a bitmap that stays in the cache. A group is scanned with two bit tests for each fingerprint; the
//! few that pass are compared with the fingerprints that gave their keys, in full.
//!
//! The groups are found by walking the tree of prefixes. A [`level`] holds what of the batch is within
//! reach below one prefix, by the errors left and the next digit, so what is within reach below each
//! child lies in a few buckets. The walk goes down while that is cheaper than to scan ([`cost`]): the
//! prefix is as long as the store is dense there, and where the batch is crowded it is longer. What is
//! built for a prefix serves all runs at once, and where they are many they are gathered first ([`bag`]),
//! so that a leaf scans one slice and not a thousand.
//!
//! All this may be done with the first bits alone, and other pairs left to others: then k counts there,
//! and what meets is held against a second limit for the whole ([`Conditioned::of_high_half`]).
//!
//! Every pair is found once: a fingerprint probed is in one leaf only, a fingerprint of the batch in
//! one bucket of that leaf's reach, and a pair that meets by X and by Y counts by X.

mod bag;
pub(super) mod cost;
mod leaf;
mod level;
mod masks;

use std::ops::Range;

use super::{Hit, Probe, Scratch};
use crate::fingerprint::{Fingerprint, Width};
use bag::Bag;
use cost::Counts;
use leaf::{Leaf, Task};
use level::{Level, Reach};
use masks::Masks;

/// The largest distance for which the conditioned probe is made.
pub(super) const COVERS: u32 = 7;

/// How the tree is cut, and what bounds the memory.
#[derive(Clone, Copy, Debug)]
struct Shape {
    /// The most bits of the first digit, at most 12.
    root: u32,
    /// The bits of every other digit, at most one more.
    digit: u32,
    /// The widest block, at most 22 bits.
    widest: u32,
    /// The shortest prefix of a leaf.
    shallowest: u32,
    /// The most keys in a bitmap at once.
    most_keys: usize,
    /// The most runs that are walked side by side.
    side_by_side: usize,
}

const SHAPE: Shape = Shape {
    root: 12,
    digit: 6,
    widest: 22,
    shallowest: 0,
    most_keys: cost::MOST_KEYS,
    side_by_side: 4,
};

/// The most bytes of bitmap, keys and candidates in a walk.
const WALK_BYTES: u64 = 24 << 20;

/// The batch as the conditioned probe takes it.
#[derive(Debug)]
pub struct Conditioned<F> {
    root: Level<F>,
    masks: Masks,
    /// The most bits in which a pair may differ before the tail.
    k: u32,
    /// The most bits in which it may differ at all.
    within: u32,
    /// How many bits at the end are left to the comparison: zeros that tell nothing, or the low half.
    tail: u32,
    shape: Shape,
}

/// Memory that one walk works in.
#[derive(Debug)]
pub(super) struct Walk<F> {
    leaf: Leaf<F>,
    spare: Vec<Level<F>>,
    /// How far the walk has come in each run, and which part of it the next child has.
    slices: Vec<Range<usize>>,
    bag: Bag<F>,
}

impl<F> Default for Walk<F> {
    fn default() -> Walk<F> {
        let (leaf, bag) = (Leaf::default(), Bag::default());
        Walk { leaf, spare: Vec::new(), slices: Vec::new(), bag }
    }
}

impl<F: Fingerprint> Conditioned<F> {
    /// Arranges `batch`, which is sorted and distinct and has at most `u32::MAX` fingerprints, for
    /// distances up to `k`, at most 7.
    pub(super) fn new(batch: &[F], k: u32) -> Conditioned<F> {
        Conditioned::shaped(batch, k, SHAPE)
    }

    fn shaped(batch: &[F], k: u32, shape: Shape) -> Conditioned<F> {
        let ones = batch.iter().fold(F::default(), |ones, &fingerprint| ones | fingerprint);
        let tail = ones.to_u128().trailing_zeros().min(F::BITS / 2);
        Conditioned::before(tail, batch, k, k, shape)
    }

    /// Arranges `batch` to find, of the pairs within `k`, those within `high` in the high half.
    pub(super) fn of_high_half(batch: &[F], k: u32, high: u32) -> Conditioned<F> {
        Conditioned::before(F::BITS / 2, batch, k, high, SHAPE)
    }

    fn before(tail: u32, batch: &[F], within: u32, k: u32, shape: Shape) -> Conditioned<F> {
        assert!(k <= COVERS, "the design was checked");
        let (root, masks) = (Level::root(batch, k, shape.root), Masks::up_to(k));
        Conditioned { root, masks, k, within, tail, shape }
    }

    /// How many bytes it holds; each worker holds about as much again.
    pub fn memory_bytes(&self) -> u64 {
        size_of_val(&self.root.entries[..]) as u64
    }

    /// How many bits the prefixes of leaves are to have: what is cheapest for as many fingerprints as
    /// these runs would be if they were not a part of the key space only.
    fn depth(&self, runs: &[&[F]]) -> u32 {
        let Shape { root, digit, .. } = self.shape;
        let count: usize = runs.iter().map(|run| run.len()).sum();
        let lowest = runs.iter().filter_map(|run| run.first()).min();
        let highest = runs.iter().filter_map(|run| run.last()).max();
        let (Some(&lowest), Some(&highest)) = (lowest, highest) else { return 0 };
        let share =
            ((highest.to_u128() - lowest.to_u128()) as f64 + 1.0) / 2_f64.powi(F::BITS as i32);
        let store = (count as f64 / share).min(1e15);
        let batch = self.root.entries.len() as f64;
        cost::best(batch, store, self.k, F::BITS - self.tail, root, digit).bits
    }
}

impl<F: Fingerprint> Probe<F> for Conditioned<F> {
    fn probe(&self, runs: &[&[F]], scratch: &mut Scratch<F>, found: &mut dyn FnMut(Hit)) {
        debug_assert!(runs.iter().all(|run| run.is_sorted()), "runs are sorted");
        let Walk { leaf, spare, slices, bag } = &mut scratch.walk;
        let depth = self.depth(runs);
        let first = cost::first(depth, self.shape.root, self.shape.digit);
        let gathered = runs.len() > self.shape.side_by_side && depth > 0;
        let gathered = (gathered && bag.fill(runs, F::BITS - depth)).then_some((&*bag, runs));
        let whole = [&bag.fingerprints[..]];
        let runs = if gathered.is_some() { &whole } else { runs };
        slices.clear();
        slices.resize(runs.len(), 0..0);
        let mut walking = Walking { of: self, runs, gathered, leaf, spare, slices, found };
        walking.below(&self.root, first, F::MAX);
    }
}

/// A walk under way.
struct Walking<'a, F> {
    of: &'a Conditioned<F>,
    runs: &'a [&'a [F]],
    /// The bag, if that is what is walked, and what was gathered in it.
    gathered: Option<(&'a Bag<F>, &'a [&'a [F]])>,
    leaf: &'a mut Leaf<F>,
    spare: &'a mut Vec<Level<F>>,
    slices: &'a mut [Range<usize>],
    found: &'a mut dyn FnMut(Hit),
}

impl<F: Fingerprint> Walking<'_, F> {
    /// Joins what follows in the runs, up to `last`, with what `level` holds, by digits of `bits` bits.
    fn below(&mut self, level: &Level<F>, bits: u32, last: F) {
        let rest = level.rest_below(bits);
        while let Some(next) = self.next(last) {
            let digit = level::low(if rest < F::BITS { next >> rest } else { F::default() });
            let digit = digit & ((1 << bits) - 1);
            let high = next | F::MAX >> (F::BITS - rest);
            let reach = Reach { masks: &self.of.masks, k: self.of.k, digit, bits };
            self.child(level, &reach, high);
        }
    }

    /// Joins all that has one prefix, up to `high`.
    fn child(&mut self, level: &Level<F>, reach: &Reach<'_>, high: F) {
        let Shape { digit, widest, shallowest, most_keys, .. } = self.of.shape;
        let (mut counts, rest) = (Counts::default(), level.rest_below(reach.bits));
        level.reach(reach, |left, bucket| counts[left as usize] += bucket.len() as f64);
        let fingerprints = self.advance(high);
        if counts.iter().all(|&count| count == 0.0) {
            return self.consume();
        }
        let deep = F::BITS - rest >= shallowest;
        let children = self.span(rest.saturating_sub(digit)).min(2_f64.powi(digit as i32));
        let told = rest - self.of.tail;
        let width = match cost::divide(&counts, told, fingerprints as f64, digit, children) {
            _ if told < digit + 2 => Some(told.div_ceil(2)),
            Err(width) if deep => Some(width),
            _ => None,
        };
        if let Some(width) = width {
            let width = width.min(widest);
            let (runs, slices) = (self.runs, &*self.slices);
            let (reach, within, tail) = (*reach, self.of.within, self.of.tail);
            let task = Task { level, reach, within, tail, runs, slices, width, most_keys };
            match self.gathered {
                None => self.leaf.join(&task, self.found),
                Some((bag, _)) => self.leaf.join(&task, &mut |hit| (self.found)(bag.told(hit))),
            }
            return self.consume();
        }
        let mut below = self.spare.pop().unwrap_or_default();
        below.refine(level, reach, digit);
        match self.gathered {
            Some((bag, runs)) if rest <= bag.rest() => {
                self.beside(runs, &mut bag.slices(high), &below, high);
                self.consume();
            }
            _ => self.below(&below, digit, high),
        }
        self.spare.push(below);
    }

    /// Joins `slices` of the runs that were gathered, where the bag is in no finer order.
    fn beside(&mut self, runs: &[&[F]], slices: &mut [Range<usize>], level: &Level<F>, high: F) {
        let Walking { of, leaf, spare, found, .. } = self;
        slices.iter_mut().for_each(|slice| slice.end = slice.start);
        let mut walking = Walking { of, runs, gathered: None, leaf, spare, slices, found };
        walking.below(level, of.shape.digit, high);
    }

    /// The lowest fingerprint that is still to come, if it is not above `last`.
    fn next(&self, last: F) -> Option<F> {
        let runs = self.runs.iter().zip(&*self.slices);
        let lowest = runs.filter_map(|(run, slice)| run.get(slice.start)).min();
        lowest.copied().filter(|&lowest| lowest <= last)
    }

    /// Makes the slices what follows up to `high`, and counts it.
    fn advance(&mut self, high: F) -> usize {
        let runs = self.runs.iter().zip(&mut *self.slices);
        let lengths = runs.map(|(run, slice)| {
            slice.end = slice.start + gallop(&run[slice.start..], high);
            slice.len()
        });
        lengths.sum()
    }

    /// How many prefixes with `rest` bits behind them lie between the lowest and the highest
    /// fingerprint of the slices; where a bag has these in no order, no end of them.
    fn span(&self, rest: u32) -> f64 {
        let slices = || self.runs.iter().zip(&*self.slices).map(|(run, slice)| &run[slice.clone()]);
        let lowest = slices().filter_map(|slice| slice.first()).min().copied().unwrap_or_default();
        let highest = slices().filter_map(|slice| slice.last()).max().copied().unwrap_or_default();
        let prefix = |fingerprint: F| (fingerprint >> rest).to_u128();
        let between = prefix(highest).checked_sub(prefix(lowest));
        between.map_or(f64::INFINITY, |between| between as f64 + 1.0)
    }

    /// Goes on behind the slices.
    fn consume(&mut self) {
        self.slices.iter_mut().for_each(|slice| slice.start = slice.end);
    }
}

/// How many of the ascending `fingerprints` are not above `high`; soon found if they are few.
fn gallop<F: Fingerprint>(fingerprints: &[F], high: F) -> usize {
    let mut bound = 1;
    while bound < fingerprints.len() && fingerprints[bound] <= high {
        bound *= 2;
    }
    let known = bound / 2;
    let open = &fingerprints[known..fingerprints.len().min(bound + 1)];
    known + open.partition_point(|&fingerprint| fingerprint <= high)
}

/// What the probe of `store` uniform fingerprints by their first `bits` bits takes, in nanoseconds for
/// all of them.
pub(super) fn nanoseconds(batch: u64, store: u64, k: u32, bits: u32) -> f64 {
    let (batch, store) = (batch as f64, store as f64);
    cost::best(batch, store, k, bits, SHAPE.root, SHAPE.digit).nanoseconds
}

/// About how many bytes the batch takes, with what so many workers walk in.
pub(super) fn memory_bytes(batch: u64, width: Width, workers: u64) -> u64 {
    let entry = match width {
        Width::W64 => size_of::<level::Entry<u64>>(),
        Width::W128 => size_of::<level::Entry<u128>>(),
    };
    let each = batch.saturating_mul(entry as u64);
    each.saturating_add(workers.saturating_mul(each.saturating_add(WALK_BYTES)))
}

#[cfg(test)]
mod tests;
