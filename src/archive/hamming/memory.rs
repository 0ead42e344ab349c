//! Memory for random access: in huge pages if the system has them, and prefetched.
//!
//! Both are advice to the machine. The results are the same if it ignores them.

use std::ptr;

/// The size of a huge page on x86-64 and most ARM systems.
const HUGE_BYTES: usize = 2 << 20;

/// `count` zeros, in huge pages if they fill any: a look into gigabytes then seldom waits for the page
/// table as well.
pub fn zeroed(count: usize) -> Vec<u8> {
    let bytes = vec![0; count];
    #[cfg(target_os = "linux")]
    ask_for_huge_pages(&bytes);
    bytes
}

#[cfg(target_os = "linux")]
fn ask_for_huge_pages(bytes: &[u8]) {
    use rustix::mm::{Advice, madvise};
    let begin = bytes.as_ptr();
    let before = begin.align_offset(HUGE_BYTES).min(bytes.len());
    let huge = (bytes.len() - before) / HUGE_BYTES * HUGE_BYTES;
    if huge > 0 {
        let begin = begin.wrapping_add(before).cast_mut();
        // SAFETY: the range lies within `bytes`, and this advice changes none of them.
        let refused = unsafe { madvise(begin.cast(), huge, Advice::LinuxHugepage) };
        // A system without huge pages ignores this.
        refused.ok();
    }
}

/// Begins to bring element `at` of `slice` into the cache, without waiting for it. Does nothing if there
/// is no such element.
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
        /// Huge pages or none, in part or in whole: as many zeros as were asked for, to be written.
        #[test]
        fn zeroed_memory_is_zero_and_writable(
            count in (0usize..1 << 23).prop_map(|count| count >> (count % 13)),
        ) {
            let mut bytes = zeroed(count);
            prop_assert_eq!(bytes.len(), count);
            prop_assert!(bytes.iter().all(|&byte| byte == 0));
            bytes.fill(u8::MAX);
            prop_assert!(bytes.iter().all(|&byte| byte == u8::MAX));
            prop_assert!(zeroed(count).iter().all(|&byte| byte == 0));
        }
    }
}
