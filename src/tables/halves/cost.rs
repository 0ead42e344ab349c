//! What the blocks cost, counted and weighed. The constants were measured on one core of a 2-core Sapphire Rapids
//! machine.

use super::block::Block;
use super::filter::{MARKS, word_bits};
use crate::tables::distribution::{Distribution, Meeting};
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
pub(in crate::rooms::tables) fn cost(problem: &Problem, prices: &Prices) -> Cost {
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
struct BlocksCost(Vec<BlockCost>);

impl BlocksCost {
    /// Of these blocks.
    fn of(problem: &Problem, blocks: &[Block], prices: &Prices) -> BlocksCost {
        BlocksCost(blocks.iter().map(|&block| BlockCost::of(problem, block, prices)).collect())
    }

    /// For one fingerprint, in no order.
    fn nanoseconds(&self) -> f64 {
        self.0.iter().map(BlockCost::nanoseconds).sum()
    }

    /// To arrange one fingerprint of the batch.
    fn build_ns(&self) -> f64 {
        self.0.iter().map(|block| block.build_ns).sum()
    }

    fn memory_bytes(&self) -> u64 {
        self.0.iter().map(|block| block.memory_bytes).sum()
    }
}

/// One block.
struct BlockCost {
    memory_bytes: u64,
    /// To look into the filter of values within one bit.
    look_ns: f64,
    /// What those cost that pass it, for each fingerprint.
    passing_ns: f64,
    /// Arranging one fingerprint of the batch.
    build_ns: f64,
}

impl BlockCost {
    fn of(problem: &Problem, block: Block, prices: &Prices) -> BlockCost {
        let &Problem { batch, width, ref distribution, .. } = problem;
        let ball = f64::from(1 + block.flips());
        let meeting = distribution.meeting(block.mask());
        let values = meeting.values(batch as f64);
        let [near, own] = [values * ball, values].map(|it| FilterCost::of(distribution, block, it));
        let table = TableCost::of(batch, block.width, meeting, width, prices);
        let passing_ns = |near_errors: f64, own_errors: f64, share: f64| {
            let met = batch as f64 * ball * share;
            let passing = (-(-met).exp_m1() + near_errors).min(1.0);
            // Each is looked up, with all values within one bit that the filter of the values themselves holds.
            let candidates = met.min(ball) + passing * ball * own_errors;
            let candidate_ns = table.survivor_ns(share, table.memory_bytes as f64);
            passing * (ball * FLIP_NS + SURVIVOR_NS) + candidates * candidate_ns
        };
        let part = near.words.part;
        let [near_errors, own_errors] = [&near, &own].map(|it| it.errors(it.words.crowded()));
        let crowded = passing_ns(near_errors, own_errors, (meeting.share / part).min(1.0));
        let [near_errors, own_errors] = [&near, &own].map(|it| it.errors(it.words.beside()));
        let others = passing_ns(near_errors, own_errors, meeting.chance);
        let way = prices.load(near.bytes);
        BlockCost {
            memory_bytes: (near.bytes + own.bytes) as u64 + table.memory_bytes,
            look_ns: LOOK_NS + way,
            passing_ns: part * crowded + (1.0 - part) * others,
            build_ns: BUILD_NS + table.build_ns() + (MARK_NS + MARK_ACCESSES * way) * ball,
        }
    }

    /// For one fingerprint.
    fn nanoseconds(&self) -> f64 {
        self.look_ns + self.passing_ns
    }

    /// How much less it is when the filter is swept.
    fn swept_ns(&self, prices: &Prices) -> f64 {
        self.look_ns - LOOK_NS - prices.loads[0]
    }
}

/// A filter.
struct FilterCost {
    bytes: f64,
    /// How many values it holds.
    values: f64,
    /// How often fingerprints agree in the bits that choose a word.
    words: Meeting,
}

impl FilterCost {
    fn of(distribution: &Distribution, block: Block, values: f64) -> FilterCost {
        let bits = word_bits(values as u64, block.width);
        let bytes = 8.0 * 2_f64.powi(bits as i32);
        FilterCost { bytes, values, words: distribution.meeting(block.first(bits)) }
    }

    /// The share of other values that pass in a word with such a share of the values.
    fn errors(&self, share: f64) -> f64 {
        let marked = -(-f64::from(MARKS) * self.values * share / 64.0).exp_m1();
        marked.powi(MARKS as i32)
    }
}
