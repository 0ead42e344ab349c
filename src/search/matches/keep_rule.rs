//! The keep rule, over groups of pages that match one another as copies.
//!
//! Groups are taken in keep order. A group is dropped if a page of the store, or a group already kept,
//! can cover it; else it is kept. So a page that stays covers every dropped group, however long the chains of
//! near pages are. Taking the groups one after the other is the definition, and it is also how it is done: with the pairs
//! sorted by the later of the two, one pass over them is enough, and only a few bytes for each group are held.
//!
//! Where nothing but fingerprints is known, two groups within k bits cover each other. A check can tell that only one
//! of two groups covers the other one: the longer one, which holds the text of the shorter one. Then keep order takes
//! the longest texts first. But lengths within a tenth count as one, so a kept group may be covered by one that is kept after it. Such groups
//! get a second look, the last one first: a group goes too if a kept one covers it, and one covers everything else that it covers.
//!
//! An example with k = 3, ranks in keep order, and the pairs 0-1 (distance 3), 1-2 (2), 0-3 (3), 2-3 (2):
//!
//! | rank | near and kept before it | verdict | nearest kept group |
//! |---|---|---|---|
//! | 0 | - | keep | |
//! | 1 | 0 | drop | 2, at distance 2 |
//! | 2 | - (1 is dropped) | keep | |
//! | 3 | 0 and 2 | drop | 2, at distance 2 |
//!
//! Rank 1 is dropped because of 0, but 2 is nearer, so the verdict names 2. What is nearest is known only when it is known who stays.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use super::coverage::{Coverage, Coverages};
use super::crowd::{Comparing, Crowd};
use super::numbers::{KeepRank, Number, below};
use super::similarity::Similarity;
use crate::error::Result;
use crate::progress::{self, Activity};
use crate::runs::{Record, SortSpace, Sorter, next_if};

/// Two groups of the batch of which one can cover the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Edge {
    pub later: KeepRank,
    pub earlier: KeepRank,
    /// How well the earlier group covers the later one, if it can.
    pub(crate) of_later: Option<Coverage>,
    /// How well the later group covers the earlier one, if it can.
    pub(crate) of_earlier: Option<Coverage>,
}

impl Edge {
    pub(super) fn distance(&self) -> u8 {
        self.of_later.or(self.of_earlier).map_or(0, |coverage| coverage.distance)
    }

    pub(super) fn similarity(&self) -> Option<Similarity> {
        self.of_later.or(self.of_earlier).map(Coverage::similarity)
    }

    /// Two groups, whichever comes first.
    pub(super) fn of([first, second]: [KeepRank; 2], coverages: Coverages) -> Edge {
        let Coverages { of_first: of_later, of_second: of_earlier } =
            if first > second { coverages } else { coverages.turned() };
        Edge { later: first.max(second), earlier: first.min(second), of_later, of_earlier }
    }
}

impl Record for Edge {}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Judgement {
    /// Its leader is kept.
    Kept,
    Dropped {
        /// The nearest kept group of the batch, if one is near, and how well it covers this one.
        near: Option<(KeepRank, Coverage)>,
    },
}

/// A kept group that can cover another one, which is dropped or comes before it. The last kept group comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Covers {
    by: Reverse<KeepRank>,
    of: KeepRank,
    coverage: Coverage,
}

impl Record for Covers {}

