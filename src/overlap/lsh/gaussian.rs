//! Gaussian coefficients, and the projections of vectors on them, the same on every machine.
//!
//! A coefficient is one of 4096 quantiles of the standard normal distribution, in fixed point, drawn by 12
//! bits of a hash. `libm` computes the quantiles in the same way on every machine. Sums of fixed-point
//! numbers do not depend on their order, and those of floating point have one order: that of the components.

use std::sync::OnceLock;

use crate::fingerprint::minhash::mixed;

const DRAW_BITS: u32 = 12;

/// How many coefficients one hash draws.
const DRAWS: usize = (u64::BITS / DRAW_BITS) as usize;

/// The fractional bits of a coefficient.
const SCALE_BITS: u32 = 16;

/// The normal distribution: the probability of a number below `x`.
pub(super) fn distribution(x: f64) -> f64 {
    libm::erfc(-x / std::f64::consts::SQRT_2) / 2.0
}

/// Calls `each` with the number of each of `count` functions and its coefficient for `item`, a component of
/// a point.
#[inline]
pub(super) fn each_coefficient(
    item: u64,
    count: usize,
    seed: u64,
    mut each: impl FnMut(usize, i32),
) {
    let quantiles = quantiles();
    let item = mixed(item, seed);
    for block in 0..count.div_ceil(DRAWS) {
        let mut bits = mixed(item, block as u64);
        for function in block * DRAWS..count.min((block + 1) * DRAWS) {
            each(function, quantiles[bits as usize % quantiles.len()]);
            bits >>= DRAW_BITS;
        }
    }
}

/// The middles of 4096 parts of the normal distribution that are equally probable.
fn quantiles() -> &'static [i32; 1 << DRAW_BITS] {
    static QUANTILES: OnceLock<Box<[i32; 1 << DRAW_BITS]>> = OnceLock::new();
    QUANTILES.get_or_init(|| {
        let mut quantiles = Box::new([0; 1 << DRAW_BITS]);
        let count = quantiles.len();
        for upper in count / 2..count {
            let middle = (upper as f64 + 0.5) / count as f64;
            let fixed = (quantile(middle) * f64::from(1 << SCALE_BITS)).round() as i32;
            quantiles[upper] = fixed;
            quantiles[count - 1 - upper] = -fixed;
        }
        quantiles
    })
}

/// The number below which the normal distribution has this probability, found by halving [0, 8].
fn quantile(probability: f64) -> f64 {
    let (mut low, mut high) = (0.0, 8.0);
    for _ in 0..50 {
        let middle = (low + high) / 2.0;
        let is_below = distribution(middle) < probability;
        (low, high) = if is_below { (middle, high) } else { (low, middle) };
    }
    low
}

/// The products of vectors with Gaussian vectors, one for each function.
#[derive(Clone, Debug)]
pub(super) struct Projections {
    count: usize,
    seed: u64,
    /// The coefficients of each component that was met, `count` for each.
    coefficients: Vec<f64>,
    products: Vec<f64>,
}

impl Projections {
    pub(super) fn new(count: usize, seed: u64) -> Projections {
        Projections { count, seed, coefficients: Vec::new(), products: vec![0.0; count] }
    }

    pub(super) fn of(&mut self, point: &[f64]) -> &[f64] {
        let Projections { count, seed, coefficients, products } = self;
        for component in coefficients.len() / *count..point.len() {
            each_coefficient(component as u64, *count, *seed, |_, fixed| {
                coefficients.push(f64::from(fixed) / f64::from(1 << SCALE_BITS));
            });
        }
        products.fill(0.0);
        for (component, coefficients) in point.iter().zip(coefficients.chunks_exact(*count)) {
            for (product, coefficient) in products.iter_mut().zip(coefficients) {
                *product += component * coefficient;
            }
        }
        products
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coefficients_are_those_of_a_normal_distribution() {
        let all = quantiles().map(|fixed| f64::from(fixed) / f64::from(1 << SCALE_BITS));
        let moment = |power| all.iter().map(|it| it.powi(power)).sum::<f64>() / all.len() as f64;
        assert!(moment(1).abs() < 1e-9 && moment(3).abs() < 1e-9);
        assert!((moment(2) - 1.0).abs() < 2e-3 && (moment(4) - 3.0).abs() < 3e-2);
        // Points depend on these: they never change.
        let mut drawn = Vec::new();
        each_coefficient(7, 6, 1, |_, coefficient| drawn.push(coefficient));
        assert_eq!(
            (quantiles()[2048], quantiles()[4095], drawn),
            (20, 240_408, vec![36_798, 3_832, 91_567, -2_066, 74_656, -10_411])
        );
    }
}
