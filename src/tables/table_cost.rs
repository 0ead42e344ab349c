//! What the tables of a design of masks cost, counted on uniform fingerprints and weighed.

use super::masked::Masked;
use super::problem::{BUILD_NS, Cost, Problem};
use super::table::{CROWD, hash_bits};
use crate::error::Result;
use crate::fingerprint::Width;

/// To hash a key, and to write down what passes.
pub(super) const LOOK_NS: f64 = 1.5;
/// The way from the filter to the bucket and out of it again, without the memory accesses.
pub(super) const SURVIVOR_NS: f64 = 10.0;
/// One comparison.
const COMPARE_NS: f64 = 2.5;
/// What stays in the cache of a core, and in the one that all share.
pub(super) const CACHE_BYTES: f64 = 512.0 * 1024.0;
const SHARED_CACHE_BYTES: f64 = 16.0 * 1024.0 * 1024.0;
/// One random access inside these, and beyond them, while others are under way.
pub(super) const NEAR_NS: f64 = 1.0;
const FAR_NS: f64 = 4.0;
const MEMORY_NS: f64 = 12.0;
/// How many such accesses lead to a bucket and its entries.
const SURVIVOR_ACCESSES: f64 = 5.0;

/// What it costs to index the batch under the masks of a design, and to stream the store past them.
///
/// # Errors
/// Those of [`Masked::masks`].
pub(super) fn cost(design: Masked, problem: &Problem) -> Result<Cost> {
    let &Problem { batch, store, width, .. } = problem;
    let masks = design.masks(width)?;
    let mut nanoseconds = 0.0;
    let mut memory_bytes = 0;
    for mask in &masks {
        let table = TableCost::of(batch, mask.count_ones(), width);
        nanoseconds += table.nanoseconds();
        memory_bytes += table.memory_bytes;
    }
    let build = BUILD_NS * batch as f64 * masks.len() as f64;
    let seconds = (store as f64 * nanoseconds + build) / 1e9;
    Ok(Cost { tables: masks.len() as u64, nanoseconds, seconds, memory_bytes })
}

/// One table over uniform fingerprints.
pub(super) struct TableCost {
    filter_bytes: f64,
    pub(super) memory_bytes: u64,
    /// The share of fingerprints that pass the filter.
    passing: f64,
    /// The comparisons of one that passes.
    comparisons: f64,
}

impl TableCost {
    pub(super) fn of(batch: u64, key_bits: u32, width: Width) -> TableCost {
        let (bucket_bits, filter_bits) = hash_bits(batch as usize, key_bits);
        let buckets = 1_u64 << bucket_bits;
        let filter = 1_u64 << filter_bits;
        let load = batch as f64 / buckets as f64;
        let marked = occupied(2.0 * batch as f64, filter_bits);
        let true_keys = occupied(batch as f64, key_bits);
        let entry_bytes = u64::from(width.bits() / 8) + 4;
        TableCost {
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
    pub(super) fn survivor_ns(&self) -> f64 {
        let reach = SURVIVOR_ACCESSES * access(self.memory_bytes as f64);
        SURVIVOR_NS + reach + COMPARE_NS * self.comparisons
    }
}

/// The share of 2^`bits` places taken by this many throws.
pub(super) fn occupied(throws: f64, bits: u32) -> f64 {
    -(-throws / 2_f64.powi(bits as i32)).exp_m1()
}

/// One random access into this many bytes.
pub(super) fn access(bytes: f64) -> f64 {
    match bytes {
        near if near <= CACHE_BYTES => NEAR_NS,
        far if far <= SHARED_CACHE_BYTES => FAR_NS,
        _ => MEMORY_NS,
    }
}
