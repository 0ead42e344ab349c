//! The weight of a feature: a fixed-point integer of [`SCALE_BITS`] fractional bits.

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

#[cfg(test)]
mod tests {
    use super::*;

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
