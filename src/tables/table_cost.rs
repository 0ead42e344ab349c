//! What each way to join takes, counted on uniform fingerprints and weighed.

use super::{Estimate, Problem, Way};
use crate::error::Result;
use crate::fingerprint::Width;
use crate::store::COLD_BITS;
use crate::tables::Design;
use crate::tables::halves::{self, Block, MARKS};
use crate::tables::table::{CROWD, hash_bits};
use crate::tables::{conditioned, high_low, sorted};

/// Hashing a key, and writing down what passes.
const LOOK_NS: f64 = 1.5;
/// The way from the filter to the bucket and out of it again, the memory aside.
const SURVIVOR_NS: f64 = 10.0;
/// One comparison.
const COMPARE_NS: f64 = 2.5;
/// Arranging one fingerprint in one table.
const BUILD_NS: f64 = 60.0;
/// What stays in the cache of a core, and in the one that all share.
const CACHE_BYTES: f64 = 512.0 * 1024.0;
const SHARED_CACHE_BYTES: f64 = 16.0 * 1024.0 * 1024.0;
/// One access at random inside these, and beyond them, while others are under way.
const NEAR_NS: f64 = 1.0;
const FAR_NS: f64 = 4.0;
const MEMORY_NS: f64 = 12.0;
/// How many chunks a store has at least; a window is no larger than one.
const CHUNKS: u64 = 64;
/// How many such accesses lead to a bucket and its entries.
const SURVIVOR_ACCESSES: f64 = 5.0;
/// Marking one value within one bit of a fingerprint's block, by where the filter is: inside the first
/// cache or beyond it.
const MARK_NS: [f64; 2] = [1.0, 8.0];
/// Looking, for one that passes, whether one such value is held.
const FLIP_NS: f64 = 2.0;

/// What `design` costs, in each way that it can be carried out.
///
/// # Errors
/// [`Kind::Usage`] where the design does not cover `k`, and for [`Design::Auto`].
pub(super) fn estimate(design: Design, problem: &Problem) -> Result<Vec<Estimate>> {
    match design {
        Design::Conditioned => estimate_conditioned(problem).map(|it| vec![it]),
        Design::Halves => estimate_halves(problem).map(|it| vec![it]),
        Design::HighLow => estimate_high_low(problem).map(|it| vec![it]),
        design => Ok(vec![estimate_tables(design, problem)?, estimate_sorted(design, problem)?]),
    }
}

fn estimate_tables(design: Design, problem: &Problem) -> Result<Estimate> {
    let &Problem { batch, store, k, width, .. } = problem;
    let masks = design.masks(width, k)?;
    let (mut nanoseconds, mut memory_bytes) = (0.0, 0);
    for mask in &masks {
        let table = Shape::of(batch, mask.count_ones(), width);
        nanoseconds += table.nanoseconds();
        memory_bytes += table.memory_bytes;
    }
    let build = BUILD_NS * batch as f64 * masks.len() as f64;
    let seconds = (store as f64 * nanoseconds + build) / 1e9;
    let (tables, way) = (masks.len() as u64, Way::Indexed);
    Ok(Estimate { design, way, tables, nanoseconds, seconds, memory_bytes })
}

fn estimate_conditioned(problem: &Problem) -> Result<Estimate> {
    let &Problem { batch, store, k, width, workers, .. } = problem;
    let (design, way) = (Design::Conditioned, Way::Indexed);
    design.check(width, k)?;
    let probe = conditioned::nanoseconds(batch, store, k, width.bits());
    Ok(Estimate {
        design,
        way,
        tables: design.tables(),
        nanoseconds: probe / store.max(1) as f64,
        seconds: (probe + BUILD_NS * batch as f64) / 1e9,
        memory_bytes: conditioned::memory_bytes(batch, width, workers),
    })
}

fn estimate_halves(problem: &Problem) -> Result<Estimate> {
    let &Problem { batch, store, k, width, .. } = problem;
    let (design, way) = (Design::Halves, Way::Indexed);
    design.check(width, k)?;
    let halves = Blocks::of(problem, &Block::all(width, k));
    // Those probed ascend, and so they sweep the filter of the first block.
    let swept = halves.0.first().map_or(0.0, Half::swept_ns);
    let nanoseconds = halves.nanoseconds() - swept;
    Ok(Estimate {
        design,
        way,
        tables: halves.0.len() as u64,
        nanoseconds,
        seconds: (store as f64 * nanoseconds + halves.build_ns() * batch as f64) / 1e9,
        memory_bytes: halves.memory_bytes(),
    })
}

fn estimate_high_low(problem: &Problem) -> Result<Estimate> {
    let &Problem { batch, store, k, width, workers, .. } = problem;
    let (design, way) = (Design::HighLow, Way::Indexed);
    design.check(width, k)?;
    let (high, low) = high_low::limits(k);
    let blocks = low.map_or(Vec::new(), |low| Block::of_low_half(width, low));
    let low = Blocks::of(problem, &blocks);
    let high_ns = conditioned::nanoseconds(batch, store, high, width.bits() / 2);
    let probe = high_ns + store as f64 * low.nanoseconds();
    Ok(Estimate {
        design,
        way,
        tables: 1 + blocks.len() as u64,
        nanoseconds: probe / store.max(1) as f64,
        seconds: (probe + (BUILD_NS + low.build_ns()) * batch as f64) / 1e9,
        memory_bytes: conditioned::memory_bytes(batch, width, workers) + low.memory_bytes(),
    })
}

