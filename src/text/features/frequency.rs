//! The weight of a feature, a fixed-point integer of [`SCALE_BITS`] fractional bits; and weights by frequency: how often a feature occurs in its text,
//! and in how many documents.
//!
//! All of it is integer arithmetic, so every machine has the same weights.

use crate::error::{Error, Kind, Result};

pub const SCALE_BITS: u32 = 20;

pub const ONE: i64 = 1 << SCALE_BITS;

/// The fixed-point weight nearest to `weight`, ties to even.
pub fn fixed(weight: f64) -> Result<i64> {
    let scaled = (weight * ONE as f64).round_ties_even();
    if scaled.abs() < i64::MAX as f64 {
        return Ok(scaled as i64);
    }
    Err(Error::new(Kind::BadData, "the weight of a feature is out of range")
        .expected("a number below 2^43 in size")
        .found(weight))
}

/// 1 + log2 of `count`, rounded down; `count` is at least 1.
pub fn log(count: u64) -> i64 {
    let whole = count.ilog2();
    // From 1 to 2, of 63 fractional bits. Squaring doubles the logarithm, whose next bit is whether that reaches 2.
    let mut rest = (u128::from(count) << 63) >> whole;
    let mut fraction = 0;
    for _ in 0..SCALE_BITS {
        rest = (rest * rest) >> 63;
        let bit = rest >> 64;
        rest >>= bit;
        fraction = fraction << 1 | bit as i64;
    }
    ONE + i64::from(whole) * ONE + fraction
}

pub const fn sqrt(count: u64) -> i64 {
    ((count as u128) << (2 * SCALE_BITS)).isqrt() as i64
}

/// `count` to the power 9/8, rounded down: three square roots of it give the eighth root.
pub fn raised(count: u64) -> i64 {
    // Three roots of 128 bits took 7 % of the time of a fingerprint, and nearly all counts are small.
    let known = usize::try_from(count).ok().and_then(|count| RAISED.get(count));
    known.copied().unwrap_or_else(|| compute_raised(count))
}

static RAISED: [i64; 256] = {
    let mut table = [0; 256];
    let mut count = 0;
    while count < table.len() {
        table[count] = compute_raised(count as u64);
        count += 1;
    }
    table
};

const fn compute_raised(count: u64) -> i64 {
    let fourth = sqrt_of(sqrt(count));
    let eighth = sqrt_of(fourth);
    let raised = count as i128 * eighth as i128;
    if raised > i64::MAX as i128 { i64::MAX } else { raised as i64 }
}

/// The inverse document frequency of a feature that `count` of `documents` hold: log2 of
/// 1 + `documents` / `count`, so a feature of every document weighs 1. A `count` of 0 is taken as 1.
pub(crate) fn inverse(documents: u64, count: u64) -> i64 {
    let count = count.clamp(1, documents.max(1));
    log(documents.saturating_add(count)) - log(count)
}

/// The square root of a number in fixed point.
const fn sqrt_of(fixed: i64) -> i64 {
    ((fixed as i128) << SCALE_BITS).isqrt() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        assert_eq!([1, 2, 4, 1 << 40].map(log), [ONE, 2 * ONE, 3 * ONE, 41 * ONE]);
        assert_eq!([1, 4, 9, 1 << 40].map(sqrt), [ONE, 2 * ONE, 3 * ONE, ONE << 20]);
        assert_eq!([1, 256].map(raised), [ONE, 512 * ONE]);
        let counts = [0, 255, 256, u64::MAX];
        assert_eq!(counts.map(raised), counts.map(compute_raised));
        let inverses = [(1, 1), (7, 1), (6, 2), (0, 0)].map(|(n, df)| inverse(n, df));
        assert_eq!(inverses, [ONE, 3 * ONE, 2 * ONE, 0]);
        assert_eq!([log(u64::MAX), sqrt(u64::MAX)], [65 * ONE - 1, (ONE << 32) - 1]);
    }

    #[test]
    fn close_to_floating_point() {
        for count in (1..5000).chain([1 << 33, (1 << 33) + 12345]) {
            let near = |fixed: i64, float: f64| (fixed as f64 - float * ONE as f64).abs() < 1.01;
            assert!(near(log(count), 1.0 + (count as f64).log2()), "{count}");
            assert!(near(sqrt(count), (count as f64).sqrt()), "{count}");
            let fixed = raised(count) as f64 / ONE as f64;
            let float = (count as f64).powf(1.125);
            assert!((fixed / float - 1.0).abs() < 1e-5, "{count}");
        }
    }

    #[test]
    fn weights_round_to_the_nearest_and_refuse_what_does_not_fit() {
        assert_eq!(fixed(1.0), Ok(ONE));
        assert_eq!(fixed(-2.5), Ok(-5 * ONE / 2));
        assert_eq!(fixed(0.5 / ONE as f64), Ok(0));
        assert_eq!(fixed(1.5 / ONE as f64), Ok(2));
        for hostile in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 8.8e12, -8.8e12, f64::MAX] {
            assert_eq!(fixed(hostile).unwrap_err().kind(), Kind::BadData);
        }
    }
}
