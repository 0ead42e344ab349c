//! The batch arranged by prefix.

use std::sync::Arc;

use super::level::Level;
use super::shape::Shape;
use crate::tables::flips::Flips;

#[derive(Debug)]
pub(in crate::tables) struct Conditioned<F> {
    pub(super) root: Level<F>,
    /// The number that tells this arrangement from every other arrangement.
    pub(super) identity: Arc<()>,
    pub(super) flips: Flips,
    /// The most bits in which a pair may differ.
    pub(super) k: u32,
    /// How many bits at the end are zeros, which tell nothing, and are left to the comparison.
    pub(super) tail: u32,
    pub(super) shape: Shape,
}
