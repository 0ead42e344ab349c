//! What a whole join by prefix costs.

use super::cost::{KEY_NS, best};
use super::walk::SHAPE;
use crate::fingerprint::Width;
use crate::tables::buckets::Entry;
use crate::tables::design::Design;
use crate::tables::distribution::Meeting;
use crate::tables::estimate::Estimate;
use crate::tables::prices;
use crate::tables::problem::Problem;

/// The most bytes of bitmap, keys and candidates in a walk.
const WALK_BYTES: u64 = 24 << 20;

/// To arrange one fingerprint of the batch, in nanoseconds; on one core of a 2-core Sapphire Rapids machine.
const BUILD_NS: f64 = 10.0;

pub(in crate::tables) fn cost(problem: &Problem) -> Estimate {
    let &Problem { batch, store, k, width, workers, .. } = problem;
    let probe = Work::of(problem, k, width.bits()).nanoseconds();
    Estimate {
        design: Design::Conditioned,
        tables: 1,
        nanoseconds: probe / store.max(1) as f64,
        seconds: (probe + BUILD_NS * batch as f64) / 1e9,
        memory_bytes: memory_bytes(batch, width, workers),
        window: None,
    }
}

struct Work {
    /// How many tests of a fingerprint there are, in bitmaps of so many bytes.
    scans: f64,
    bytes: f64,
    /// Everything else, counted in keys.
    keys: f64,
}

impl Work {
    /// For the part of the key space that batch and store lie in. It has as many bits less to tell them apart.
    fn of(problem: &Problem, k: u32, bits: u32) -> Work {
        let &Problem { batch, store, width, ref distribution, .. } = problem;
        let slice = distribution.slice;
        let batch = batch as f64 * slice.batch.min(1.0);
        let shared = slice.shared();
        let filled = slice.store / shared.exp2();
        let bits = bits.saturating_sub(shared as u32).max(2 * SHAPE.digit);
        let all = best(batch, store as f64 * filled, k, bits, SHAPE.root, SHAPE.digit);
        let first = |bits: u32| !(u128::MAX >> bits) >> (128 - width.bits());
        let times = |mask: u128| {
            let Meeting { share, chance, .. } = distribution.meeting(mask);
            share / chance
        };
        let prefix = all.bits + shared as u32;
        let entries = (times(first(prefix)) / shared.exp2()).max(1.0);
        // The block that follows `before` bits. That two agree in the prefix says nothing about it.
        let block = |before: u32, bits: u32| times(first(before + bits) & !first(before));
        let times = |bits: u32| (block(prefix, bits) + block(prefix + bits, bits)) / 2.0;
        let crowding = all.crowding(batch, k, bits - all.bits, entries, times);
        let keys = (all.nanoseconds - all.testing + store as f64 * filled * crowding) / KEY_NS;
        Work {
            scans: all.tests / filled,
            bytes: 2.0 * f64::from(all.width).exp2() / 8.0,
            keys: keys / filled,
        }
    }

    fn nanoseconds(&self) -> f64 {
        let farther = prices::load(self.bytes) - prices::load(0.0);
        self.scans * (prices::SCAN + farther) + self.keys * prices::KEY
    }
}

/// About how many bytes the batch takes, with the scratch memory of this many workers.
fn memory_bytes(batch: u64, width: Width, workers: u64) -> u64 {
    let entry = match width {
        Width::W64 => size_of::<Entry<u64>>(),
        Width::W128 => size_of::<Entry<u128>>(),
    };
    let each = batch.saturating_mul(entry as u64);
    each.saturating_add(workers.saturating_mul(each.saturating_add(WALK_BYTES)))
}
