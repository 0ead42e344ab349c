//! The keep rule, over groups of identical fingerprints.
//!
//! Groups are taken in keep order. A group is dropped if a page of the store, or a group already kept,
//! is within k; else it is kept. So every dropped group is near a kept one or a page of the store, and
//! no two kept groups are near each other, however long the chains of near pages are. Taking them one
//! after the other is the definition, and also how it is done: with the near pairs sorted by the later
//! of the two, one pass over them is enough, and nothing is held but a few bytes for each group.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::matches::crowd::{Block, Crowd};
use crate::progress::{self, Activity};
use crate::runs::Record;

/// Two near groups of the batch, by their ranks in keep order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Edge {
    /// The rank of the group that is taken later.
    pub(super) later: u32,
    /// The rank of the group that is taken earlier.
    pub(super) earlier: u32,
    /// The Hamming distance.
    pub(super) distance: u8,
}

impl Record for Edge {}

/// What the rule says of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Judgement {
    /// Its leader is kept.
    Kept,
    /// All of it is dropped; near is the nearest kept group of the batch, if any is near.
    Dropped {
        /// The rank of that group, and its distance.
        near: Option<(u32, u8)>,
    },
}

/// Judges every rank of `groups`. `held` says of a rank whether the store has a page within k, `edges`
/// are near pairs, in order: all but those between two groups of the `crowd`. Of kept groups at one
/// distance the nearest is the one of the smallest `name`.
pub(super) fn judge<N: Ord>(
    groups: u32,
    held: impl Fn(u32) -> bool,
    edges: impl Iterator<Item = Result<Edge>>,
    mut crowd: Crowd<impl Fn(u32) -> Vec<Block>, impl Fn(u32, u32) -> Option<u8>>,
    name: impl Fn(u32) -> N,
) -> Result<Judgements> {
    let mut judged = Judged { judgements: Judgements::default(), name };
    let mut edges = edges.peekable();
    let mut earlier = Vec::new();
    for rank in 0..groups {
        earlier.clear();
        while let Some(edge) =
            edges.next_if(|edge| edge.as_ref().map_or(true, |it| it.later == rank))
        {
            let Edge { earlier: other, distance, .. } = edge?;
            earlier.push((other, distance));
        }
        let crowded = crowd.holds(rank);
        if crowded {
            progress::tick(Activity::Working);
        }
        let held = held(rank) || (crowded && crowd.near(rank).next().is_some());
        if judged.take(rank, held, &earlier) && crowded {
            crowd.keep(rank);
        }
    }
    for &rank in crowd.ranks() {
        progress::tick(Activity::Working);
        crowd.near(rank).for_each(|(kept, distance)| judged.offer(rank, kept, distance));
    }
    Ok(judged.judgements)
}

/// The judgement on every rank, in five bytes.
#[derive(Debug, Default)]
pub(super) struct Judgements {
    near: Vec<u32>,
    distances: Vec<u8>,
}

/// Stands for the distance of a rank that is kept, or of one that nothing is near to.
const KEPT: u8 = u8::MAX;
const ALONE: u8 = u8::MAX - 1;

impl Judgements {
    /// The judgement on `rank`.
    pub(super) fn get(&self, rank: u32) -> Judgement {
        match self.distances[rank as usize] {
            KEPT => Judgement::Kept,
            ALONE => Judgement::Dropped { near: None },
            distance => Judgement::Dropped { near: Some((self.near[rank as usize], distance)) },
        }
    }

    /// How many are kept.
    pub(super) fn kept(&self) -> u64 {
        self.distances.iter().filter(|&&distance| distance == KEPT).count() as u64
    }

    fn push(&mut self, kept: bool) {
        self.near.push(0);
        self.distances.push(if kept { KEPT } else { ALONE });
    }

    fn is_kept(&self, rank: u32) -> bool {
        self.distances[rank as usize] == KEPT
    }
}

/// The judgements on the ranks taken so far.
struct Judged<L> {
    judgements: Judgements,
    name: L,
}

impl<N: Ord, L: Fn(u32) -> N> Judged<L> {
    /// Takes the next rank, which is near the `earlier` ones, and says whether it is kept. One that is
    /// `held` is not.
    fn take(&mut self, rank: u32, held: bool, earlier: &[(u32, u8)]) -> bool {
        let crowded = earlier.iter().any(|&(other, _)| self.judgements.is_kept(other));
        let kept = !held && !crowded;
        self.judgements.push(kept);
        for &(other, distance) in earlier {
            match kept {
                true => self.offer(other, rank, distance),
                false if self.judgements.is_kept(other) => self.offer(rank, other, distance),
                false => {}
            }
        }
        kept
    }