/// The batch and the store window by window, sorted together.
fn estimate_sorted(design: Design, problem: &Problem) -> Result<Estimate> {
    let &Problem { batch, store, k, width, workers, .. } = problem;
    let window = store.div_ceil(CHUNKS).min(sorted::WINDOW as u64);
    let windows = store.div_ceil(window.max(1));
    let cost = sorted::Cost::of(design, batch, window, k, width)?;
    let seconds = windows as f64 * cost.nanoseconds / 1e9;
    Ok(Estimate {
        design,
        way: Way::Sorted,
        tables: design.tables(),
        nanoseconds: seconds * 1e9 / store.max(1) as f64,
        seconds,
        memory_bytes: workers * cost.memory_bytes,
    })
}

/// One table over uniform fingerprints.
struct Shape {
    filter_bytes: f64,
    memory_bytes: u64,
    /// The share of fingerprints that pass the filter.
    passing: f64,
    /// The comparisons of one that passes.
    comparisons: f64,
}

impl Shape {
    fn of(batch: u64, key_bits: u32, width: Width) -> Shape {
        let (bucket_bits, filter_bits) = hash_bits(batch as usize, key_bits);
        let (buckets, filter) = (1_u64 << bucket_bits, 1_u64 << filter_bits);
        let load = batch as f64 / buckets as f64;
        let marked = occupied(2.0 * batch as f64, filter_bits);
        let true_keys = occupied(batch as f64, key_bits);
        let entry_bytes = u64::from(width.bits() / 8) + 4;
        Shape {
            filter_bytes: filter as f64 / 8.0,
            memory_bytes: batch
                .saturating_mul(entry_bytes)
                .saturating_add(4 * buckets + filter / 8),
            passing: true_keys + (1.0 - true_keys) * marked * marked,
            comparisons: load.min(CROWD as f64) + 1.0,
        }
    }

    fn nanoseconds(&self) -> f64 {
        LOOK_NS + access(self.filter_bytes) + self.passing * self.survivor_ns()
    }

    /// For one that passes.
    fn survivor_ns(&self) -> f64 {
        let reach = SURVIVOR_ACCESSES * access(self.memory_bytes as f64);
        SURVIVOR_NS + reach + COMPARE_NS * self.comparisons
    }
}

/// Blocks of the halves.
struct Blocks(Vec<Half>);

impl Blocks {
    fn of(problem: &Problem, blocks: &[Block]) -> Blocks {
        let &Problem { batch, width, split, .. } = problem;
        let cold = if split { COLD_BITS } else { 0 };
        let half = |&block: &Block| {
            let Half { memory_bytes, .. } = Half::of(batch, block, width);
            Half { memory_bytes, ..Half::of(batch, block.above(cold), width) }
        };
        Blocks(blocks.iter().map(half).collect())
    }

    /// For one fingerprint, in no order.
    fn nanoseconds(&self) -> f64 {
        self.0.iter().map(Half::nanoseconds).sum()
    }

    /// To arrange one fingerprint of the batch.
    fn build_ns(&self) -> f64 {
        self.0.iter().map(|half| half.build_ns).sum()
    }

    fn memory_bytes(&self) -> u64 {
        self.0.iter().map(|half| half.memory_bytes).sum()
    }
}

/// One block of the halves, over uniform fingerprints.
struct Half {
    near_bytes: f64,
    memory_bytes: u64,
    /// The share of fingerprints that pass the filter.
    passing: f64,
    /// What one that passes looks for.
    flips: f64,
    /// The candidates of one fingerprint, passing or not.
    candidates: f64,
    /// A candidate's way to its bucket, and the comparisons there.
    candidate_ns: f64,
    /// Arranging one fingerprint of the batch.
    build_ns: f64,
}

impl Half {
    fn of(batch: u64, block: Block, width: Width) -> Half {
        let (ball, count) = (f64::from(1 + block.flips()), batch as f64);
        let [(near_bytes, near_errors), (own_bytes, own_errors)] =
            [count * ball, count].map(|values| filter(values, block.width));
        let passing = occupied(count * ball, block.width) + near_errors;
        let met = count * ball / 2_f64.powi(block.width as i32);
        let table = Shape::of(batch, block.width, width);
        let mark = MARK_NS[usize::from(near_bytes > CACHE_BYTES)];
        Half {
            near_bytes,
            memory_bytes: (near_bytes + own_bytes) as u64 + table.memory_bytes,
            passing: passing.min(1.0),
            flips: ball,
            candidates: met + passing.min(1.0) * ball * own_errors,
            candidate_ns: table.survivor_ns(),
            build_ns: BUILD_NS + mark * ball,
        }
    }

    /// For one fingerprint.
    fn nanoseconds(&self) -> f64 {
        let survivors = self.passing * (self.flips * FLIP_NS + SURVIVOR_NS);
        LOOK_NS + access(self.near_bytes) + survivors + self.candidates * self.candidate_ns
    }

    /// What of it falls away where the filter is swept.
    fn swept_ns(&self) -> f64 {
        access(self.near_bytes) - NEAR_NS
    }
}

/// How many bytes the filter of the halves takes for so many values of `bits` bits, and which share of
/// others passes.
fn filter(values: f64, bits: u32) -> (f64, f64) {
    let words = 2_f64.powi(halves::word_bits(values as u64, bits) as i32);
    let marked = -(-f64::from(MARKS) * values / words / 64.0).exp_m1();
    (8.0 * words, marked.powi(MARKS as i32))
}

/// The share of 2^`bits` places taken by so many throws.
fn occupied(throws: f64, bits: u32) -> f64 {
    -(-throws / 2_f64.powi(bits as i32)).exp_m1()
}

/// One access at random into so many bytes.
fn access(bytes: f64) -> f64 {
    match bytes {
        near if near <= CACHE_BYTES => NEAR_NS,
        far if far <= SHARED_CACHE_BYTES => FAR_NS,
        _ => MEMORY_NS,
    }
}
