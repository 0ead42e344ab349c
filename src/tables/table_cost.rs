//! What the tables of a design of masks cost, counted on uniform fingerprints and weighed.

use super::distribution::Meeting;
use super::masked::Masked;
use super::prices::Prices;
use super::problem::{Cost, Problem};
use super::table::{CROWD, hash_bits};
use crate::error::Result;
use crate::fingerprint::Width;

/// The way from the filter to the bucket and out of it again, without the memory accesses, in nanoseconds; this
/// and the others were measured on one core of a 2-core Sapphire Rapids machine.
pub(super) const SURVIVOR_NS: f64 = 6.0;
/// One comparison, of the first in a bucket, and of those after them.
const COMPARE_NS: f64 = 2.3;
const COMPARE_MORE_NS: f64 = 0.7;
/// How many are the first.
const FIRST: f64 = 16.0;
/// To arrange one fingerprint in one table, without the memory accesses.
const BUILD_NS: f64 = 12.0;
/// How many accesses that takes.
const BUILD_ACCESSES: f64 = 2.0;
/// How many accesses lead to a bucket and its entries.
const SURVIVOR_ACCESSES: f64 = 1.5;
/// How many fingerprints pass one table before the next one's turn.
const TURN: f64 = 131_072.0;
/// The bytes that an access brings into the cache.
const LINE_BYTES: f64 = 64.0;

/// What it costs to index the batch under the masks of a design, and to stream the store past them.
///
/// # Errors
/// Those of [`Masked::masks`].
pub(super) fn cost(design: Masked, problem: &Problem, prices: &Prices) -> Result<Cost> {
    let &Problem { batch, store, width, .. } = problem;
    let masks = design.masks(width)?;
    let table = |&mask: &u128| {
        TableCost::of(batch, mask.count_ones(), problem.distribution.meeting(mask), width, prices)
    };
    let tables: Vec<TableCost> = masks.iter().map(table).collect();
    let memory_bytes = tables.iter().map(|table| table.memory_bytes).sum::<u64>();
    let turn = (problem.chunk() as f64).min(TURN);
    let each = |table: &TableCost| table.nanoseconds(turn, memory_bytes as f64);
    let nanoseconds = tables.iter().map(each).sum();
    let build = batch as f64 * tables.iter().map(TableCost::build_ns).sum::<f64>();
    let seconds = (store as f64 * nanoseconds + build) / 1e9;
    Ok(Cost { tables: masks.len() as u64, nanoseconds, seconds, memory_bytes })
}

/// One table.
pub(super) struct TableCost {
    batch: f64,
    meeting: Meeting,
    filter_bytes: f64,
    pub(super) memory_bytes: u64,
    /// The share of fingerprints without a key of the batch that pass the filter.
    errors: f64,
    /// The share of the batch in one bucket, if its keys are distinct.
    bucket: f64,
    prices: Prices,
}

impl TableCost {
    /// Of a key of so many bits, in which fingerprints agree so often.
    pub(super) fn of(
        batch: u64,
        key_bits: u32,
        meeting: Meeting,
        width: Width,
        prices: &Prices,
    ) -> TableCost {
        let (bucket_bits, filter_bits) = hash_bits(batch as usize, key_bits);
        let buckets = 1_u64 << bucket_bits;
        let filter = 1_u64 << filter_bits;
        let marked = occupied(2.0 * meeting.values(batch as f64), filter_bits);
        let entry_bytes = u64::from(width.bits() / 8) + 4;
        TableCost {
            batch: batch as f64,
            meeting,
            filter_bytes: filter as f64 / 8.0,
            memory_bytes: batch
                .saturating_mul(entry_bytes)
                .saturating_add(4 * buckets + filter / 8),
            errors: marked * marked,
            bucket: 1.0 / buckets as f64,
            prices: *prices,
        }
    }

    /// For one fingerprint, of so many in turn. Between the turns of a table, the others with so many bytes in
    /// all drive it out of the cache.
    fn nanoseconds(&self, turn: f64, all_bytes: f64) -> f64 {
        let cold = (self.filter_bytes / LINE_BYTES / turn).min(1.0);
        let way = self.prices.load(self.filter_bytes) + cold * self.prices.load(all_bytes);
        let survivors = |share: f64| {
            let true_keys = -(-self.batch * share).exp_m1();
            let passing = true_keys + (1.0 - true_keys) * self.errors;
            passing * self.survivor_ns(share, all_bytes)
        };
        self.prices.look + way + self.meeting.mean(survivors)
    }

    /// For one that passes and has the key of such a share of the batch, if its bucket is somewhere in so many bytes.
    pub(super) fn survivor_ns(&self, share: f64, bytes: f64) -> f64 {
        let reach = SURVIVOR_ACCESSES * self.prices.load(bytes);
        let load = (self.batch * share.max(self.bucket)).min(CROWD as f64);
        let more = (load - FIRST).max(0.0);
        SURVIVOR_NS + reach + COMPARE_NS * (load - more + 1.0) + COMPARE_MORE_NS * more
    }

    /// To arrange one fingerprint of the batch.
    pub(super) fn build_ns(&self) -> f64 {
        BUILD_NS + BUILD_ACCESSES * self.prices.load(self.memory_bytes as f64)
    }
}

/// The share of 2^`bits` places taken by this many throws.
pub(super) fn occupied(throws: f64, bits: u32) -> f64 {
    -(-throws / 2_f64.powi(bits as i32)).exp_m1()
}
