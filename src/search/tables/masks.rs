//! Masks: the bits of a fingerprint divided into blocks, and choices of those blocks joined.

/// Every mask made of `fixed` and a choice of `choose` among the `blocks` blocks of the other bits
/// of `all`.
pub(super) fn refine(fixed: u128, all: u128, blocks: u32, choose: u32) -> Vec<u128> {
    let mut masks = Vec::new();
    grow(fixed, &split(all & !fixed, blocks), choose, &mut masks);
    masks
}

/// Adds to `masks` every union of `mask` with `choose` of the `blocks`.
fn grow(mask: u128, blocks: &[u128], choose: u32, masks: &mut Vec<u128>) {
    if choose == 0 {
        return masks.push(mask);
    }
    // Where fewer than `choose` blocks are left there is nothing more to choose.
    let firsts = (blocks.len() + 1).saturating_sub(choose as usize);
    for (at, block) in blocks[..firsts].iter().enumerate() {
        grow(mask | block, &blocks[at + 1..], choose - 1, masks);
    }
}

/// The set bits of `bits` in `parts` blocks, from the high end, as even as possible, wider ones first.
pub(super) fn split(bits: u128, parts: u32) -> Vec<u128> {
    let width = bits.count_ones() / parts;
    let wider = bits.count_ones() % parts;
    let mut rest = bits;
    (0..parts).map(|part| take(&mut rest, width + u32::from(part < wider))).collect()
}

/// Moves the `count` highest bits out of `rest`.
fn take(rest: &mut u128, count: u32) -> u128 {
    let mut taken = 0;
    for _ in 0..count {
        let highest = 1 << (127 - rest.leading_zeros());
        taken |= highest;
        *rest ^= highest;
    }
    taken
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn blocks_divide_the_bits_evenly(bits: u128, parts in 1_u32..20) {
            let blocks = split(bits, parts);
            prop_assert_eq!(blocks.iter().fold(0, |union, block| union | block), bits);
            let widths: Vec<u32> = blocks.iter().map(|block| block.count_ones()).collect();
            prop_assert_eq!(widths.iter().sum::<u32>(), bits.count_ones());
            prop_assert!(widths.is_sorted_by(|a, b| a >= b) && widths[0] - widths[widths.len() - 1] <= 1);
        }
    }
}
