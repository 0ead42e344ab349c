//! What a machine takes for the steps that all designs consist of, in nanoseconds of one thread.
//!
//! The cost of a design is a count of such steps, times these prices. They decide which design is taken, and
//! never what it finds. They are those of one of two cores of an Intel Xeon (Sapphire Rapids, 2 MiB of second cache, virtual), as whole
//! joins told them on 22 November 2026. All processes of a join choose by these, so they choose alike.

/// Testing a fingerprint of the store in the bitmaps of one leaf (`conditioned`).
pub(super) const SCAN: f64 = 1.3;
/// To put one key into such a bitmap, and to remove it again.
pub(super) const KEY: f64 = 4.0;
/// Comparing a fingerprint with a group of 32 lanes (`multi-index`).
pub(super) const COMPARE: f64 = 1.2;
/// To bring a fingerprint into its bucket, where all buckets are in the cache.
pub(super) const SORT: f64 = 4.0;
/// One of many random loads, while the other workers load too, from so many bytes.
const LOADS: [f64; 3] = [0.45, 2.0, 17.0];
const REACHES: [u64; 3] = [512 << 10, 4 << 20, 64 << 20];

/// One random load from this many bytes: between what was measured by the logarithm, and beyond it by the last two.
pub(super) fn load(bytes: f64) -> f64 {
    let [near, shared, far] = LOADS;
    let [first, second, last] = REACHES.map(|bytes| (bytes as f64).log2());
    let reach = bytes.max(1.0).log2().clamp(first, last + 1.0);
    let between = |from: f64, to: f64, at: f64| from * (to / from).powf(at);
    match reach < second {
        true => between(near, shared, (reach - first) / (second - first)),
        false => between(shared, far, (reach - second) / (last - second)),
    }
}
