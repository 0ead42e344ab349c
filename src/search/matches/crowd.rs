//! Crowds judged: the kept groups near a crowded one are looked up, because not all its pairs are listed.
//!
//! The keep rule asks of each group whether a kept one is near. Where the distance alone decides, kept groups
//! are never near each other, so a crowd has few of them: of 10,000 fingerprints that differ in 14 low bits,
//! about two are kept at k = 7. They are found by blocks of their fingerprints. k differing bits leave at least
//! one of k + 1 blocks as it is, so a near group shares at least one block with them.
//!
//! Where a check decides too, most of a crowd may be kept, and the time grows with the product of both: each
//! crowded group is held against the kept ones that share a block. At k = 7 a block of 64 bits has 8, so of a
//! million kept and uniform ones these are 32,000, about 8 bytes and a nanosecond each. So the fingerprints of a
//! block lie side by side, and the check is asked only for those within k bits, the nearest first.

use std::collections::HashMap;

use super::coverage::Coverage;
use super::numbers::KeepRank;
use crate::error::Result;

/// A block of a fingerprint: its number, and its bits.
pub(crate) type Block = (usize, u128);

pub(crate) trait Comparing {
    /// What tells at once that most groups do not match; held for each kept group.
    type Sketch: Copy;

    /// The blocks of a group; near groups share one.
    fn blocks(&self, rank: KeepRank) -> Result<Vec<Block>>;

    fn sketch(&self, rank: KeepRank) -> Self::Sketch;

    /// Calls `found` for each of `kept` that may match: with its place, and how well it covers the group at best.
    fn find(&self, sketch: Self::Sketch, kept: &[Self::Sketch], found: impl FnMut(usize, Coverage));

    /// How well the other group covers the one, if it can.
    fn distance(&mut self, one: KeepRank, other: KeepRank) -> Result<Option<Coverage>>;
}

/// The crowded groups, and those of them that are kept, by their ranks in keep order.
pub(crate) struct Crowd<C: Comparing> {
    /// All crowded groups, ascending.
    pub(super) ranks: Vec<KeepRank>,
    comparing: C,
    /// The kept groups that have each block: their sketches, and their ranks.
    kept: HashMap<Block, (Vec<C::Sketch>, Vec<KeepRank>)>,
}

impl<C: Comparing> Crowd<C> {
    pub(crate) fn new(mut ranks: Vec<KeepRank>, comparing: C) -> Crowd<C> {
        ranks.sort_unstable();
        ranks.dedup();
        Crowd { ranks, comparing, kept: HashMap::new() }
    }

    pub(super) fn contains(&self, rank: KeepRank) -> bool {
        self.ranks.binary_search(&rank).is_ok()
    }

    pub(super) fn keep(&mut self, rank: KeepRank) -> Result<()> {
        let sketch = self.comparing.sketch(rank);
        for block in self.comparing.blocks(rank)? {
            let (sketches, ranks) = self.kept.entry(block).or_default();
            sketches.push(sketch);
            ranks.push(rank);
        }
        Ok(())
    }

    pub(super) fn is_near(&mut self, rank: KeepRank) -> Result<bool> {
        for (_, kept) in self.candidates(rank)? {
            if self.comparing.distance(rank, kept)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The kept groups near a crowded one, each once; those farther than the nearest may be left out.
    pub(super) fn nearest(&mut self, rank: KeepRank) -> Result<Vec<(KeepRank, Coverage)>> {
        let mut near: Vec<(KeepRank, Coverage)> = Vec::new();
        let mut least = None;
        for (bound, kept) in self.candidates(rank)? {
            if least.is_some_and(|least| least < bound) {
                break;
            }
            let distance = self.comparing.distance(rank, kept)?;
            least = least.into_iter().chain(distance).min();
            near.extend(distance.map(|distance| (kept, distance)));
        }
        Ok(near)
    }

    /// The kept groups that may be near a crowded one, each once, by the least distance that it may have.
    fn candidates(&self, rank: KeepRank) -> Result<Vec<(Coverage, KeepRank)>> {
        let sketch = self.comparing.sketch(rank);
        let mut candidates = Vec::new();
        for block in self.comparing.blocks(rank)? {
            let Some((sketches, ranks)) = self.kept.get(&block) else { continue };
            let found = |at: usize, least| candidates.push((least, ranks[at]));
            self.comparing.find(sketch, sketches, found);
        }
        candidates.sort_unstable();
        candidates.dedup();
        Ok(candidates)
    }
}
