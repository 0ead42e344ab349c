//! The id of a page of the batch, on its way through a sort.

use serde::{Deserialize, Serialize};

use super::numbers::SegmentRow;
use crate::runs::Record;

/// A document's id, and its row in the segment.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Id {
    pub(super) id: String,
    pub(super) row: SegmentRow,
}

impl Record for Id {
    fn bytes(&self) -> usize {
        size_of::<Self>() + allocated(&self.id)
    }
}

/// About how many bytes a string takes on the heap.
pub(super) fn allocated(text: &str) -> usize {
    text.len().next_multiple_of(16) + 16
}
