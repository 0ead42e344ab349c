//! The fingerprints of a slice that are within k bits of another one, and every way to differ in some bits.

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

/// The words of `width` bits in which `weight` bits are set, in ascending order: those of fewer bits come first.
pub fn words(width: u32, weight: u32) -> impl Iterator<Item = u128> {
    let first = (weight <= width).then(|| (1_u128 << weight) - 1);
    let next = move |&word: &u128| {
        // The lowest run of ones moves its highest bit up by one place. The remaining bits of the
        // run move to the bottom.
        let lowest = word & word.wrapping_neg();
        let carried = word + lowest;
        let next =
            (word > 0).then(|| carried | (((word ^ carried) >> 2) >> lowest.trailing_zeros()));
        next.filter(|word| word >> width == 0)
    };
    std::iter::successors(first, next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_all_of_their_weight() {
        for (width, weight) in (0..10).flat_map(|width| (0..=10).map(move |it| (width, it))) {
            let all = (0..1_u128 << width).filter(|word| word.count_ones() == weight);
            assert!(all.eq(words(width, weight)), "{weight} of {width}");
        }
    }
}
