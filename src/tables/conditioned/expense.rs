//! What a whole join by prefix costs.

use super::cost::best;
use super::level::Entry;
use super::shape::SHAPE;
use crate::fingerprint::Width;
use crate::tables::problem::{BUILD_NS, Cost, Problem};

/// The most bytes of bitmap, keys and candidates in a walk.
const WALK_BYTES: u64 = 24 << 20;

/// What the join by prefix costs.
pub(in crate::tables) fn cost(problem: &Problem) -> Cost {
    let &Problem { batch, store, k, width, workers, .. } = problem;
    let probe = nanoseconds(batch, store, k, width.bits());
    Cost {
        tables: 1,
        nanoseconds: probe / store.max(1) as f64,
        seconds: (probe + BUILD_NS * batch as f64) / 1e9,
        memory_bytes: memory_bytes(batch, width, workers),
    }
}

/// How many nanoseconds it takes to probe all of `store` uniform fingerprints by their first `bits` bits.
pub(in crate::tables) fn nanoseconds(batch: u64, store: u64, k: u32, bits: u32) -> f64 {
    best(batch as f64, store as f64, k, bits, SHAPE.root, SHAPE.digit).nanoseconds
}

/// About how many bytes the batch takes, with the scratch memory of this many workers.
pub(in crate::tables) fn memory_bytes(batch: u64, width: Width, workers: u64) -> u64 {
    let entry = match width {
        Width::W64 => size_of::<Entry<u64>>(),
        Width::W128 => size_of::<Entry<u128>>(),
    };
    let each = batch.saturating_mul(entry as u64);
    each.saturating_add(workers.saturating_mul(each.saturating_add(WALK_BYTES)))
}
