//! Crowds judged: the kept groups near a crowded one are looked up, because not all its pairs are listed.
//!
//! The keep rule asks of each group whether a kept one is near. Kept groups are never near each other,
//! so a crowd has few of them: of 10,000 fingerprints that differ in 14 low bits, about two are kept at
//! k = 7. They are found by blocks of their fingerprints. k differing bits leave at least one of k + 1
//! blocks as it is, so a near group shares at least one block with them.

use std::collections::{HashMap, HashSet};

use super::numbers::KeepRank;

/// A block of a fingerprint: its number, and its bits.
pub(crate) type Block = (usize, u128);

/// The crowded groups, and those of them that are kept, by their ranks in keep order.
pub(crate) struct Crowd<B, D> {
    /// All crowded groups, ascending.
    ranks: Vec<KeepRank>,
    /// The blocks of a group; near groups share one.
    blocks: B,
    /// The distance of two groups, if they match.
    distance: D,
    kept: HashMap<Block, Vec<KeepRank>>,
}

impl<B, D, N> Crowd<B, D>
where
    B: Fn(KeepRank) -> Vec<Block>,
    D: Fn(KeepRank, KeepRank) -> Option<N>,
{
    /// The crowd of these `ranks`. None of them is kept yet.
    pub(crate) fn new(mut ranks: Vec<KeepRank>, blocks: B, distance: D) -> Crowd<B, D> {
        ranks.sort_unstable();
        ranks.dedup();
        Crowd { ranks, blocks, distance, kept: HashMap::new() }
    }

    /// All crowded groups, ascending.
    pub(super) fn ranks(&self) -> &[KeepRank] {
        &self.ranks
    }

    /// Whether a group is crowded.
    pub(super) fn contains(&self, rank: KeepRank) -> bool {
        self.ranks.binary_search(&rank).is_ok()
    }

    /// Takes a crowded group that is kept.
    pub(super) fn keep(&mut self, rank: KeepRank) {
        for block in (self.blocks)(rank) {
            self.kept.entry(block).or_default().push(rank);
        }
    }

    /// The kept groups near a crowded one, each once, with their distances.
    pub(super) fn near(&self, rank: KeepRank) -> impl Iterator<Item = (KeepRank, N)> {
        let kept = (self.blocks)(rank).into_iter().filter_map(|block| self.kept.get(&block));
        let mut met = HashSet::new();
        let distinct = kept.flatten().filter(move |&&kept| met.insert(kept));
        distinct.filter_map(move |&kept| Some((kept, (self.distance)(rank, kept)?)))
    }
}
