//! What multi-index hashing costs, counted on uniform fingerprints.
//!
//! The times were measured on one thread of a 2-core Sapphire Rapids machine, compiled for each set of
//! instructions.

use super::block::{Block, MOST_OFF};
use super::indexed_block::Row;
use crate::fingerprint::Width;
use crate::hamming::lanes::LANES;
use crate::hamming::multiversion::Instructions;
use crate::tables::problem::{Cost, Problem};

/// How many fingerprints of the store are best probed at once: so many that a value of 16 bits has a group of
/// lanes.
pub(super) const WINDOW: usize = 1 << 21;

/// How many chunks a store has at least; a window is no larger than one.
const CHUNKS: f64 = 64.0;

/// The largest distance that it finds: beyond it the limits of four blocks leave hardly anything out.
const COVERS: u32 = 12;

/// The most blocks.
const MOST_BLOCKS: u32 = 8;

/// The most memory for the batch and itself, which is not the store's to have: some four million fingerprints.
const SELF_BYTES: u64 = 256 << 20;

/// To arrange one fingerprint of the batch by one block, in nanoseconds.
const BUILD_NS: f64 = 20.0;
/// To sort one of the window by one block, and to put it into a lane.
const SORT_NS: f64 = 12.0;
/// To gather the rows of one value.
const GATHER_NS: f64 = 4.0;

/// To compare one row with a group of lanes.
fn compare_ns(instructions: Instructions) -> f64 {
    match instructions {
        Instructions::IceLake => 1.0,
        Instructions::Haswell => 4.0,
        Instructions::Any => 12.0,
    }
}

/// The largest distance that it finds, at any width.
pub(in crate::tables) fn covers(_: Width) -> u32 {
    COVERS
}

/// What a join by multi-index hashing costs.
pub(in crate::tables) fn cost(problem: &Problem) -> Cost {
    let &Problem { batch, store, k, width, workers, .. } = problem;
    let blocks = blocks(batch as f64, width.bits(), k);
    let window = (store as f64 / CHUNKS).clamp(1.0, WINDOW as f64);
    let divided = Block::divide(0..width.bits(), blocks, k);
    let each = nanoseconds(batch as f64, window, &divided, Instructions::widest());
    let build = BUILD_NS * f64::from(blocks) * batch as f64;
    let bytes = u64::from(width.bits() / 8);
    Cost {
        tables: blocks.into(),
        nanoseconds: each,
        seconds: (each * store as f64 + build) / 1e9,
        memory_bytes: batch_bytes(batch, blocks, width) + workers * WINDOW as u64 * 4 * bytes,
    }
}

/// What it costs to join the batch with itself, on any machine; `None` if that takes too much memory or the
/// distance is not covered.
pub(in crate::tables) fn of_itself(problem: &Problem) -> Option<Cost> {
    let &Problem { batch, k, width, .. } = problem;
    if k > COVERS {
        return None;
    }
    let blocks = blocks(batch as f64, width.bits(), k);
    let divided = Block::divide(0..width.bits(), blocks, k);
    let count = batch.max(1) as f64;
    let each = nanoseconds(count, count, &divided, Instructions::Haswell) / 2.0;
    let each = each + BUILD_NS * f64::from(blocks);
    let memory_bytes = batch_bytes(batch, blocks, width);
    let seconds = each * batch as f64 / 1e9;
    let cost = Cost { tables: blocks.into(), nanoseconds: each, seconds, memory_bytes };
    (memory_bytes <= SELF_BYTES).then_some(cost)
}

/// How many bytes the batch takes, arranged by so many blocks.
fn batch_bytes(batch: u64, blocks: u32, width: Width) -> u64 {
    let each = size_of::<Row>() as u64 * u64::from(blocks) + u64::from(width.bits() / 8);
    batch.saturating_mul(each).saturating_add(u64::from(blocks) << 18)
}

/// The number of blocks that is cheapest for a batch of fingerprints that differ in so many bits. It is the
/// same on all machines.
pub(super) fn blocks(batch: f64, bits: u32, k: u32) -> u32 {
    let of = |blocks: u32| {
        let divided = Block::divide(0..bits, blocks, k);
        nanoseconds(batch, WINDOW as f64, &divided, Instructions::Haswell)
    };
    let possible = (1..=MOST_BLOCKS.min(k + 1)).filter(|blocks| k / blocks <= MOST_OFF);
    let cheapest = possible.min_by(|&a, &b| of(a).total_cmp(&of(b)));
    cheapest.expect("some blocks cover every distance")
}

/// What each fingerprint of a window costs.
fn nanoseconds(batch: f64, window: f64, blocks: &[Block], instructions: Instructions) -> f64 {
    let of = |block: &Block| {
        let values = block.values() as f64;
        let held = window / values;
        // Of the values some have no fingerprint, and the last group of the others is half full.
        let met = -(-held).exp_m1();
        let groups = (held / LANES as f64 + 0.5 * met).max(met);
        let ball = block.ball() as f64;
        let compared = batch / values * ball * groups * compare_ns(instructions);
        SORT_NS + (met * ball * GATHER_NS + compared) / held
    };
    blocks.iter().map(of).sum()
}
