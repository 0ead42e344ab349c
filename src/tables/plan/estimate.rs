//! The estimate: a design, how it is carried out, and what it is expected to cost.

use std::fmt;

use crate::tables::design::Design;
use crate::tables::problem::Cost;
use crate::tables::way::Way;

/// What a design is expected to cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// The design, never [`Design::Auto`].
    pub design: Design,
    /// How it is carried out.
    pub way: Way,
    /// How many tables or keys it has.
    pub tables: u64,
    /// Time of one thread for each fingerprint of the store, in nanoseconds.
    pub nanoseconds: f64,
    /// Time of one thread in all: the batch arranged, and joined with the store.
    pub seconds: f64,
    /// How many bytes it takes, with all workers.
    pub memory_bytes: u64,
    /// How many fingerprints of the store are probed at once, if the number of workers limits that.
    pub window: Option<usize>,
}

impl Estimate {
    /// Of a design that costs this much.
    pub(super) fn new(design: Design, way: Way, cost: Cost) -> Estimate {
        let Cost { tables, nanoseconds, seconds, memory_bytes } = cost;
        Estimate { design, way, tables, nanoseconds, seconds, memory_bytes, window: None }
    }

    /// The design, and `sorted` if that is how it is carried out.
    #[must_use]
    pub fn name(&self) -> String {
        match self.way {
            Way::Indexed => self.design.to_string(),
            Way::Sorted => format!("{} sorted", self.design),
        }
    }
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Estimate { design, way, tables, nanoseconds, memory_bytes, .. } = self;
        let mebibytes = memory_bytes.div_ceil(1 << 20);
        write!(
            f,
            "{design} {way}: {tables} tables, {nanoseconds:.0} ns a fingerprint, {mebibytes} MiB"
        )
    }
}
