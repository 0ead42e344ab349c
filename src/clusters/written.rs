//! The files of a clustering that were written, and what was counted on the way.

use super::link_file::LinkCounts;
use crate::output::Sum;

/// The three files of the state.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) rows: Sum,
    pub(super) sizes: Sum,
    pub(super) links: Sum,
    pub(super) counts: LinkCounts,
    pub(super) members: u64,
    pub(super) clusters: u64,
}
