//! How the tree of prefixes is cut, and what bounds its memory.

use super::cost::MOST_KEYS;

/// How the tree is cut, and what bounds the memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// The most bits of the first digit, at most 12.
    pub(super) root: u32,
    /// The bits of every other digit, at most one more.
    pub(super) digit: u32,
    /// The widest block, at most 22 bits.
    pub(super) widest: u32,
    /// The shortest prefix of a leaf.
    pub(super) shallowest: u32,
    pub(super) most_keys: usize,
    /// The most runs that are walked side by side.
    pub(super) side_by_side: usize,
}

pub(super) const SHAPE: Shape =
    Shape { root: 12, digit: 6, widest: 22, shallowest: 0, most_keys: MOST_KEYS, side_by_side: 4 };
