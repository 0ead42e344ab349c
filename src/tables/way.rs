//! How a design is carried out.

use std::fmt;

/// How a design is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Way {
    /// The batch is indexed; the store, or the batch itself, streams past it.
    Indexed,
    /// Windows of the store are sorted with the batch, or the batch alone, key after key. Only designs of masks.
    Sorted,
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Way::Indexed => "indexed",
            Way::Sorted => "sorted",
        })
    }
}
