//! What sorting costs, counted on uniform fingerprints.

use super::join::WINDOW;
use super::lead::{MOST, bits};
use super::meeting::CROWD;
use crate::error::Result;
use crate::fingerprint::Width;
use crate::tables::buckets::Entry;
use crate::tables::design::Estimate;
use crate::tables::distribution::{Meeting, Problem};
use crate::tables::masked::Masked;
use crate::tables::prices;

/// Reading past one fingerprint on the way to a share, in nanoseconds; like all that follow measured on
/// one thread of a 2-core Sapphire Rapids machine.
const PICK_NS: f64 = 1.0;
/// Bringing one into its group, without the way there.
const GATHER_NS: f64 = 4.0;
/// Sorting one by one key, for each nanosecond of a plain sort.
const SORTS: f64 = 1.6;
const COMPARE_NS: f64 = 1.5;

/// What one pass over all shares costs.
#[derive(Clone, Copy, Debug)]
pub(in crate::tables) struct Pass {
    /// The time of one thread.
    pub(in crate::tables) nanoseconds: f64,
    /// The memory of one worker, with its window of the store.
    pub(in crate::tables) memory_bytes: u64,
}

/// The fewest fingerprints of a window: for each window the whole batch is gathered.
const NARROWEST: u64 = 1 << 12;

/// How many fingerprints of the store are probed at once, if all workers have `memory_bytes`. A quarter of it is for
/// windows: what is gathered of one may take as much again, and the batch more.
pub(in crate::tables) fn window(memory_bytes: u64, width: Width, workers: u64) -> u64 {
    let window_bytes = 2 * u64::from(width.bits() / 8);
    (memory_bytes / 4 / workers.max(1) / window_bytes).clamp(NARROWEST, WINDOW as u64)
}

/// What it costs to sort the batch and the store together, in windows of so many fingerprints of the store at most.
pub(in crate::tables) fn cost(design: Masked, problem: &Problem, most: u64) -> Result<Estimate> {
    let &Problem { batch, store, width, workers, .. } = problem;
    let window = problem.chunk().min(most);
    let windows = store.div_ceil(window.max(1));
    let meeting = |key| problem.distribution.meeting(key);
    let pass = Pass::of(design, [batch, window], width, meeting, MOST)?;
    let seconds = windows as f64 * pass.nanoseconds / 1e9;
    Ok(Estimate {
        design: design.into(),
        tables: design.tables(),
        nanoseconds: seconds * 1e9 / store.max(1) as f64,
        seconds,
        memory_bytes: workers * pass.memory_bytes,
        window: Some(most as usize),
    })
}

/// A share of fewer fingerprints, some 8 MB of them, would cost more time than it saves memory.
const LEAST: u64 = 1 << 18;

/// How many of the batch a share may have, if it is picked and sorted in the workers' `memory_bytes`.
pub(in crate::tables) fn share(memory_bytes: u64, width: Width, workers: u64) -> u64 {
    let entry = 2 * u64::from(width.bits() / 8);
    // A share has up to twice as many as the power of two that it is cut by.
    (memory_bytes / (4 * entry * workers.max(1))).clamp(LEAST, MOST)
}

impl Pass {
    /// To join a batch with `others`, or with itself if there are none, in shares of about `most` at most.
    pub(in crate::tables) fn of(
        design: Masked,
        [batch, others]: [u64; 2],
        width: Width,
        meeting: impl Fn(u128) -> Meeting,
        most: u64,
    ) -> Result<Pass> {
        let all = (batch + others) as f64;
        let mut nanoseconds = 0.0;
        let mut share = 0;
        let pairs = match others {
            0 => batch as f64 * batch as f64 / 2.0,
            others => batch as f64 * others as f64,
        };
        for (lead, keys) in design.leads(width)? {
            let (group_bits, share_bits) = bits(batch, lead.count_ones(), most);
            let picked = (batch.max(others) + batch + others) >> share_bits;
            let way = prices::load(picked as f64 * size_of::<Entry<u64>>() as f64);
            nanoseconds += all * (PICK_NS * f64::from(1 << share_bits) + GATHER_NS + way);
            share = share.max(picked);
            for key in keys {
                // Those that have the same key, and those that only fall into the same bucket.
                let share = meeting(key).share.max(1.0 / batch.max(1) as f64);
                let met = (pairs * share).min(all * 2.0 * CROWD as f64);
                nanoseconds += all * SORTS * prices::SORT + met * COMPARE_NS;
            }
            nanoseconds += f64::from(1 << group_bits);
        }
        let bytes = u64::from(width.bits() / 8);
        let entry = 2 * bytes;
        Ok(Pass { nanoseconds, memory_bytes: share * entry + 2 * others * bytes })
    }
}
