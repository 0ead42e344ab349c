//! What multi-index hashing costs, counted on uniform fingerprints.
//!
//! How many blocks there are, and whether the batch and itself are joined in this way, must not depend on the
//! machine. For these the times are constants, measured on one thread of a 2-core Sapphire Rapids machine,
//! compiled for each set of instructions. What the store costs is priced by the machine at hand.

use super::block::{Block, MOST_OFF, ROW_BYTES};
use crate::fingerprint::Width;
use crate::hamming::lanes::LANES;
use crate::hamming::multiversion::Instructions;
use crate::tables::design::{Design, Estimate};
use crate::tables::distribution::{Meeting, Problem};
use crate::tables::prices;

/// So many are best probed at once that a value of 16 bits has two groups of lanes.
pub(super) const WINDOW: usize = 1 << 22;

/// The most bytes of the windows of all workers together: two workers with whole windows of 64 bits.
const WINDOWS_BYTES: u64 = 256 << 20;

/// The most blocks: so many have 8 bits of 64 each, and fewer bits would hardly divide a batch.
const MOST_BLOCKS: u32 = 8;

/// The instructions by which all processes divide the join of the batch with itself into the same parts.
pub(super) const ANYWHERE: Instructions = Instructions::Haswell;

/// The most memory for the batch and itself, unless it is asked for, however much is allowed: some four million
/// fingerprints. More of them are sorted.
pub(in crate::tables) const SELF_BYTES: u64 = 256 << 20;

/// To arrange one fingerprint of the batch by one block, in nanoseconds.
const BUILD_NS: f64 = 20.0;
/// To sort one of the window by one block, and to put it into a lane, where a window fits into the cache.
const SORT_NS: f64 = 12.0;
/// How many accesses to the window that takes.
const SORT_ACCESSES: f64 = 1.2;
/// To gather the rows of one value. Of rows in one column of 12 bytes; three columns of two bytes take less.
const GATHER_NS: f64 = 4.0;

#[derive(Clone, Copy)]
struct Steps {
    sort: f64,
    /// To compare one fingerprint, of the batch or of the window, with a group of lanes of the others.
    compare: f64,
}

impl Steps {
    fn of(instructions: Instructions) -> Steps {
        let compare = match instructions {
            Instructions::IceLake => 1.0,
            Instructions::Haswell => 4.0,
            Instructions::Any => 12.0,
        };
        Steps { sort: SORT_NS, compare }
    }

    fn priced(window: f64, width: Width) -> Steps {
        let way = SORT_ACCESSES * prices::load(window * window_bytes(width) as f64);
        Steps { sort: prices::SORT + way, compare: prices::COMPARE }
    }
}

pub(in crate::tables) fn cost(problem: &Problem) -> Estimate {
    let &Problem { batch, store, k, width, workers, .. } = problem;
    let blocks = blocks(batch as f64, width.bits(), k, Instructions::widest());
    let divided = Block::divide(0..width.bits(), blocks, k);
    let most = window(problem);
    let probed = problem.chunk().min(most) as f64;
    let crowding = crowding(problem, &divided, |block| problem.distribution.meeting(block));
    let steps = Steps::priced(probed, width);
    let each = nanoseconds(batch as f64, probed, crowding, &divided, steps);
    let build = BUILD_NS * f64::from(blocks) * batch as f64;
    Estimate {
        design: Design::MultiIndex,
        tables: blocks.into(),
        nanoseconds: each,
        seconds: (each * store as f64 + build) / 1e9,
        memory_bytes: batch_bytes(batch, blocks, width) + workers * most * window_bytes(width),
        window: Some(most as usize),
    }
}

/// How many times as many pairs meet as if all were uniform; at least 1.
///
/// Fingerprints that share a block are compared all with all. If half of both have zeros there, a quarter of all
/// pairs meet, where one of some thousand is expected. `uniform` are the blocks of uniform fingerprints; those of the
/// batch leave out the bits at both ends that all of it has in common.
fn crowding(problem: &Problem, uniform: &[Block], meeting: impl Fn(u128) -> Meeting) -> f64 {
    let span = problem.distribution.span(problem.width.bits());
    let blocks = Block::divide(span, uniform.len() as u32, problem.k);
    let ball = |block: &Block| block.ball() as f64;
    let met: f64 = blocks.iter().map(|it| (ball(it) * meeting(it.mask()).share).min(1.0)).sum();
    let expected: f64 = uniform.iter().map(|it| ball(it) / it.values() as f64).sum();
    (met / expected).max(1.0)
}

