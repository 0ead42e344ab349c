//! What the blocks cost, counted and weighed. The constants were measured on one core of a 2-core Sapphire Rapids
//! machine.

use super::block::Block;
use super::filter::{MARKS, word_bits};
use crate::tables::prices::Prices;
use crate::tables::problem::{Cost, Problem};
use crate::tables::table_cost::{SURVIVOR_NS, TableCost};

/// To mark one value within one bit of a fingerprint's block, without the way to the filter, in nanoseconds.
const MARK_NS: f64 = 1.5;
/// Which part of that way it waits for.
const MARK_ACCESSES: f64 = 0.3;
/// To look, for a fingerprint that passes, whether one such value is held.
const FLIP_NS: f64 = 2.5;
/// To arrange one fingerprint of the batch, without the marks.
const BUILD_NS: f64 = 20.0;
/// To look into the filter.
const LOOK_NS: f64 = 2.3;

/// What the blocks of the whole fingerprint cost.
pub(in crate::tables) fn cost(problem: &Problem, prices: &Prices) -> Cost {
    let &Problem { batch, store, k, width, .. } = problem;
    let blocks = BlocksCost::of(problem, &Block::all(width, k), prices);
    // The probed fingerprints ascend, so they sweep the filter of the first block.
    let swept = blocks.0.first().map_or(0.0, |block| block.swept_ns(prices));
    let nanoseconds = blocks.nanoseconds() - swept;
    Cost {
        tables: blocks.0.len() as u64,
        nanoseconds,
        seconds: (store as f64 * nanoseconds + blocks.build_ns() * batch as f64) / 1e9,
        memory_bytes: blocks.memory_bytes(),
    }
}

/// Several blocks.
pub(in crate::tables) struct BlocksCost(Vec<BlockCost>);

impl BlocksCost {
    /// Of these blocks.
    pub(in crate::tables) fn of(
        problem: &Problem,
        blocks: &[Block],
        prices: &Prices,
    ) -> BlocksCost {
        BlocksCost(blocks.iter().map(|&block| BlockCost::of(problem, block, prices)).collect())
    }

    /// For one fingerprint, in no order.
    pub(in crate::tables) fn nanoseconds(&self) -> f64 {
        self.0.iter().map(BlockCost::nanoseconds).sum()
    }

    /// To arrange one fingerprint of the batch.
    pub(in crate::tables) fn build_ns(&self) -> f64 {
        self.0.iter().map(|block| block.build_ns).sum()
    }

    pub(in crate::tables) fn memory_bytes(&self) -> u64 {
        self.0.iter().map(|block| block.memory_bytes).sum()
    }
}

/// One block.
struct BlockCost {
    memory_bytes: u64,
    /// The share of fingerprints that pass the filter of values within one bit.
    passing: f64,
    /// How many values are within one bit.
    flips: f64,
    /// The fingerprints of the batch that one is looked up for.
    candidates: f64,
    candidate_ns: f64,
    /// To look into the filter.
    look_ns: f64,
    /// Arranging one fingerprint of the batch.
    build_ns: f64,
}

impl BlockCost {
    fn of(problem: &Problem, block: Block, prices: &Prices) -> BlockCost {
        let &Problem { batch, width, slice, .. } = problem;
        let ball = f64::from(1 + block.flips());
        let count = batch as f64;
        let telling = slice.telling(block.mask(), width.bits());
        // What all have in common leads to the same part of the filter.
        let part = (telling - f64::from(block.width)).exp2();
        let [(near_bytes, near_errors), (own_bytes, own_errors)] =
            [count * ball, count].map(|values| filter(values, block.width, part));
        let met = count * ball / telling.exp2();
        let passing = (-(-met).exp_m1() + near_errors).min(1.0);
        let table = TableCost::of(batch, block.width, telling, width, prices);
        let way = prices.load(near_bytes);
        BlockCost {
            memory_bytes: (near_bytes + own_bytes) as u64 + table.memory_bytes,
            passing,
            flips: ball,
            candidates: met.min(ball) + passing * ball * own_errors,
            candidate_ns: table.survivor_ns(table.memory_bytes as f64),
            look_ns: LOOK_NS + way,
            build_ns: BUILD_NS + table.build_ns() + (MARK_NS + MARK_ACCESSES * way) * ball,
        }
    }

    /// For one fingerprint.
    fn nanoseconds(&self) -> f64 {
        let survivors = self.passing * (self.flips * FLIP_NS + SURVIVOR_NS);
        self.look_ns + survivors + self.candidates * self.candidate_ns
    }

    /// How much less it is when the filter is swept.
    fn swept_ns(&self, prices: &Prices) -> f64 {
        self.look_ns - LOOK_NS - prices.loads[0]
    }
}

/// How many bytes a filter takes for this many values of `bits` bits that all fall into a part of it, and which
/// share of other values passes there.
fn filter(values: f64, bits: u32, part: f64) -> (f64, f64) {
    let words = 2_f64.powi(word_bits(values as u64, bits) as i32);
    let marked = -(-f64::from(MARKS) * values / (words * part).max(1.0) / 64.0).exp_m1();
    (8.0 * words, marked.powi(MARKS as i32))
}