/// Judges all `groups`. `held` says of a rank whether the store has a page within k. `edges` are the near
/// pairs, in order and each once; pairs between two groups of the `crowd` may be missing. A kept group that `stays` gets no second look. Of kept
/// groups at one distance the one with the smallest `name` is the nearest.
pub(crate) fn judge<N: Ord>(
    groups: u32,
    (held, stays): (impl Fn(KeepRank) -> bool, impl Fn(KeepRank) -> bool),
    edges: impl Iterator<Item = Result<Edge>>,
    mut crowd: Crowd<impl Comparing>,
    name: impl Fn(KeepRank) -> N,
    space: SortSpace<'_>,
) -> Result<Judgements> {
    let mut judging = Judging { kept: Vec::new(), covering: Vec::new(), covers: space.sorter() };
    let mut edges = edges.peekable();
    let mut earlier = Vec::new();
    for rank in below(groups) {
        earlier.clear();
        while let Some(edge) = next_if(&mut edges, |edge| edge.later == rank)? {
            earlier.push(edge);
        }
        let crowded = crowd.contains(rank);
        if crowded {
            progress::tick(Activity::Working);
        }
        let held = held(rank) || (crowded && crowd.is_near(rank)?);
        if judging.take(rank, held, &earlier)? && crowded {
            crowd.keep(rank)?;
        }
    }
    let mut judgements = judging.look_again(|rank| stays(rank) || crowd.contains(rank), &name)?;
    for at in 0..crowd.ranks.len() {
        let rank = crowd.ranks[at];
        if judgements.kept[rank.index()] {
            continue;
        }
        progress::tick(Activity::Working);
        let nearest = crowd.nearest(rank)?.into_iter();
        nearest.for_each(|(kept, coverage)| judgements.offer(rank, (kept, coverage), &name));
    }
    Ok(judgements)
}

#[derive(Debug)]
pub(crate) struct Judgements {
    kept: Vec<bool>,
    /// The nearest kept group of each that is not kept, and how well it covers it, or [`Coverage::ALONE`].
    near: Vec<KeepRank>,
    coverages: Vec<Coverage>,
}

impl Judgements {
    pub(crate) fn get(&self, rank: KeepRank) -> Judgement {
        match self.coverages[rank.index()] {
            _ if self.kept[rank.index()] => Judgement::Kept,
            alone if alone == Coverage::ALONE => Judgement::Dropped { near: None },
            coverage => Judgement::Dropped { near: Some((self.near[rank.index()], coverage)) },
        }
    }

    /// Makes `kept` the nearest of a group, if it is nearer than what was offered before.
    fn offer<N: Ord>(
        &mut self,
        rank: KeepRank,
        (kept, coverage): (KeepRank, Coverage),
        name: impl Fn(KeepRank) -> N,
    ) {
        let (near, least) = (&mut self.near[rank.index()], &mut self.coverages[rank.index()]);
        if (coverage, name(kept)) < (*least, name(*near)) {
            (*near, *least) = (kept, coverage);
        }
    }
}

struct Judging {
    kept: Vec<bool>,
    /// How many kept groups can cover each; more than there are, if another page is known to do that.
    covering: Vec<u32>,
    covers: Sorter<Covers>,
}

impl Judging {
    /// Takes the next group, with its edges to `earlier` ones, drops it if it is `held`, and says whether it is kept.
    fn take(&mut self, rank: KeepRank, held: bool, earlier: &[Edge]) -> Result<bool> {
        let is_held = |edge: &Edge| edge.of_later.is_some() && self.kept[edge.earlier.index()];
        let kept = !held && !earlier.iter().any(is_held);
        self.kept.push(kept);
        self.covering.push(if held { u32::MAX } else { 0 });
        for edge in earlier {
            let (of, by, coverage) = match kept {
                true => (edge.earlier, rank, edge.of_earlier),
                false => (rank, edge.earlier, edge.of_later),
            };
            if let Some(coverage) = coverage
                && self.kept[by.index()]
            {
                let covering = &mut self.covering[of.index()];
                *covering = covering.saturating_add(1);
                self.covers.push(Covers { by: Reverse(by), of, coverage })?;
            }
        }
        Ok(kept)
    }

    /// Drops the kept groups that are not needed, but for those that stay in any case, and offers those that are left to all that they cover. What
    /// a crowded group covers is not known, so it stays.
    fn look_again<N: Ord>(
        self,
        stays: impl Fn(KeepRank) -> bool,
        name: impl Fn(KeepRank) -> N,
    ) -> Result<Judgements> {
        let Judging { kept, mut covering, covers } = self;
        let (near, coverages) = kept.iter().map(|_| (KeepRank::from(0), Coverage::ALONE)).unzip();
        let mut judgements = Judgements { kept, near, coverages };
        let mut covers = covers.sorted()?.peekable();
        let mut covered = Vec::new();
        // Whatever could cover a kept group comes after it, so that it is known by now whether it stays.
        for by in (0..covering.len() as u32).rev().map(KeepRank::from) {
            covered.clear();
            while let Some(cover) = next_if(&mut covers, |cover| cover.by == Reverse(by))? {
                covered.push((cover.of, cover.coverage));
            }
            let is_spared = |of: KeepRank| judgements.kept[of.index()] || covering[of.index()] > 1;
            let goes = judgements.kept[by.index()]
                && covering[by.index()] > 0
                && !stays(by)
                && covered.iter().all(|&(of, _)| is_spared(of));
            if goes {
                judgements.kept[by.index()] = false;
                covered.iter().for_each(|(of, _)| covering[of.index()] -= 1);
            } else {
                covered
                    .iter()
                    .for_each(|&(of, coverage)| judgements.offer(of, (by, coverage), &name));
            }
        }
        Ok(judgements)
    }
}

