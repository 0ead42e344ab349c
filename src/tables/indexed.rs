//! The batch arranged so that near pairs meet.
//!
//! The batch B is small and the store F is large, so B is indexed and F streams past. A table indexes
//! B under a key, some of the fingerprint's bits; a fingerprint of F is compared with those of B that
//! have its key. A [`Design`] is a set of keys such that two fingerprints within k of each other share
//! at least one of them ([`design`] has the argument), so together the tables miss nothing, and since
//! what meets is compared in full, they invent nothing either.
//!
//! ```text
//! Design, k -> masks -> Tables(B) -> probe(F) -> Hit { batch, at, distance }
//! ```
//!
//! The batch and itself, and a batch as large as the store, are joined by [`Sorted`] instead.

mod conditioned;
pub mod design;
mod halves;
mod high_low;
mod masks;
pub mod plan;
mod sorted;
mod table;

use std::sync::Arc;
use std::thread;

pub use conditioned::Conditioned;
pub use design::{Design, MAX_DISTANCE};
pub use halves::Halves;
pub use high_low::HighLow;
pub use plan::{Estimate, Plan, Problem, Way};
pub use sorted::Sorted;

use crate::error::{Error, Kind, Result};
use crate::fingerprint::Fingerprint;
use crate::hamming::wide::{Work, widest};
use crate::progress::{self, Activity};
use conditioned::Walk;
use halves::Candidate;
use sorted::Gathering;
use table::{Survivor, Table, first_meeting};

/// How many bytes of fingerprints go through one table before the next table's turn: so many that its
/// filter is worth bringing into the cache.
const BLOCK_BYTES: usize = 1 << 20;

/// How many survivors' buckets are fetched before the first is compared.
const GROUP: usize = 64;

/// How many entries more, for each fingerprint of the batch, the crowded buckets of one table may hold.
const SPARE: usize = 16;

/// A pair within k: a fingerprint of the batch and one of those probed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hit {
    /// Which fingerprint of the batch, counted in its order.
    pub batch: u32,
    /// Which of the runs probed.
    pub run: u32,
    /// Which fingerprint of the run.
    pub at: u32,
    /// In how many bits they differ.
    pub distance: u8,
}

/// A way to find the near pairs of the batch and any other fingerprints. All ways find the same ones.
pub trait Probe<F>: Send + Sync {
    /// Calls `found` exactly once for each pair of the batch and any of `runs` within k, in no
    /// particular order. Each run ascends and has at most `u32::MAX` fingerprints. What the runs have
    /// in common costs less the more of them come in one call, and the more of the same keys.
    fn probe(&self, runs: &[&[F]], scratch: &mut Scratch<F>, found: &mut dyn FnMut(Hit));

    /// About how many fingerprints of the store are best probed in one call.
    fn window(&self) -> usize {
        1 << 20
    }
}

/// Memory that a probe works in, to be kept from call to call.
#[derive(Debug)]
pub struct Scratch<F> {
    survivors: Vec<Survivor>,
    candidates: Vec<Candidate<F>>,
    walk: Walk<F>,
    gathering: Gathering<F>,
}

impl<F> Default for Scratch<F> {
    fn default() -> Scratch<F> {
        Scratch {
            survivors: Vec::new(),
            candidates: Vec::new(),
            walk: Walk::default(),
            gathering: Gathering::default(),
        }
    }
}

/// The batch arranged by whichever design was chosen.
#[derive(Debug)]
pub enum Method<F> {
    /// By a design of masks.
    Tables(Tables<F>),
    /// By prefix.
    Conditioned(Conditioned<F>),
    /// By blocks at most one bit off.
    Halves(Halves<F>),
    /// The high half by prefix, the low half by blocks.
    HighLow(HighLow<F>),
    /// Not at all: sorted anew for each window of what is probed.
    Sorted(Sorted<F>),
}

impl<F: Fingerprint> Method<F> {
    /// Arranges `batch`, which is sorted and distinct, for distances up to `k`, by `design` in this
    /// way, as a [`plan`] has it.
    ///
    /// # Errors
    /// [`Kind::Usage`] where the design does not cover `k`, for [`Design::Auto`], or where the batch
    /// has more than `u32::MAX` fingerprints.
    pub fn build(batch: &Arc<[F]>, design: Design, way: Way, k: u32) -> Result<Method<F>> {
        debug_assert!(batch.is_sorted_by(|a, b| a < b), "a batch is sorted and distinct");
        u32::try_from(batch.len()).map_err(|_| too_many(batch.len()))?;
        design.check(F::WIDTH, k)?;
        Ok(match (design, way) {
            (Design::Conditioned, _) => Method::Conditioned(Conditioned::new(batch, k)),
            (Design::Halves, _) => Method::Halves(Halves::new(batch, k)),
            (Design::HighLow, _) => Method::HighLow(HighLow::new(batch, k)),
            (design, Way::Indexed) => Method::Tables(Tables::build(batch, design, k)?),
            (design, Way::Sorted) => Method::Sorted(Sorted::new(Arc::clone(batch), design, k)?),
        })
    }

