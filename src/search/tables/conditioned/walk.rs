//! The batch arranged by prefix, and the walk down the tree of prefixes.
//!
//! At each prefix the walk decides by [`cost::divide`]: `Ok` says that a longer prefix is cheaper, so the walk goes down one digit;
//! `Err(width)` says that a scan is cheaper, with a bitmap of keys of `width` bits, so the prefix is a leaf.
//!
//! ```text
//! batch 0010.. 0011..    store 0010.. 0011.. 0111.. 1100.. 1101..    digits of 2 bits, k = 1
//!
//! root           level of the empty prefix: the whole batch, 1 error left
//!  |- 00         digits 00 (1 left), 01 and 10 (0 left): both, 1 left   go down
//!  |   |- 0010   leaf: scan `0010..` with the keys of both
//!  |   `- 0011   leaf: scan `0011..` with the keys of both
//!  |- 01         digits 01 (1 left), 00 and 11 (0 left): both, 0 left   leaf: scan `0111..`
//!  `- 11         digits 11 (1 left), 01 and 10 (0 left): none           skip `1100.. 1101..`
//! ```

use std::ops::Range;
use std::sync::Arc;

use super::bag::{Bag, gallop};
use super::cost::{self, Counts, SHAPE, Shape};
use super::leaf::{Leaf, Task};
use super::level::{self, COVERS, Level, Prefix, Reach};
use crate::fingerprint::Fingerprint;
use crate::tables::flips::Flips;
use crate::tables::probe::{Hit, Probe};

#[derive(Debug)]
pub(in crate::tables) struct Conditioned<F> {
    root: Level<F>,
    /// What tells this arrangement from every other one.
    identity: Arc<()>,
    flips: Flips,
    /// The most bits in which a pair may differ.
    k: u32,
    /// How many bits at the end are zeros, which tell nothing, and are left to the comparison.
    tail: u32,
    shape: Shape,
}

#[derive(Debug, Default)]
pub(in crate::tables) struct Walk<F> {
    leaf: Leaf<F>,
    /// Levels whose memory is used again. The last element is the uppermost level that was made.
    spare: Vec<Level<F>>,
    /// How far the walk has come in each run, and which part of it the next child has.
    slices: Vec<Range<usize>>,
    bag: Bag<F>,
}

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

impl<F: Fingerprint> Conditioned<F> {
    /// Arranges `batch`, which is sorted and distinct, for distances up to `k`.
    pub(in crate::tables) fn new(batch: &[F], k: u32) -> Conditioned<F> {
        Conditioned::shaped(batch, k, SHAPE)
    }

    /// How many bytes it holds; each worker holds about as much again.
    pub(in crate::tables) fn memory_bytes(&self) -> u64 {
        size_of_val(&self.root.entries[..]) as u64
    }

    fn shaped(batch: &[F], k: u32, shape: Shape) -> Conditioned<F> {
        let ones = batch.iter().fold(F::default(), |ones, &fingerprint| ones | fingerprint);
        let tail = ones.to_u128().trailing_zeros().min(F::BITS / 2);
        assert!(k <= COVERS, "the design was checked");
        let root = Level::root(batch, k, shape.root);
        let flips = Flips::up_to(k);
        let identity = Arc::new(());
        Conditioned { root, identity, flips, k, tail, shape }
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
    type Scratch = Walk<F>;

    fn probe(&self, runs: &[&[F]], scratch: &mut Walk<F>, found: &mut dyn FnMut(Hit)) {
        debug_assert!(runs.iter().all(|run| run.is_sorted()), "runs are sorted");
        let Walk { leaf, spare, slices, bag } = scratch;
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

impl<F: Fingerprint> Walking<'_, F> {
    /// Joins what follows in the runs, up to `last`, with what `level` holds, by digits of `bits` bits.
    fn below(&mut self, level: &Level<F>, bits: u32, last: F) {
        let rest = level.rest_below(bits);
        while let Some(next) = self.next(last) {
            let digit = level::low(if rest < F::BITS { next >> rest } else { F::default() });
            let digit = digit & ((1 << bits) - 1);
            let high = next | F::MAX >> (F::BITS - rest);
            let reach = Reach { flips: &self.of.flips, k: self.of.k, digit, bits };
            self.child(level, &reach, high);
        }
    }

    /// Joins all that has one prefix, up to `high`.
    fn child(&mut self, level: &Level<F>, reach: &Reach<'_>, high: F) {
        let Shape { digit, widest, shallowest, most_keys, .. } = self.of.shape;
        let mut counts = Counts::default();
        let rest = level.rest_below(reach.bits);
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
            // A scan is cheaper.
            Err(width) if deep => Some(width),
            _ => None,
        };
        if let Some(width) = width {
            let width = width.min(widest);
            let (reach, tail, runs, slices) = (*reach, self.of.tail, self.runs, &*self.slices);
            let task = Task { level, reach, tail, runs, slices, width, most_keys };
            match self.gathered {
                None => self.leaf.join(&task, self.found),
                Some((bag, _)) => {
                    self.leaf.join(&task, &mut |hit| (self.found)(bag.hit_in_run(hit)))
                }
            }
            return self.consume();
        }
        let mut below = self.spare.pop().unwrap_or_default();
        let batch = Arc::clone(&self.of.identity);
        below.refine(level, reach, digit, Prefix { batch, high, rest });
        match self.gathered {
            Some((bag, runs)) if rest <= bag.rest => {
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
    /// fingerprint of the slices; infinity if a bag has these in no order.
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

#[cfg(test)]
mod tests;
