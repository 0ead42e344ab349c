//! One meaning, several copies: the same code for every processor, and for what nearly all of them
//! have learnt since.
//!
//! A program for any x86-64 counts bits by a dozen instructions and looks for the next one by loops.
//! Haswell and all that came after do either by one, and add four words at once. Written by hand that
//! would be a second meaning; here the compiler makes the copy, and it is chosen when the program runs.

/// What there are copies of. (No closure and no function, since what calls these for a copy is not
/// inlined, and so is none.)
pub trait Work {
    /// What comes of it.
    type Output;

    /// Does it. Always inlined, as is all that it calls; what is not is the same in all copies.
    fn run(self) -> Self::Output;
}

/// Does `work` in the copy for the instructions that this processor has: the same work, with the same
/// result.
#[inline]
pub fn widest<W: Work>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
    {
        // SAFETY: the processor was just asked for everything that this copy is compiled for.
        return unsafe { haswell(work) };
    }
    work.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn haswell<W: Work>(work: W) -> W::Output {
    work.run()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::hamming::within;

    /// All that the copies have in common: bits counted, found, shifted and added.
    #[derive(Clone, Copy)]
    struct Sums<'a>(&'a [u64], u32);

    impl Work for Sums<'_> {
        type Output = (Vec<(usize, u32)>, u64, u32);

        #[inline(always)]
        fn run(self) -> Self::Output {
            let Sums(numbers, shift) = self;
            let mut near = Vec::new();
            within(shift.into(), numbers, 32, |at, distance| near.push((at, distance)));
            let sum = numbers.iter().fold(0_u64, |sum, &it| sum.wrapping_add(it >> (shift % 64)));
            let ends = numbers.iter().map(|it| it.trailing_zeros() + it.leading_zeros()).sum();
            (near, sum, ends)
        }
    }

    proptest! {
        #[test]
        fn every_copy_says_the_same(numbers: Vec<u64>, shift: u32) {
            let work = Sums(&numbers, shift);
            prop_assert_eq!(widest(work), work.run());
        }
    }
}
