//! Crowds judged: kept groups near a crowded one are looked up, because not all its pairs are listed.
//!
//! The keep rule asks of each group whether a kept one is near. Kept groups are never near each other,
//! so a crowd has few of them: of 10,000 fingerprints that differ in 14 low bits, two or so are kept at
//! k = 7. They stand here under blocks of their fingerprints. Of k + 1 blocks, k differing bits leave one
//! untouched, so a near group has at least one block in common with them.

use std::collections::HashMap;

/// A block of a fingerprint: its number, and the bits in it.
pub(super) type Block = (usize, u128);

/// The crowded groups, and those of them that are kept, by their ranks in keep order.
pub(super) struct Crowd<B, D> {
    /// All crowded groups, ascending.
    ranks: Vec<u32>,
    /// The blocks of a group; groups that are near have one in common.
    blocks: B,
    /// The distance of two groups, if they match.
    distance: D,
    kept: HashMap<Block, Vec<u32>>,
}

impl<B: Fn(u32) -> Vec<Block>, D: Fn(u32, u32) -> Option<u8>> Crowd<B, D> {
    /// The crowd of these `ranks`, of which none is kept so far.
    pub(super) fn new(mut ranks: Vec<u32>, blocks: B, distance: D) -> Crowd<B, D> {
        ranks.sort_unstable();
        ranks.dedup();
        Crowd { ranks, blocks, distance, kept: HashMap::new() }
    }

    /// All crowded groups, ascending.
    pub(super) fn ranks(&self) -> &[u32] {
        &self.ranks
    }

    /// Whether a group is crowded.
    pub(super) fn holds(&self, rank: u32) -> bool {
        self.ranks.binary_search(&rank).is_ok()
    }

    /// Takes a crowded group that is kept.
    pub(super) fn keep(&mut self, rank: u32) {
        for block in (self.blocks)(rank) {
            self.kept.entry(block).or_default().push(rank);
        }
    }

    /// The kept groups near a crowded one, with their distances; one may come several times.
    pub(super) fn near(&self, rank: u32) -> impl Iterator<Item = (u32, u8)> {
        let kept = (self.blocks)(rank).into_iter().filter_map(|block| self.kept.get(&block));
        let near = move |&kept: &u32| Some((kept, (self.distance)(rank, kept)?));
        kept.flatten().filter_map(near)
    }
}
