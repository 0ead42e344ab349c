//! The cost of a leaf, and so how deep to go, measured on one thread of a 2-core Zen 5 machine; and that of a whole join by prefix.

use crate::fingerprint::Width;
use crate::tables::buckets::Entry;
use crate::tables::design::{Design, Estimate};
use crate::tables::distribution::{Meeting, Problem};
use crate::tables::flips::{WIDEST, ball, choose};
use crate::tables::prices;

/// How the tree is cut, and what bounds the memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// The most bits of the first digit, at most 12.
    pub(super) root: u32,
    /// The bits of every other digit, at most one more.
    pub(super) digit: u32,
    /// The widest block, at most 22 bits.
    pub(super) widest: u32,
    /// The shortest prefix of a leaf.
    pub(super) shallowest: u32,
    pub(super) most_keys: usize,
    /// The most runs that are walked side by side.
    pub(super) side_by_side: usize,
}

pub(super) const SHAPE: Shape =
    Shape { root: 12, digit: 6, widest: 22, shallowest: 0, most_keys: MOST_KEYS, side_by_side: 4 };

/// The most bytes of bitmap, keys and candidates in a walk.
const WALK_BYTES: u64 = 24 << 20;

/// To arrange one fingerprint of the batch, in nanoseconds; on one core of a 2-core Sapphire Rapids machine.
const BUILD_NS: f64 = 10.0;

/// To put a key into the bitmap, to look for it among the candidates, and to remove it again.
const KEY_NS: f64 = 4.0;
/// Carrying one entry of the batch from a level to the next.
const CARRY_NS: f64 = 5.0;
const BUCKET_NS: f64 = 4.5;
/// To enter a leaf or level.
const NODE_NS: f64 = 240.0;
/// Testing one fingerprint, by where both bitmaps fit: the first cache, the second, neither.
const SCAN_NS: [f64; 3] = [1.2, 1.7, 2.8];
/// The time to note a fingerprint that passes, and to look at the fingerprint again.
const CANDIDATE_NS: f64 = 25.0;
/// To compare a fingerprint that passes with one of the batch that has the same key.
const MEETING_NS: f64 = 8.0;
/// The most keys in a bitmap at once; where there are more, the fingerprints are scanned again.
const MOST_KEYS: usize = 1 << 18;
/// How many fingerprints are probed in one call.
const WINDOW: f64 = (1 << 20) as f64;
/// The least number of calls, except for the smallest stores.
const FEWEST_WINDOWS: f64 = 64.0;
/// How many bitmap bits there are for each key, as a power of two.
const SPARSITY: u32 = 7;
const NARROWEST: u32 = 9;

/// The general pigeonhole: with `left` errors left, either block X is within the first number of its
/// exact key, or Y within the second; `None` where X alone will do.
#[inline]
pub(super) fn thresholds(left: u32) -> (u32, Option<u32>) {
    (left / 2, left.checked_sub(1).map(|left| left / 2))
}

/// How many keys an entry with `left` errors left puts into bitmaps of `width` bits.
fn keys_of(left: u32, width: u32) -> usize {
    let (x, y) = thresholds(left);
    ball(width, x) + y.map_or(0, |y| ball(width, y))
}

/// Entries by how many errors they have left.
pub(super) type Counts = [f64; 8];

struct Leaf {
    width: u32,
    /// The time that does not depend on how many fingerprints are scanned, in nanoseconds.
    fixed: f64,
    /// The time of each fingerprint.
    scan: f64,
    /// How often each is tested.
    passes: f64,
}

impl Leaf {
    /// A leaf with this many entries, and `rest` bits behind the prefix.
    fn of(counts: &Counts, rest: u32) -> Leaf {
        Leaf::crowded(counts, rest, |_| 1.0)
    }

    /// The same, if fingerprints agree in a block of some bits so many times as often as uniform ones.
    fn crowded(counts: &Counts, rest: u32, times: impl Fn(u32) -> f64) -> Leaf {
        let keys = |width| -> f64 {
            (0..).zip(counts).map(|(left, count)| count * keys_of(left, width) as f64).sum()
        };
        let wanted = keys(16).max(1.0).log2().ceil() as u32 + SPARSITY;
        let width = wanted.clamp(NARROWEST, WIDEST).min(rest.div_ceil(2));
        let keys = keys(width);
        let passes = (keys / MOST_KEYS as f64).ceil().max(1.0);
        let meetings = times(width) * keys / 2_f64.powi(width as i32);
        let candidates = passes * -(-meetings / passes).exp_m1();
        let scan = passes * test_ns(width) + candidates * CANDIDATE_NS + meetings * MEETING_NS;
        Leaf { width, fixed: NODE_NS + KEY_NS * keys, scan, passes }
    }
}

/// Testing one fingerprint in bitmaps of `width` bits.
fn test_ns(width: u32) -> f64 {
    SCAN_NS[usize::from(width > 17) + usize::from(width > 20)]
}

/// Whether it is cheaper to divide a leaf of `counts`, `rest` and `fingerprints` by a digit of `bits`
/// bits, of whose children at most `children` occur. The error is the width of its blocks if it is not.
pub(super) fn divide(
    counts: &Counts,
    rest: u32,
    fingerprints: f64,
    bits: u32,
    children: f64,
) -> Result<(), u32> {
    let whole = Leaf::of(counts, rest);
    let met = children.min(fingerprints);
    let leaf = Leaf::of(&below(counts, bits), rest.saturating_sub(bits).max(2));
    let carried = NODE_NS + CARRY_NS * counts.iter().sum::<f64>();
    let children = met * (ways(counts, bits) + leaf.fixed) + leaf.scan * fingerprints;
    let divided = carried + children;
    let scanned = whole.fixed + whole.scan * fingerprints;
    if divided < scanned { Ok(()) } else { Err(whole.width) }
}

