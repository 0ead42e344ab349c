//! The fingerprints of a slice that are within k bits of another one.

use crate::fingerprint::Fingerprint;

/// Calls `found(at, distance)` for each of `candidates` that differs from `fingerprint` in at most
/// `k` bits, in order.
#[inline(always)]
pub fn within<F: Fingerprint>(
    fingerprint: F,
    candidates: &[F],
    k: u32,
    mut found: impl FnMut(usize, u32),
) {
    for (at, &candidate) in candidates.iter().enumerate() {
        let distance = fingerprint.distance(candidate);
        if distance <= k {
            found(at, distance);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found<F: Fingerprint>(fingerprint: F, candidates: &[F], k: u32) -> Vec<(usize, u32)> {
        let mut hits = Vec::new();
        within(fingerprint, candidates, k, |at, distance| hits.push((at, distance)));
        hits
    }

    #[test]
    fn a_pair_at_k_is_in_and_one_at_k_plus_1_is_out() {
        let candidates = [0b0000_u64, 0b0111, 0b1111, u64::MAX];
        assert_eq!(found(0, &candidates, 3), [(0, 0), (1, 3)]);
        assert_eq!(found(u64::MAX, &candidates, 0), [(3, 0)]);
        assert_eq!(found(0, &candidates, 64).len(), 4);
    }

    #[test]
    fn both_halves_of_128_bits_count() {
        let candidates = [1_u128, 1 << 127, 1 | 1 << 127];
        assert_eq!(found(0, &candidates, 1), [(0, 1), (1, 1)]);
        assert_eq!(found(u128::MAX, &candidates, 127), [(0, 127), (1, 127), (2, 126)]);
    }

    #[test]
    fn no_candidates_no_hits() {
        assert_eq!(found(7_u64, &[], 64), []);
    }
}
