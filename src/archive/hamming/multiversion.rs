//! Code compiled more than once: for any processor of an architecture, for the instructions that nearly all of
//! them have today, and for those that count the bits of a whole vector.
//!
//! A program for any x86-64 counts bits with a dozen instructions and finds the next set bit in a loop.
//! Haswell (2013) and its successors do either with one instruction, and add four words at once. Written by
//! hand, that would be a second meaning of the same code. Here the compiler makes the second version, and
//! the program chooses between them when it runs.
//!
//! Ice Lake (2019), Zen 4 (2022) and their successors count the bits of 32 words of 16 bits with one
//! instruction. Work that does little else, and work that multiplies in all lanes of vectors, is compiled a third
//! time, for these ([`counting`]).

/// Work compiled once per instruction set. A trait rather than a closure, because closures are not
/// inlined into `#[target_feature]` functions.
pub trait Multiversion {
    type Output;

    /// Does the work. It must be `#[inline(always)]`, and so must everything it calls that is to be compiled
    /// for each instruction set.
    fn run(self) -> Self::Output;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instructions {
    /// Those of every processor of the architecture.
    Any,
    /// Vectors of 256 bits, and the bits of a word counted and found.
    Haswell,
    /// Vectors of 512 bits, and the bits of each of their words counted.
    IceLake,
}

impl Instructions {
    pub fn widest() -> Instructions {
        #[cfg(target_arch = "x86_64")]
        if has_ice_lake() {
            return Instructions::IceLake;
        } else if has_haswell() {
            return Instructions::Haswell;
        }
        Instructions::Any
    }
}

/// Does `work` with the instructions of Haswell if this processor has all of them, else with those
/// of every processor of the architecture. The result is the same in both cases.
#[inline]
pub fn widest<W: Multiversion>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    if has_haswell() {
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

/// Does `work`, which counts bits or multiplies in vectors, with the widest instructions that this processor has. The
/// result is the same in any case.
#[inline]
pub fn counting<W: Multiversion>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    if has_ice_lake() {
        // SAFETY: the processor was just asked for everything that this version is compiled for, and for what
        // the compiler takes AVX-512 to imply: FMA and F16C.
        return unsafe { ice_lake(work) };
    }
    widest(work)
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn has_haswell() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn has_ice_lake() -> bool {
    has_haswell()
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("f16c")
        && is_x86_feature_detected!("avx512bitalg")
        && is_x86_feature_detected!("avx512vpopcntdq")
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512bitalg,avx512vpopcntdq,avx512f,avx512bw,avx512dq,avx512vl")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn ice_lake<W: Multiversion>(work: W) -> W::Output {
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
            prop_assert_eq!(counting(work), work.run());
        }
    }
}
