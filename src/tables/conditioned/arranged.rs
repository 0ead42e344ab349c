//! The batch arranged by prefix.

use std::sync::Arc;

use super::level::Level;
use super::shape::Shape;
use crate::tables::flips::Flips;

/// The batch arranged by prefix.
#[derive(Debug)]
pub(in crate::tables) struct Conditioned<F> {
    pub(super) root: Level<F>,
    /// Tells it from every other arrangement.
    pub(super) identity: Arc<()>,
    pub(super) flips: Flips,
    /// The most bits in which a pair may differ before the tail.
    pub(super) k: u32,
    /// The most bits in which it may differ at all.
    pub(super) within: u32,
    /// How many bits at the end are left to the comparison: zeros that tell nothing, or the low half.
    pub(super) tail: u32,
    pub(super) shape: Shape,
}