    /// How many bytes it holds.
    pub fn memory_bytes(&self) -> u64 {
        match self {
            Method::Tables(tables) => tables.memory_bytes(),
            Method::Conditioned(conditioned) => conditioned.memory_bytes(),
            Method::Halves(halves) => halves.memory_bytes(),
            Method::HighLow(high_low) => high_low.memory_bytes(),
            Method::Sorted(_) => 0,
        }
    }
}

impl<F: Fingerprint> Probe<F> for Method<F> {
    fn probe(&self, runs: &[&[F]], scratch: &mut Scratch<F>, found: &mut dyn FnMut(Hit)) {
        match self {
            Method::Tables(tables) => tables.probe(runs, scratch, found),
            Method::Conditioned(conditioned) => conditioned.probe(runs, scratch, found),
            Method::Halves(halves) => halves.probe(runs, scratch, found),
            Method::HighLow(high_low) => high_low.probe(runs, scratch, found),
            Method::Sorted(sorted) => sorted.probe(runs, scratch, found),
        }
    }

    fn window(&self) -> usize {
        match self {
            Method::Tables(tables) => tables.window(),
            Method::Conditioned(conditioned) => conditioned.window(),
            Method::Halves(halves) => halves.window(),
            Method::HighLow(high_low) => high_low.window(),
            Method::Sorted(sorted) => sorted.window(),
        }
    }
}

/// The batch under every key of a design.
#[derive(Debug)]
pub struct Tables<F> {
    tables: Vec<Table<F>>,
    k: u32,
}

impl<F: Fingerprint> Tables<F> {
    /// Arranges `batch`, which is sorted and distinct, for distances up to `k`.
    ///
    /// # Errors
    /// [`Kind::Usage`] where the design has no masks or does not cover `k`, or the batch has more than
    /// `u32::MAX` fingerprints.
    pub fn build(batch: &[F], design: Design, k: u32) -> Result<Tables<F>> {
        let count = u32::try_from(batch.len()).map_err(|_| too_many(batch.len()))?;
        let masks = design.masks(F::WIDTH, k)?;
        let places: Vec<u32> = (0..count).collect();
        let build = |&mask: &u128| {
            progress::tick(Activity::Sorting);
            let mut spare = SPARE * batch.len();
            Table::build(batch, &places, mask, k, &mut spare)
        };
        Ok(Tables { tables: in_parallel(&masks, build), k })
    }

    /// How many bytes the tables hold.
    pub fn memory_bytes(&self) -> u64 {
        self.tables.iter().map(Table::memory_bytes).sum()
    }

    /// Compares a survivor of table `turn` with its bucket there. A pair may meet in several tables; it
    /// counts in the first, and so exactly once.
    #[inline(always)]
    fn compare(&self, turn: usize, block: &[F], survivor: &Survivor, found: &mut dyn FnMut(Hit)) {
        let &Survivor { at, bucket } = survivor;
        let fingerprint = block[at as usize];
        let mut hit = |batch, entry, distance| {
            if first_meeting(&self.tables, fingerprint ^ entry) == Some(turn) {
                found(Hit { batch, run: 0, at, distance: distance as u8 });
            }
        };
        self.tables[turn].compare(bucket as usize, fingerprint, self.k, &mut hit);
    }
}

/// Puts a block of a run through every table: sift, then compare what survives.
struct Block<'a, F> {
    tables: &'a Tables<F>,
    block: &'a [F],
    survivors: &'a mut [Survivor],
    found: &'a mut dyn FnMut(Hit),
}

impl<F: Fingerprint> Work for Block<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Block { tables, block, survivors, found } = self;
        for (turn, table) in tables.tables.iter().enumerate() {
            let count = table.sift(block, survivors);
            for survivors in survivors[..count].chunks(GROUP) {
                table.fetch(survivors.iter().map(|survivor| survivor.bucket));
                for survivor in survivors {
                    tables.compare(turn, block, survivor, found);
                }
            }
        }
    }
}

impl<F: Fingerprint> Probe<F> for Tables<F> {
    fn probe(&self, runs: &[&[F]], scratch: &mut Scratch<F>, found: &mut dyn FnMut(Hit)) {
        let size = BLOCK_BYTES / size_of::<F>();
        scratch.survivors.resize(size, Survivor::default());
        for (number, run) in (0..).zip(runs) {
            for (block, first) in run.chunks(size).zip((0..).step_by(size)) {
                let found = &mut |hit: Hit| found(Hit { run: number, at: first + hit.at, ..hit });
                widest(Block { tables: self, block, survivors: &mut scratch.survivors, found });
            }
        }
    }
}

/// The results of `work` on each of `items`, in order, on as many threads as there are cores.
fn in_parallel<I: Sync, O: Send>(items: &[I], work: impl Fn(&I) -> O + Sync) -> Vec<O> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let share = items.len().div_ceil(threads).max(1);
    thread::scope(|scope| {
        let work = &work;
        let shares = items.chunks(share);
        let threads: Vec<_> = shares
            .map(|share| scope.spawn(move || share.iter().map(work).collect::<Vec<_>>()))
            .collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().expect("a thread that builds tables"))
            .collect()
    })
}

fn too_many(found: usize) -> Error {
    Error::new(Kind::Usage, "the batch has too many distinct fingerprints for one process")
        .expected(format!("at most {}", u32::MAX))
        .found(found)
        .help("divide the day into several batches")
}

#[cfg(test)]
mod tests;