    /// Makes `kept` the nearest of a dropped rank, if it is nearer than what was offered before.
    fn offer(&mut self, rank: u32, kept: u32, distance: u8) {
        let Judged { judgements, name } = self;
        let Judgement::Dropped { near } = judgements.get(rank) else { return };
        let nearer = near.is_none_or(|(last, least)| (distance, name(kept)) < (least, name(last)));
        if nearer {
            judgements.near[rank as usize] = kept;
            judgements.distances[rank as usize] = distance;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::time::Instant;

    /// The rule as it is told: each group against every one kept before.
    fn naive(held: &[bool], distance: impl Fn(u32, u32) -> Option<u8>) -> Vec<Judgement> {
        let groups = held.len() as u32;
        let mut kept: Vec<u32> = Vec::new();
        for group in 0..groups {
            if !held[group as usize] && kept.iter().all(|&other| distance(group, other).is_none()) {
                kept.push(group);
            }
        }
        let nearest = |group| {
            let near = kept.iter().filter_map(|&other| Some((distance(group, other)?, 99 - other)));
            near.min().map(|(distance, name)| (99 - name, distance))
        };
        (0..groups)
            .map(|group| match kept.contains(&group) {
                true => Judgement::Kept,
                false => Judgement::Dropped { near: nearest(group) },
            })
            .collect()
    }

    /// No crowd.
    fn nobody() -> Crowd<impl Fn(u32) -> Vec<Block>, impl Fn(u32, u32) -> Option<u8>> {
        Crowd::new(Vec::new(), |_| Vec::new(), |_, _| None)
    }

    proptest! {
        /// Pairs between crowded groups are left out of the edges, as the sieve does.
        #[test]
        fn judging_a_crowd_is_the_rule(
            groups in prop::collection::vec((0_u32..4096, any::<bool>(), any::<bool>()), 0..60),
            k in 0_u32..5,
        ) {
            let distance = |a: u32, b: u32| {
                let distance = (groups[a as usize].0 ^ groups[b as usize].0).count_ones();
                (distance <= k).then_some(distance as u8)
            };
            let (count, crowded) = (groups.len() as u32, |rank: u32| groups[rank as usize].2);
            let pairs = (0..count).flat_map(|later| (0..later).map(move |earlier| (later, earlier)));
            let edges = pairs.filter(|&(later, earlier)| !(crowded(later) && crowded(earlier)));
            let edges = edges.filter_map(|(later, earlier)| {
                Some(Ok(Edge { later, earlier, distance: distance(later, earlier)? }))
            });
            // 5 blocks of 12 bits, as 4 differing bits need.
            let blocks = |rank: u32| {
                let bits = groups[rank as usize].0;
                [7, 0o70, 0o300, 0o1400, 0o6000].map(|mask| bits & mask).into_iter().enumerate()
                    .map(|(block, bits)| (block, bits.into())).collect()
            };
            let crowd = Crowd::new((0..count).filter(|&rank| crowded(rank)).collect(), blocks, distance);
            let held: Vec<bool> = groups.iter().map(|group| group.1).collect();
            let judged =
                judge(count, |group| held[group as usize], edges, crowd, |group| 99 - group).unwrap();
            let judged: Vec<Judgement> = (0..count).map(|rank| judged.get(rank)).collect();
            prop_assert_eq!(judged, naive(&held, distance));
        }

        #[test]
        fn judging_by_edges_is_the_rule(
            groups in prop::collection::vec((0_u32..256, any::<bool>()), 0..24),
            k in 0_u32..5,
        ) {
            let held: Vec<bool> = groups.iter().map(|group| group.1).collect();
            let distance = |a: u32, b: u32| {
                let distance = (groups[a as usize].0 ^ groups[b as usize].0).count_ones();
                (distance <= k).then_some(distance as u8)
            };
            let count = groups.len() as u32;
            let pairs = (0..count).flat_map(|later| (0..later).map(move |earlier| (later, earlier)));
            let edges = pairs.filter_map(|(later, earlier)| {
                Some(Ok(Edge { later, earlier, distance: distance(later, earlier)? }))
            });
            let judged = judge(count, |group| held[group as usize], edges, nobody(), |group| 99 - group).unwrap();
            let judged: Vec<Judgement> = (0..count).map(|rank| judged.get(rank)).collect();
            prop_assert_eq!(judged, naive(&held, distance));
        }
    }

    #[test]
    fn a_chain_of_a_million_keeps_every_other_one() {
        let groups = 1_000_000_u32;
        let edges = (1..groups).map(|later| Ok(Edge { later, earlier: later - 1, distance: 3 }));
        let began = Instant::now();
        let judged = judge(groups, |_| false, edges, nobody(), |group| group).unwrap();
        assert!(
            (0..groups)
                .all(|group| { (judged.get(group) == Judgement::Kept) == group.is_multiple_of(2) })
        );
        assert!(began.elapsed().as_secs() < 10, "not linear: {:?}", began.elapsed());
    }
}
