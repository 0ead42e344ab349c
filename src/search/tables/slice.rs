//! The part of the key space that a store lies in, and how much of the batch lies there too.

use crate::fingerprint::Fingerprint;

/// About how many fingerprints of a uniform batch are expected where those of a real one are counted.
const EXPECTED: f64 = 64.0;
/// Fewer fingerprints of a store than this tell nothing of where it lies.
pub(super) const FEWEST: usize = 16;
/// About how many of them are asked.
const ASKED: usize = 512;

/// The part of the key space that a store lies in. A store may hold one host's share of the keys, or
/// fingerprints that all begin alike.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Slice {
    /// How many times as dense the store is there as if it filled the key space.
    pub(super) store: f64,
    /// The same of the batch, in the same part.
    pub(super) batch: f64,
}

impl Default for Slice {
    fn default() -> Slice {
        Slice { store: 1.0, batch: 1.0 }
    }
}

impl Slice {
    /// The slice of a store of which `some` fingerprints are known, each of which stands for as many as the
    /// others, and of `batch`. Both ascend.
    pub(super) fn of<F: Fingerprint>(some: &[F], batch: &[F]) -> Slice {
        if some.len() < FEWEST {
            return Slice::default();
        }
        let asked: Vec<F> = some.iter().step_by(some.len().div_ceil(ASKED)).copied().collect();
        let all = 2_f64.powi(F::BITS as i32);
        let gap = |pair: &[F]| (pair[1].to_u128() - pair[0].to_u128()) as f64;
        let mut gaps: Vec<f64> = asked.windows(2).map(gap).collect();
        gaps.sort_unstable_by(f64::total_cmp);
        let store = all / asked.len() as f64 / gaps[gaps.len() / 2].max(1.0);
        let expected = EXPECTED.min(batch.len() as f64);
        let half = (all / 2.0 * expected / batch.len().max(1) as f64) as u128;
        let near = |fingerprint: F| {
            let at = fingerprint.to_u128();
            let low = F::from_u128(at.saturating_sub(half));
            let high = F::from_u128(at.saturating_add(half).min(F::MAX.to_u128()));
            batch.partition_point(|&b| b <= high) - batch.partition_point(|&b| b < low)
        };
        let met: usize = asked.iter().map(|&fingerprint| near(fingerprint)).sum();
        let batch = met as f64 / (asked.len() as f64 * expected.max(1.0));
        // Chance makes no slice, and it is not so fine that it would leave nothing to tell apart.
        let round =
            |times: f64| if (0.5..2.0).contains(&times) { 1.0 } else { times.clamp(1e-9, 1e9) };
        Slice { store: round(store).max(1.0), batch: round(batch) }
    }

    /// How many of the first bits the batch and the store have in common, so that they tell nothing.
    pub(super) fn shared(&self) -> f64 {
        self.batch.max(1.0).log2()
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::tables::tests::{set, uniform};

    #[test]
    fn a_slice_is_known_by_its_density() {
        let mut random = ChaCha8Rng::seed_from_u64(41);
        let [store, batch] = [3000, 20_000].map(|count| set(uniform::<u64>(&mut random, count)));
        assert_eq!(Slice::of(&store, &batch), Slice::default());
        let [near, beside] =
            [&store, &batch].map(|all| all.iter().map(|f| f >> 6).collect::<Vec<_>>());
        let both = Slice::of(&near, &beside);
        assert!(
            (32.0..128.0).contains(&both.store) && (32.0..128.0).contains(&both.batch),
            "{both:?}"
        );
        assert!((5.0..7.0).contains(&both.shared()), "{both:?}");
        let alone = Slice::of(&near, &batch);
        assert!(alone.store > 32.0 && alone.batch < 2.0, "{alone:?}");
        assert_eq!(Slice::of::<u64>(&near[..3], &batch), Slice::default());
        assert_eq!(Slice::of::<u64>(&near, &[]).batch, 1e-9);
        assert!(Slice::of(&[7_u128; 99], &[7]).store >= 1.0);
    }
}
