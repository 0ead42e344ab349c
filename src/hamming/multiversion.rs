//! Code compiled twice: for any processor of an architecture, and for the instructions that nearly all of
//! them have today.
//!
//! A program for any x86-64 counts bits with a dozen instructions and finds the next set bit in a loop.
//! Haswell (2013) and its successors do either with one instruction, and add four words at once. Written by
//! hand, that would be a second meaning of the same code. Here the compiler makes the second version, and
//! the program chooses between them when it runs.
//!
//! ```
//! use dupsieve::hamming::multiversion::{Multiversion, widest};
//!
//! struct CountOnes<'a>(&'a [u64]);
//!
//! impl Multiversion for CountOnes<'_> {
//!     type Output = u32;
//!
//!     #[inline(always)]
//!     fn run(self) -> u32 {
//!         self.0.iter().map(|word| word.count_ones()).sum()
//!     }
//! }
//!
//! assert_eq!(widest(CountOnes(&[0b101, 0b1])), 3);
//! ```

/// Work compiled once per instruction set. A trait rather than a closure, because closures are not
/// inlined into `#[target_feature]` functions.
pub trait Multiversion {
    /// The result.
    type Output;

    /// Does the work. It must be `#[inline(always)]`, and so must everything it calls that is to be compiled
    /// for each instruction set.
    fn run(self) -> Self::Output;
}

/// Does `work` with the widest instructions that this processor has. The result is the same in any case.
#[inline]
pub fn widest<W: Multiversion>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
    {
        // SAFETY: the processor was just asked for everything that this version is compiled for.
        return unsafe { haswell(work) };
    }
    work.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn haswell<W: Multiversion>(work: W) -> W::Output {
    work.run()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::hamming::within;

    /// What the versions differ in: bits counted, found, shifted and added.
    #[derive(Clone, Copy)]
    struct Sums<'a>(&'a [u64], u32);

    impl Multiversion for Sums<'_> {
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
        fn every_version_gives_the_same_result(numbers: Vec<u64>, shift: u32) {
            let work = Sums(&numbers, shift);
            prop_assert_eq!(widest(work), work.run());
        }
    }
}
