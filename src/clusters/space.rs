//! The space that a clustering has to sort in: a folder and memory.

use std::path::Path;

use crate::runs::{Record, Sorter};

/// The space that the sorts of a clustering have.
pub(super) struct Space<'a> {
    /// Where they spill to.
    pub(super) folder: &'a Path,
    /// The memory of each; three exist at once.
    pub(super) memory_bytes: usize,
}

impl Space<'_> {
    pub(super) fn sorter<R: Record>(&self) -> Sorter<R> {
        Sorter::new(self.folder, self.memory_bytes)
    }
}
