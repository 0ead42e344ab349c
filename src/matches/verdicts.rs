//! The keep rule, over groups of identical fingerprints.
//!
//! Groups are taken in keep order. A group is dropped if a page of the store, or a group already kept,
//! is within k; else it is kept. So every dropped group is near a kept one or a page of the store, and
//! no two kept groups are near each other, however long the chains of near pages are. Taking them one
//! after the other is linear in the edges; it is the definition, and also how it is done.

/// What the rule says of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Judgement {
    /// Its leader is kept.
    Kept,
    /// All of it is dropped; near is the nearest kept group of the batch, if any is near.
    Dropped {
        /// That group and its distance.
        near: Option<(u32, u8)>,
    },
}

/// Judges every group. `order` is the keep order, `held` says of a group whether the store has a page
/// within k, `edges` are the near pairs of groups; of groups at one distance the one with the smallest
/// `name` is the nearest.
pub(super) fn judge<N: Ord>(
    order: &[u32],
    held: impl Fn(u32) -> bool,
    edges: &[(u32, u32, u8)],
    name: impl Fn(u32) -> N,
) -> Vec<Judgement> {
    let near = Neighbours::of(order.len(), edges);
    let mut kept = vec![false; order.len()];
    for &group in order {
        let crowded = near.of_group(group).any(|(other, _)| kept[other as usize]);
        kept[group as usize] = !held(group) && !crowded;
    }
    let nearest = |group| {
        let kept = near.of_group(group).filter(|(other, _)| kept[*other as usize]);
        kept.min_by_key(|&(other, distance)| (distance, name(other)))
    };
    (0..order.len() as u32)
        .map(|group| match kept[group as usize] {
            true => Judgement::Kept,
            false => Judgement::Dropped { near: nearest(group) },
        })
        .collect()
}

/// The edges by group: compressed sparse rows, ten bytes an edge and direction or fewer.
struct Neighbours {
    /// Where the neighbours of each group begin, and the end of them all.
    starts: Vec<usize>,
    groups: Vec<u32>,
    distances: Vec<u8>,
}

impl Neighbours {
    fn of(groups: usize, edges: &[(u32, u32, u8)]) -> Neighbours {
        let mut ends = vec![0; groups + 1];
        for &(a, b, _) in edges {
            ends[a as usize] += 1;
            ends[b as usize] += 1;
        }
        let mut total = 0;
        for end in &mut ends {
            total += *end;
            *end = total;
        }
        let mut near =
            Neighbours { starts: ends, groups: vec![0; total], distances: vec![0; total] };
        for &(a, b, distance) in edges {
            near.place(a, b, distance);
            near.place(b, a, distance);
        }
        near
    }

    /// Fills the places of `group` from the last to the first, so that ends become starts.
    fn place(&mut self, group: u32, other: u32, distance: u8) {
        let start = &mut self.starts[group as usize];
        *start -= 1;
        self.groups[*start] = other;
        self.distances[*start] = distance;
    }

    fn of_group(&self, group: u32) -> impl Iterator<Item = (u32, u8)> {
        let places = self.starts[group as usize]..self.starts[group as usize + 1];
        places.map(|place| (self.groups[place], self.distances[place]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::time::Instant;

    /// The rule as it is told: each group against every one kept before.
    fn naive(
        order: &[u32],
        held: &[bool],
        distance: impl Fn(u32, u32) -> Option<u8>,
    ) -> Vec<Judgement> {
        let mut kept: Vec<u32> = Vec::new();
        for &group in order {
            if !held[group as usize] && kept.iter().all(|&other| distance(group, other).is_none()) {
                kept.push(group);
            }
        }
        let nearest = |group| {
            let near = kept.iter().filter_map(|&other| Some((distance(group, other)?, other)));
            near.min().map(|(distance, other)| (other, distance))
        };
        (0..order.len() as u32)
            .map(|group| match kept.contains(&group) {
                true => Judgement::Kept,
                false => Judgement::Dropped { near: nearest(group) },
            })
            .collect()
    }

    proptest! {
        #[test]
        fn judging_by_edges_is_the_rule(
            groups in prop::collection::vec((0_u32..256, any::<bool>()), 0..24),
            order in Just((0..24_u32).collect::<Vec<_>>()).prop_shuffle(),
            k in 0_u32..5,
        ) {
            let order: Vec<u32> = order.into_iter().filter(|&group| (group as usize) < groups.len()).collect();
            let held: Vec<bool> = groups.iter().map(|group| group.1).collect();
            let distance = |a: u32, b: u32| {
                let distance = (groups[a as usize].0 ^ groups[b as usize].0).count_ones();
                (distance <= k).then_some(distance as u8)
            };
            let pairs = (0..groups.len() as u32).flat_map(|b| (0..b).map(move |a| (a, b)));
            let edges: Vec<_> = pairs.filter_map(|(a, b)| Some((a, b, distance(a, b)?))).collect();
            let judged = judge(&order, |group| held[group as usize], &edges, |group| group);
            prop_assert_eq!(judged, naive(&order, &held, distance));
        }
    }

    #[test]
    fn a_chain_of_a_million_keeps_every_other_one() {
        let groups = 1_000_000_u32;
        let order: Vec<u32> = (0..groups).collect();
        let edges: Vec<_> = (1..groups).map(|group| (group - 1, group, 3)).collect();
        let began = Instant::now();
        let judged = judge(&order, |_| false, &edges, |group| group);
        assert!(
            judged
                .iter()
                .zip(0_u32..)
                .all(|(judged, group)| { (*judged == Judgement::Kept) == group.is_multiple_of(2) })
        );
        assert!(began.elapsed().as_secs() < 10, "not linear: {:?}", began.elapsed());
    }
}
