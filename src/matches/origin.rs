//! What a document was compared with.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::store::Day;

/// The day of the store under which the existing document stands, or the batch itself. Ordered as
/// their texts are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Against {
    /// The store: added under this day.
    Day(Day),
    /// The batch.
    Batch,
}

impl fmt::Display for Against {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Against::Day(day) => day.fmt(f),
            Against::Batch => f.write_str("batch"),
        }
    }
}