#[cfg(test)]
mod tests {
    use super::super::crowd::Block;
    use super::*;
    use proptest::prelude::*;
    use std::path::Path;
    use std::time::Instant;

    /// The rule as it is defined: each group against every one kept before, and each kept one again, the last one first.
    fn naive(
        held: &[bool],
        distance: impl Fn(KeepRank, KeepRank) -> Option<Coverage>,
    ) -> Vec<Judgement> {
        let groups = held.len() as u32;
        let mut kept: Vec<KeepRank> = Vec::new();
        for group in below::<KeepRank>(groups) {
            if !held[group.index()] && kept.iter().all(|&other| distance(group, other).is_none()) {
                kept.push(group);
            }
        }
        for group in below::<KeepRank>(groups).collect::<Vec<_>>().into_iter().rev() {
            let others: Vec<KeepRank> = kept.iter().copied().filter(|&it| it != group).collect();
            let is_covered = |of| others.iter().any(|&other| distance(of, other).is_some());
            let mut dropped = below::<KeepRank>(groups)
                .filter(|it| *it != group && !held[it.index()] && !kept.contains(it));
            let is_needed = dropped.any(|it| distance(it, group).is_some() && !is_covered(it));
            if kept.contains(&group) && is_covered(group) && !is_needed {
                kept = others;
            }
        }
        let nearest = |group| {
            let near =
                kept.iter().filter_map(|&other| Some((distance(group, other)?, name(other))));
            near.min().map(|(distance, name)| (KeepRank::from(99 - name), distance))
        };
        let judged = |group| match kept.contains(&group) {
            true => Judgement::Kept,
            false => Judgement::Dropped { near: nearest(group) },
        };
        below(groups).map(judged).collect()
    }

    /// Names in the reverse order of the ranks.
    fn name(rank: KeepRank) -> u32 {
        99 - u32::from(rank)
    }

    fn edge(later: u32, earlier: u32, distance: u8) -> Edge {
        let (later, earlier) = (later.into(), earlier.into());
        let coverage = Some(Coverage::near(distance));
        Edge { later, earlier, of_later: coverage, of_earlier: coverage }
    }