/// The time to look into all buckets within reach of one digit of `bits` bits, twice.
fn ways(counts: &Counts, bits: u32) -> f64 {
    let most = counts.iter().rposition(|&count| count > 0.0).unwrap_or(0) as u32;
    (0..=most).map(|left| ball(bits, left) as f64).sum::<f64>() * 2.0 * BUCKET_NS
}

/// What is within reach below one of the children, on average.
fn below(counts: &Counts, bits: u32) -> Counts {
    let mut part = Counts::default();
    for left in 0..counts.len() as u32 {
        for off in 0..=left {
            let share = choose(bits, off) as f64 / 2_f64.powi(bits as i32);
            part[(left - off) as usize] += counts[left as usize] * share;
        }
    }
    part
}

/// The cost of a whole probe: the depth of the leaves, and the time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Depth {
    pub(super) bits: u32,
    nanoseconds: f64,
    /// How much of that is spent on testing fingerprints, and how many tests it is.
    testing: f64,
    tests: f64,
    /// The bits of each block of a leaf.
    width: u32,
}

impl Depth {
    /// How much longer it takes to probe one fingerprint if it has so many times as many entries of the batch within
    /// reach, and they agree in a block of some bits so many times as often as uniform ones.
    fn crowding(
        &self,
        batch: f64,
        k: u32,
        rest: u32,
        entries: f64,
        times: impl Fn(u32) -> f64,
    ) -> f64 {
        let within_reach = |batch: f64| {
            let mut all = Counts::default();
            all[k as usize] = batch;
            below(&all, self.bits)
        };
        let crowded = Leaf::crowded(&within_reach(entries * batch), rest, times);
        crowded.scan - Leaf::of(&within_reach(batch), rest).scan
    }
}

/// The best depth for `batch` against `store` uniform fingerprints of `width` bits, where levels below
/// the first `root` bits have digits of `digit` bits.
pub(super) fn best(batch: f64, store: f64, k: u32, width: u32, root: u32, digit: u32) -> Depth {
    let mut all = Counts::default();
    all[k as usize] = batch;
    // Where one window ends and the next begins both have the same node.
    let windows = (store / WINDOW).max(FEWEST_WINDOWS);
    let at = |bits: u32| {
        let nodes = |bits: u32| (2_f64.powi(bits as i32) + windows).min(store.max(1.0));
        let leaf = Leaf::of(&below(&all, bits), width - bits);
        let first = first(bits, root, digit);
        let levels = (first..bits).step_by(digit as usize);
        let carried: f64 = levels
            .map(|bits| nodes(bits) * (below(&all, bits).iter().sum::<f64>() * CARRY_NS + NODE_NS))
            .sum();
        let buckets = if bits > first {
            nodes(bits) * ways(&all, digit)
        } else {
            nodes(bits) * 2.0 * BUCKET_NS * ball(first, k) as f64
        };
        let nanoseconds = carried + buckets + nodes(bits) * leaf.fixed + store * leaf.scan;
        let tests = store * leaf.passes;
        let testing = tests * test_ns(leaf.width);
        Depth { bits, nanoseconds, testing, tests, width: leaf.width }
    };
    let depths = (0..=width.min(40)).map(at);
    depths.min_by(|a, b| a.nanoseconds.total_cmp(&b.nanoseconds)).expect("a depth")
}

/// The bits of the first digit on the way to leaves at `bits`.
pub(super) fn first(bits: u32, root: u32, digit: u32) -> u32 {
    bits - bits.saturating_sub(root).div_ceil(digit) * digit
}

/// What a whole join costs.
pub(in crate::tables) fn cost(problem: &Problem) -> Estimate {
    let &Problem { batch, store, k, width, workers, ref distribution } = problem;
    // Only the part of the key space that both lie in counts. It has as many bits less to tell them apart.
    let slice = distribution.slice;
    let there = batch as f64 * slice.batch.min(1.0);
    let shared = slice.shared();
    let filled = slice.store / shared.exp2();
    let bits = width.bits().saturating_sub(shared as u32).max(2 * SHAPE.digit);
    let all = best(there, store as f64 * filled, k, bits, SHAPE.root, SHAPE.digit);
    let first = |bits: u32| !(u128::MAX >> bits) >> (128 - width.bits());
    let times = |mask: u128| {
        let Meeting { share, chance } = distribution.meeting(mask);
        share / chance
    };
    let prefix = all.bits + shared as u32;
    let entries = (times(first(prefix)) / shared.exp2()).max(1.0);
    // The block that follows `before` bits. That two agree in the prefix says nothing about it.
    let block = |before: u32, bits: u32| times(first(before + bits) & !first(before));
    let times = |bits: u32| (block(prefix, bits) + block(prefix + bits, bits)) / 2.0;
    let crowding = all.crowding(there, k, bits - all.bits, entries, times);
    // All but the tests of fingerprints is counted in keys.
    let keys = (all.nanoseconds - all.testing + store as f64 * filled * crowding) / KEY_NS;
    let bitmap_bytes = 2.0 * f64::from(all.width).exp2() / 8.0;
    let farther = prices::load(bitmap_bytes) - prices::load(0.0);
    let tests = all.tests / filled;
    let probe = tests * (prices::SCAN + farther) + keys / filled * prices::KEY;
    Estimate {
        design: Design::Conditioned,
        tables: 1,
        nanoseconds: probe / store.max(1) as f64,
        seconds: (probe + BUILD_NS * batch as f64) / 1e9,
        memory_bytes: memory_bytes(batch, width, workers),
        window: None,
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
