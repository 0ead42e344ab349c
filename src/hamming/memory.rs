//! Memory that is looked into at random: in huge pages where the system has them, and fetched ahead.
//!
//! Both are advice. What is computed is the same where they are not taken.

use std::ptr;

/// Huge pages are of this size on the machines meant.
const HUGE_BYTES: usize = 2 << 20;

/// So many zeros, in huge pages where they fill any: a look into gigabytes then seldom waits for the
/// page table as well.
pub fn zeroed(count: usize) -> Vec<u64> {
    let words = vec![0; count];
    #[cfg(target_os = "linux")]
    ask_for_huge_pages(&words);
    words
}

#[cfg(target_os = "linux")]
fn ask_for_huge_pages(words: &[u64]) {
    use rustix::mm::{Advice, madvise};
    let bytes = size_of_val(words);
    let begin = words.as_ptr().cast::<u8>();
    let before = begin.align_offset(HUGE_BYTES).min(bytes);
    let huge = (bytes - before) / HUGE_BYTES * HUGE_BYTES;
    if huge > 0 {
        let begin = begin.wrapping_add(before).cast_mut();
        // SAFETY: the range lies within `words`, and this advice changes no byte of it.
        let refused = unsafe { madvise(begin.cast(), huge, Advice::LinuxHugepage) };
        // A system without huge pages leaves these as they are.
        refused.ok();
    }
}

/// Begins to bring element `at` of `slice` into the cache, without waiting for it; nothing where there
/// is none.
#[inline(always)]
pub fn prefetch<T>(slice: &[T], at: usize) {
    let Some(element) = slice.get(at) else { return };
    let address = ptr::from_ref(element);
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every x86-64 has the instruction; it reads and writes nothing that can be observed.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: the instruction is a hint; it reads and writes nothing that can be observed.
    unsafe {
        std::arch::asm!("prfm pldl1keep, [{}]", in(reg) address, options(nostack, preserves_flags));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = address;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_fetched_ahead_stays_as_it_is(
            words in prop::collection::vec(any::<u64>(), 0..50),
            at in 0usize..60,
        ) {
            let before = words.clone();
            prefetch(&words, at);
            prefetch::<u64>(&words, usize::MAX);
            prop_assert_eq!(words, before);
        }

        /// Huge pages or none, in part or in whole: as many zeros as were asked for, to be written.
        #[test]
        fn zeroed_memory_is_zero_and_ones_own(
            count in (0usize..1 << 20).prop_map(|count| count >> (count % 13)),
        ) {
            let mut words = zeroed(count);
            prop_assert_eq!(words.len(), count);
            prop_assert!(words.iter().all(|&word| word == 0));
            words.fill(u64::MAX);
            prop_assert!(words.iter().all(|&word| word == u64::MAX));
            prop_assert!(zeroed(count).iter().all(|&word| word == 0));
        }
    }

    #[test]
    fn more_than_a_huge_page_is_zero_at_both_ends() {
        let words = zeroed((3 * HUGE_BYTES + 8) / 8);
        assert!(words.iter().all(|&word| word == 0));
    }
}
