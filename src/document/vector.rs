//! What a vector may be, in whichever format it comes.

pub(super) const MOST_COMPONENTS: usize = 1 << 16;

/// The largest size of a component. Squares of these, and sums of them, are finite.
const LARGEST: f64 = 1e100;

/// The vector of these components; none stands for one that is not a number.
pub(super) fn checked(components: Vec<Option<f64>>) -> Result<Vec<f64>, &'static str> {
    if components.len() > MOST_COMPONENTS {
        return Err("the vector has more than 65536 components");
    }
    let components: Option<Vec<f64>> = components.into_iter().collect();
    let components = components.ok_or("a component of the vector is not a number")?;
    match components.iter().all(|component| component.abs() <= LARGEST) {
        true => Ok(components),
        false => Err("a component of the vector is beyond 1e100"),
    }
}

#[cfg(feature = "parquet")]
pub(super) fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff) / 1024.0);
    let size = match exponent {
        0 => fraction * 2_f64.powi(-14),
        0x1f if fraction == 0.0 => f64::INFINITY,
        0x1f => f64::NAN,
        _ => (1.0 + fraction) * 2_f64.powi(exponent - 15),
    };
    if bits >> 15 == 1 { -size } else { size }
}

#[cfg(all(test, feature = "parquet"))]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_16_bits() {
        for (bits, number) in [
            (0, 0.0),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (0x3555, 0.333_251_953_125),
            (1, 2_f64.powi(-24)),
            (0x0400, 2_f64.powi(-14)),
            (0xfc00, f64::NEG_INFINITY),
        ] {
            assert_eq!(half(bits), number, "{bits:#x}");
        }
        assert!(half(0x7e00).is_nan());
    }
}