    fn space() -> SortSpace<'static> {
        SortSpace { folder: Path::new("."), memory_bytes: 1 << 30 }
    }

    fn nobody() -> Crowd<Fingerprints> {
        Crowd::new(Vec::new(), Fingerprints { groups: Vec::new(), k: 0 })
    }

    /// Groups of 12 bits and a class. Within k bits, those of one class match.
    struct Fingerprints {
        groups: Vec<(u32, bool)>,
        k: u32,
    }

    impl Comparing for Fingerprints {
        type Sketch = u32;

        /// 5 blocks, as 4 differing bits need.
        fn blocks(&self, rank: KeepRank) -> Result<Vec<Block>> {
            let masked = [7, 0o70, 0o300, 0o1400, 0o6000].map(|mask| self.sketch(rank) & mask);
            Ok(masked.into_iter().map(u128::from).enumerate().collect())
        }

        fn sketch(&self, rank: KeepRank) -> u32 {
            self.groups[rank.index()].0
        }

        fn find(&self, sketch: u32, kept: &[u32], mut found: impl FnMut(usize, Coverage)) {
            for (at, kept) in kept.iter().enumerate() {
                found(at, Coverage::near((sketch ^ kept).count_ones() as u8));
            }
        }

        fn distance(&mut self, one: KeepRank, other: KeepRank) -> Result<Option<Coverage>> {
            Ok(self.within(one, other))
        }
    }

    impl Fingerprints {
        fn within(&self, one: KeepRank, other: KeepRank) -> Option<Coverage> {
            let [one, other] = [one, other].map(|rank| self.groups[rank.index()]);
            let distance = (one.0 ^ other.0).count_ones();
            (distance <= self.k && one.1 == other.1).then_some(Coverage::near(distance as u8))
        }
    }

    fn judged(
        held: &[bool],
        edges: impl Iterator<Item = Edge>,
        crowd: Crowd<Fingerprints>,
    ) -> Vec<Judgement> {
        let count = held.len() as u32;
        let fixed = (|group: KeepRank| held[group.index()], |_| false);
        let judged = judge(count, fixed, edges.map(Ok), crowd, name, space()).unwrap();
        below(count).map(|rank| judged.get(rank)).collect()
    }

    proptest! {
        /// Pairs between crowded groups are left out of the edges, as the sieve does.
        #[test]
        fn judging_a_crowd_is_the_rule(
            groups in prop::collection::vec((0_u32..4096, any::<[bool; 3]>()), 0..60),
            k in 0_u32..5,
        ) {
            let fingerprints =
                Fingerprints { groups: groups.iter().map(|&(bits, [class, ..])| (bits, class)).collect(), k };
            let count = groups.len() as u32;
            let crowded = |rank: u32| groups[rank as usize].1[2];
            let pairs = (0..count).flat_map(|later| (0..later).map(move |earlier| (later, earlier)));
            let edges = pairs.filter(|&(later, earlier)| !(crowded(later) && crowded(earlier)));
            let edges = edges.filter_map(|(later, earlier)| {
                let distance = fingerprints.within(later.into(), earlier.into())?;
                Some(edge(later, earlier, distance.distance))
            });
            let edges: Vec<Edge> = edges.collect();
            let definition = |one, other| fingerprints.within(one, other);
            let held: Vec<bool> = groups.iter().map(|group| group.1[1]).collect();
            let expected = naive(&held, definition);
            let ranks = (0..count).filter(|&rank| crowded(rank)).map(KeepRank::from).collect();
            let crowd = Crowd::new(ranks, fingerprints);
            prop_assert_eq!(judged(&held, edges.into_iter(), crowd), expected);
        }

        /// A group stands only for groups that are no larger.
        #[test]
        fn judging_by_edges_with_a_direction_is_the_rule(
            groups in prop::collection::vec((0_u32..256, 0_u8..4, any::<bool>()), 0..24),
            k in 0_u32..5,
        ) {
            let held: Vec<bool> = groups.iter().map(|group| group.2).collect();
            let stands = |of: KeepRank, by: KeepRank| {
                let [of, by] = [of, by].map(|rank| groups[rank.index()]);
                let distance = (of.0 ^ by.0).count_ones();
                (distance <= k && by.1 >= of.1).then_some(Coverage::near(distance as u8))
            };
            let count = groups.len() as u32;
            let pairs = (0..count).flat_map(|later| (0..later).map(move |earlier| (later, earlier)));
            let edges = pairs.map(|(later, earlier)| {
                let [later, earlier] = [later, earlier].map(KeepRank::from);
                let of_later = stands(later, earlier);
                Edge { later, earlier, of_later, of_earlier: stands(earlier, later) }
            });
            prop_assert_eq!(judged(&held, edges, nobody()), naive(&held, stands));
        }
    }

    #[test]
    fn a_chain_of_a_million_keeps_every_other_one() {
        let groups = 1_000_000_u32;
        let edges = (1..groups).map(|later| Ok(edge(later, later - 1, 3)));
        let began = Instant::now();
        let judged =
            judge(groups, (|_| false, |_| false), edges, nobody(), |group| group, space()).unwrap();
        let is_kept = |rank: u32| judged.get(rank.into()) == Judgement::Kept;
        assert!((0..groups).all(|rank| is_kept(rank) == rank.is_multiple_of(2)));
        assert!(began.elapsed().as_secs() < 10, "not linear: {:?}", began.elapsed());
    }
}
