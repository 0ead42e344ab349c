//! What a machine takes for the steps that all designs consist of.
//!
//! The cost of a design is a count of such steps, times these prices. They decide which design is taken, and
//! never what it finds.

/// The memory that loads are told for, in bytes.
const REACHES: [u64; 3] = [512 << 10, 4 << 20, 64 << 20];

/// How many nanoseconds one thread takes for each of these steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Prices {
    /// One of many random loads, while the other workers load too: from 512 KiB, from 4 MiB and from 64 MiB.
    pub(super) loads: [f64; 3],
    /// Testing a fingerprint of the store in the bitmaps of one leaf (`conditioned`).
    pub(super) scan: f64,
    /// To put one key into such a bitmap, and to remove it again.
    pub(super) key: f64,
    /// Comparing a fingerprint with a group of 32 lanes (`multi-index`).
    pub(super) compare: f64,
    /// To bring a fingerprint into its bucket, where all buckets are in the cache.
    pub(super) sort: f64,
}

impl Prices {
    /// Those of one of two cores of an Intel Xeon (Sapphire Rapids, 2 MiB of second cache, virtual), as whole
    /// joins told them on 22 November 2026. All processes of a join
    /// choose by these, so they choose alike.
    pub(super) const USUAL: Prices =
        Prices { loads: [0.45, 2.0, 17.0], scan: 1.3, key: 4.0, compare: 1.2, sort: 4.0 };

    /// One random load from this many bytes, in nanoseconds: between what was measured by the logarithm, and
    /// beyond it by the last two.
    pub(super) fn load(&self, bytes: f64) -> f64 {
        let [near, shared, far] = self.loads;
        let [first, second, last] = REACHES.map(|bytes| (bytes as f64).log2());
        let reach = bytes.max(1.0).log2().clamp(first, last + 1.0);
        let between = |from: f64, to: f64, at: f64| from * (to / from).powf(at);
        match reach < second {
            true => between(near, shared, (reach - first) / (second - first)),
            false => between(shared, far, (reach - second) / (last - second)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_costs_more_the_farther_it_goes() {
        let loads =
            [1e3, 5e5, 1e6, 4e6, 1e7, 6e7, 1e8, 1e12].map(|bytes| Prices::USUAL.load(bytes));
        assert!(loads.is_sorted(), "{loads:?}");
        let known = REACHES.map(|bytes| Prices::USUAL.load(bytes as f64));
        let off = known.iter().zip(Prices::USUAL.loads).map(|(load, price)| (load - price).abs());
        assert!(off.fold(0.0, f64::max) < 1e-9, "{known:?}");
    }
}
