//! What sorting costs, counted on uniform fingerprints.

use super::bits;
use super::meeting::CROWD;
use crate::error::Result;
use crate::fingerprint::Width;
use crate::tables::Design;

/// Reading past one fingerprint on the way to a share, in nanoseconds; like all that follow measured on
/// one thread of a 2-core Zen 5 machine.
const PICK_NS: f64 = 1.0;
/// Bringing one into its group.
const GATHER_NS: f64 = 5.0;
/// Sorting one by one key.
const SORT_NS: f64 = 6.5;
/// Comparing two that meet.
const COMPARE_NS: f64 = 0.7;

/// What one pass over all shares takes.
#[derive(Clone, Copy, Debug)]
pub(in crate::tables) struct Cost {
    /// The time of one thread.
    pub(in crate::tables) nanoseconds: f64,
    /// The memory of one worker, and what it holds of the store.
    pub(in crate::tables) memory_bytes: u64,
}

impl Cost {
    /// Joining uniform fingerprints: a batch with `others`, or with itself where there are none.
    pub(in crate::tables) fn of(
        design: Design,
        batch: u64,
        others: u64,
        k: u32,
        width: Width,
    ) -> Result<Cost> {
        let (all, mut nanoseconds, mut share) = ((batch + others) as f64, 0.0, 0);
        let pairs = match others {
            0 => batch as f64 * batch as f64 / 2.0,
            others => batch as f64 * others as f64,
        };
        for (lead, keys) in design.leads(width, k)? {
            let (group_bits, share_bits) = bits(batch, lead.count_ones());
            nanoseconds += all * (PICK_NS * f64::from(1 << share_bits) + GATHER_NS);
            share = share.max((batch.max(others) + batch + others) >> share_bits);
            for key in keys {
                // Those that have the same key, and those that only fall into the same bucket.
                let places = 2_f64.powi(key.count_ones() as i32).min(batch as f64);
                let met = (pairs / places.max(1.0)).min(all * 2.0 * CROWD as f64);
                nanoseconds += all * SORT_NS + met * COMPARE_NS;
            }
            nanoseconds += f64::from(1 << group_bits);
        }
        let bytes = u64::from(width.bits() / 8);
        let entry = 2 * bytes;
        Ok(Cost { nanoseconds, memory_bytes: share * entry + 2 * others * bytes })
    }
}
