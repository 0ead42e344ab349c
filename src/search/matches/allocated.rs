//! The memory of a text.

/// About how many bytes a string takes on the heap.
pub fn allocated(text: &str) -> usize {
    text.len().next_multiple_of(16) + 16
}
