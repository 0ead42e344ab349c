//! The estimate: a design, and what it is expected to cost.

use std::fmt;

use super::design::Design;

#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// The design, never [`Design::Auto`].
    pub design: Design,
    /// How many keys or blocks it has.
    pub tables: u64,
    /// Time of one thread for each fingerprint of the store, in nanoseconds.
    pub nanoseconds: f64,
    /// Time of one thread in all: the batch arranged, and joined with the store.
    pub seconds: f64,
    pub memory_bytes: u64,
    /// How many fingerprints of the store are probed at once at most, if the memory or the number of workers limits that.
    pub window: Option<usize>,
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Estimate { design, tables, nanoseconds, memory_bytes, .. } = self;
        let mebibytes = memory_bytes.div_ceil(1 << 20);
        write!(f, "{design}: {tables} tables, {nanoseconds:.0} ns a fingerprint, {mebibytes} MiB")
    }
}
