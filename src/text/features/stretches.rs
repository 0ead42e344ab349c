//! Where the longest stretches of some bytes stand in a text.
//!
//! Sixty-four bytes are looked at together, each of which gives one bit. A stretch begins at a bit whose neighbour below is not set, and ends
//! before a bit that is not set and whose neighbour is. So no byte is branched upon, and the compiler makes code for vectors.

const TOGETHER: usize = u64::BITS as usize;

/// Calls `stretch` with the start and the end of each longest stretch of bytes that are so.
#[inline(always)]
pub(super) fn each(
    bytes: &[u8],
    is: impl Fn(u8) -> bool + Copy,
    mut stretch: impl FnMut(usize, usize),
) {
    let (blocks, rest) = bytes.as_chunks::<TOGETHER>();
    let mut last = [0; TOGETHER];
    last[..rest.len()].copy_from_slice(rest);
    // Where the next stretch starts, and whether that is before the block.
    let (mut start, mut is_open) = (0, 0);
    for (at, block) in (0..).step_by(TOGETHER).zip(blocks.iter().chain([&last])) {
        let mut here = bits(block, is);
        if bytes.len() - at < TOGETHER {
            here &= (1 << (bytes.len() - at)) - 1;
        }
        let before = here << 1 | is_open;
        let mut starts = here & !before;
        let mut ends = before & !here;
        if is_open == 0 {
            start = at + next(&mut starts);
        }
        while ends != 0 {
            stretch(start, at + next(&mut ends));
            start = at + next(&mut starts);
        }
        is_open = here >> (TOGETHER - 1);
    }
}

/// Takes the lowest bit from `bits` and returns its place; 64 if there is none.
#[inline(always)]
fn next(bits: &mut u64) -> usize {
    let place = bits.trailing_zeros() as usize;
    *bits &= bits.wrapping_sub(1);
    place
}

/// A bit for each byte of a block, the lowest for the first.
#[inline(always)]
fn bits(block: &[u8; TOGETHER], is: impl Fn(u8) -> bool) -> u64 {
    let mut flags = [0; TOGETHER];
    for (flag, &byte) in flags.iter_mut().zip(block) {
        *flag = u8::from(is(byte));
    }
    // The product has the eight flags in its highest byte.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let eights = flags.as_chunks().0.iter().map(|eight| u64::from_le_bytes(*eight));
    eights.rev().fold(0, |bits, eight| bits << 8 | eight.wrapping_mul(GATHER) >> 56)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn stretches_equal_their_definition(
            parts in prop::collection::vec((any::<bool>(), 1..150_usize), 0..9),
            zero: bool,
        ) {
            // Zeros stand behind the last byte, too.
            let [other, is] = if zero { [1, 0] } else { [0, 1] };
            let bytes: Vec<u8> =
                parts.iter().flat_map(|&(it, count)| vec![if it { is } else { other }; count]).collect();
            let mut found = Vec::new();
            each(&bytes, |byte| byte == is, |start, end| found.push((start, end)));
            let starts = (0..bytes.len()).filter(|&at| bytes[at] == is && (at == 0 || bytes[at - 1] != is));
            let expected = starts.map(|start| {
                (start, start + bytes[start..].iter().take_while(|&&byte| byte == is).count())
            });
            prop_assert_eq!(found, expected.collect::<Vec<_>>());
        }
    }
}
