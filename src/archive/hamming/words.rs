//! Every way to differ in some bits.

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
