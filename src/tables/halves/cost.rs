//! What the blocks cost, counted on uniform fingerprints and weighed.

use super::block::Block;
use super::filter::{MARKS, word_bits};
use crate::fingerprint::Width;
use crate::tables::problem::{BUILD_NS, Cost, Problem};
use crate::tables::table_cost::{
    CACHE_BYTES, LOOK_NS, NEAR_NS, SURVIVOR_NS, TableCost, access, occupied,
};

/// To mark one value within one bit of a fingerprint's block, by where the filter is: inside the first
/// cache or beyond it.
const MARK_NS: [f64; 2] = [1.0, 8.0];
/// To look, for a fingerprint that passes, whether one such value is held.
const FLIP_NS: f64 = 2.0;

/// What the blocks of the whole fingerprint cost.
pub(in crate::tables) fn cost(problem: &Problem) -> Cost {
    let &Problem { batch, store, k, width, .. } = problem;
    let blocks = BlocksCost::of(problem, &Block::all(width, k));
    // The probed fingerprints ascend, so they sweep the filter of the first block.
    let swept = blocks.0.first().map_or(0.0, BlockCost::swept_ns);
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
    pub(in crate::tables) fn of(problem: &Problem, blocks: &[Block]) -> BlocksCost {
        let &Problem { batch, width, .. } = problem;
        BlocksCost(blocks.iter().map(|&block| BlockCost::of(batch, block, width)).collect())
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

/// One block, over uniform fingerprints.
struct BlockCost {
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

impl BlockCost {
    fn of(batch: u64, block: Block, width: Width) -> BlockCost {
        let ball = f64::from(1 + block.flips());
        let count = batch as f64;
        let [(near_bytes, near_errors), (own_bytes, own_errors)] =
            [count * ball, count].map(|values| filter(values, block.width));
        let passing = occupied(count * ball, block.width) + near_errors;
        let met = count * ball / 2_f64.powi(block.width as i32);
        let table = TableCost::of(batch, block.width, width);
        let mark = MARK_NS[usize::from(near_bytes > CACHE_BYTES)];
        BlockCost {
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

    /// How much less it is when the filter is swept.
    fn swept_ns(&self) -> f64 {
        access(self.near_bytes) - NEAR_NS
    }
}

/// How many bytes a filter takes for this many values of `bits` bits, and which share of other values
/// passes.
fn filter(values: f64, bits: u32) -> (f64, f64) {
    let words = 2_f64.powi(word_bits(values as u64, bits) as i32);
    let marked = -(-f64::from(MARKS) * values / words / 64.0).exp_m1();
    (8.0 * words, marked.powi(MARKS as i32))
}