/// How many fingerprints of the store are probed at once: fewer with many workers, so that they take no more memory.
fn window(problem: &Problem) -> u64 {
    let &Problem { width, workers, .. } = problem;
    let most = WINDOWS_BYTES / workers.max(1) / window_bytes(width);
    (1 << most.max(1).ilog2()).clamp(1 << 16, WINDOW as u64)
}

/// How many bytes a fingerprint of a window takes: where it was decoded, and sorted with its place.
fn window_bytes(width: Width) -> u64 {
    4 * u64::from(width.bits() / 8)
}

pub(in crate::tables) fn of_itself(problem: &Problem) -> Estimate {
    let &Problem { batch, k, width, .. } = problem;
    let blocks = blocks(batch as f64, width.bits(), k, ANYWHERE);
    let divided = Block::divide(0..width.bits(), blocks, k);
    let count = batch.max(1) as f64;
    let crowding = crowding(problem, &divided, |block| problem.distribution.meeting_itself(block));
    let each = nanoseconds(count, count, crowding, &divided, Steps::of(ANYWHERE)) / 2.0;
    let each = each + BUILD_NS * f64::from(blocks);
    Estimate {
        design: Design::MultiIndex,
        tables: blocks.into(),
        nanoseconds: each,
        seconds: each * batch as f64 / 1e9,
        memory_bytes: batch_bytes(batch, blocks, width),
        window: None,
    }
}

fn batch_bytes(batch: u64, blocks: u32, width: Width) -> u64 {
    let each = ROW_BYTES as u64 * u64::from(blocks) + u64::from(width.bits() / 8);
    batch.saturating_mul(each).saturating_add(u64::from(blocks) << 18)
}

/// The cheapest number of blocks, with these instructions, for fingerprints that differ in so many bits.
pub(super) fn blocks(batch: f64, bits: u32, k: u32, instructions: Instructions) -> u32 {
    let of = |blocks: u32| {
        let divided = Block::divide(0..bits, blocks, k);
        nanoseconds(batch, WINDOW as f64, 1.0, &divided, Steps::of(instructions))
    };
    let possible = (1..=MOST_BLOCKS.min(k + 1)).filter(|blocks| k / blocks <= MOST_OFF);
    let cheapest = possible.min_by(|&a, &b| of(a).total_cmp(&of(b)));
    cheapest.expect("some blocks cover every distance")
}

/// What each fingerprint of a window costs, where the batch and the window are as crowded as that. Then each
/// meets more of the batch, but the lanes are full: those of the side that fills them better.
fn nanoseconds(batch: f64, window: f64, crowding: f64, blocks: &[Block], steps: Steps) -> f64 {
    let batch = batch * crowding;
    let window = window * crowding;
    let of = |block: &Block| {
        let values = block.values() as f64;
        let held = window / values;
        let rows = batch / values * block.ball() as f64;
        // Of the values some have no fingerprint.
        let met = 1.0 - 1.0 / exp(held);
        let compared = (held * groups(rows)).min(rows * groups(held)) * steps.compare;
        steps.sort + (met * block.ball() as f64 * GATHER_NS + compared) / held
    };
    blocks.iter().map(of).sum()
}

/// In how many groups of lanes about so many are, if there are any: the last one is half full.
fn groups(count: f64) -> f64 {
    let any = 1.0 - 1.0 / exp(count);
    (count / LANES as f64 + 0.5 * any).max(any)
}

/// About e^x for x of at least 0: the first terms of its series. The library's function may differ in the last
/// bit from machine to machine, and all must choose the same blocks.
fn exp(x: f64) -> f64 {
    1.0 + x * (1.0 + x / 2.0 * (1.0 + x / 3.0 * (1.0 + x / 4.0)))
}
