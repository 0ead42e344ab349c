//! What a report says of clusters: how large they are, and how wide the largest are. It is a function of the
//! clusters alone, so it is the same however they were made.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::forest::Forest;
use super::link::Link;
use super::measure::Measure;
use super::row_set::RowSet;
use super::state::{Member, Pile};
use super::update::Resized;
use crate::error::Result;

/// How many of the largest clusters are described.
const LARGEST: usize = 10;

/// How many clusters have a size in this range.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SizeRange {
    /// The smallest size.
    pub from: u64,
    /// The largest size.
    pub to: u64,
    /// How many clusters have such a size.
    pub clusters: u64,
}

/// A large cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LargeCluster {
    /// Its id.
    pub cluster: String,
    /// How many members it has.
    pub members: u64,
    /// How many of them were kept: members without a verdict that drops them. A star has one, unless several
    /// versions of its id were kept.
    pub kept: u64,
    /// The greatest distance, or the least similarity, among its matches.
    pub farthest: Value,
    /// No two members are more matches apart than this. None if matches alone do not connect all members,
    /// because versions of one id do.
    pub steps_at_most: Option<u64>,
    /// No two members differ in more bits than this: so many times the greatest distance. None where matches
    /// have similarities, for they do not add up.
    pub diameter_at_most: Option<u64>,
}

/// How large clusters are.
#[derive(Default)]
pub(super) struct Sizes {
    /// How many clusters have a size of so many bits.
    by_bits: BTreeMap<u32, u64>,
    /// The largest clusters, in the order of sizes.tsv.
    largest: Vec<(Reverse<u64>, String)>,
}

impl Sizes {
    /// The sizes in a state.
    pub(super) fn of(pile: &Pile) -> Result<Sizes> {
        let mut sizes = Sizes::default();
        pile.each_size(|cluster, size| {
            *sizes.by_bits.entry(bits(size)).or_default() += 1;
            let is_large = sizes.largest.len() < LARGEST
                || sizes.largest.last().is_some_and(|(Reverse(least), _)| size > *least);
            if is_large {
                let place = sizes.largest.partition_point(|(Reverse(it), _)| *it >= size);
                sizes.largest.insert(place, (Reverse(size), cluster.to_owned()));
                sizes.largest.truncate(LARGEST);
            }
            Ok(())
        })?;
        Ok(sizes)
    }

    /// The sizes of so many clusters with these sizes, of which these are the largest, after some were resized; none
    /// if only a look at all clusters can tell, because large ones have become smaller.
    pub(super) fn updated(
        clusters: u64,
        sizes: &[SizeRange],
        largest: &[LargeCluster],
        resized: &[Resized],
    ) -> Option<Sizes> {
        let mut by_bits: BTreeMap<u32, u64> =
            sizes.iter().map(|range| (bits(range.from), range.clusters)).collect();
        for it in resized {
            if it.before > 0 {
                let count = by_bits.get_mut(&bits(it.before))?;
                *count = count.checked_sub(1)?;
            }
            if it.now > 0 {
                *by_bits.entry(bits(it.now)).or_default() += 1;
            }
        }
        by_bits.retain(|_, count| *count > 0);
        let was: HashSet<&str> = resized.iter().map(|it| it.cluster.as_str()).collect();
        let known: Vec<(Reverse<u64>, &str)> =
            largest.iter().map(|it| (Reverse(it.members), it.cluster.as_str())).collect();
        // No other cluster comes before the last of those that are known, if there are others.
        let bound = known.last().copied().filter(|_| clusters > known.len() as u64);
        let unchanged = known.into_iter().filter(|(_, cluster)| !was.contains(cluster));
        let changed = resized.iter().map(|it| (Reverse(it.now), it.cluster.as_str()));
        let mut largest: Vec<(Reverse<u64>, &str)> =
            unchanged.chain(changed.filter(|&(Reverse(size), _)| size > 0)).collect();
        largest.sort_unstable();
        if let Some(bound) = bound {
            largest.truncate(largest.partition_point(|it| *it <= bound));
            if largest.len() < LARGEST {
                return None;
            }
        }
        largest.truncate(LARGEST);
        let owned = |(size, cluster): (Reverse<u64>, &str)| (size, cluster.to_owned());
        Some(Sizes { by_bits, largest: largest.into_iter().map(owned).collect() })
    }

    /// How many clusters have which size.
    pub(super) fn ranges(&self) -> Vec<SizeRange> {
        let range = |(&bits, &clusters): (&u32, &u64)| {
            let from = 1_u64 << (bits.max(1) - 1);
            SizeRange { from, to: from + (from - 1), clusters }
        };
        self.by_bits.iter().map(range).collect()
    }

    /// How many clusters there are.
    pub(super) fn clusters(&self) -> u64 {
        self.by_bits.values().sum()
    }
}

/// In how many bits a size is written.
fn bits(size: u64) -> u32 {
    u64::BITS - size.leading_zeros()
}

/// Describes the largest clusters of a state.
pub(super) fn describe(pile: &Pile, sizes: &Sizes, measure: Measure) -> Result<Vec<LargeCluster>> {
    let mut ids: Vec<&str> = sizes.largest.iter().map(|(_, cluster)| cluster.as_str()).collect();
    ids.sort_unstable();
    let spread = Spread::of(pile, &ids, measure)?;
    let place = |cluster: &str| ids.binary_search(&cluster).unwrap_or_default();
    let describe = |(Reverse(members), cluster): &(Reverse<u64>, String)| {
        spread.describe(place(cluster), cluster, *members)
    };
    Ok(sizes.largest.iter().map(describe).collect())
}

/// The members of the largest clusters, and what their matches say.
struct Spread {
    measure: Measure,
    members: Vec<Member>,
    /// The members as the matches connect them.
    forest: Forest,
    /// The members in favour of which others were dropped.
    centres: RowSet,
    /// For each cluster, how many verdicts and the greatest distance.
    verdicts: Vec<u64>,
    farthest: Vec<u32>,
}

impl Spread {
    fn of(pile: &Pile, clusters: &[&str], measure: Measure) -> Result<Spread> {
        let members = pile.members(clusters, |_| {})?;
        let mut spread = Spread {
            measure,
            forest: Forest::of(members.len() as u32),
            members: Vec::new(),
            centres: RowSet::default(),
            verdicts: vec![0; clusters.len()],
            farthest: vec![0; clusters.len()],
        };
        pile.each_link_between(&members, |link| {
            spread.take(&link, members[link.new as usize].cluster as usize);
        })?;
        spread.members = members;
        Ok(spread)
    }

    /// Takes a link of the cluster `at`.
    fn take(&mut self, link: &Link, at: usize) {
        self.farthest[at] = self.farthest[at].max(link.apart);
        self.forest.join(link.new, link.existing);
        if link.is_verdict {
            self.verdicts[at] += 1;
            self.centres.insert(link.existing);
        }
    }

    fn describe(&self, at: usize, cluster: &str, members: u64) -> LargeCluster {
        let of_cluster = || {
            let all = (0_u32..).zip(&self.members);
            all.filter(|(_, it)| it.cluster as usize == at).map(|(member, _)| member)
        };
        let pieces = of_cluster().filter(|&it| self.forest.root(it) == it).count();
        let centres = of_cluster().filter(|&it| self.centres.contains(it)).count() as u64;
        let kept = members - self.verdicts[at].min(members);
        let steps_at_most = (pieces == 1).then(|| steps_at_most(members, kept, centres));
        let farthest = self.farthest[at];
        let in_bits = |steps: u64| steps.saturating_mul(u64::from(farthest));
        let is_distance = self.measure == Measure::Distance;
        LargeCluster {
            cluster: cluster.to_owned(),
            members,
            kept,
            farthest: self.measure.value(farthest),
            steps_at_most,
            diameter_at_most: steps_at_most.filter(|_| is_distance).map(in_bits),
        }
    }
}

/// A bound on the matches between any two members that matches connect. A path that does not turn back enters
/// each star once. Within a star it passes its centres, and it may begin and end at other members: that is at
/// most one step more than there are centres. From star to star it takes one step.
fn steps_at_most(members: u64, stars: u64, centres: u64) -> u64 {
    let within = centres + stars;
    let between = stars.saturating_sub(1);
    (within + between).min(members.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_of_steps() {
        assert_eq!(steps_at_most(1_000_000, 1, 1), 2, "any two members meet at the centre");
        assert_eq!(steps_at_most(2, 1, 1), 1);
        assert_eq!(steps_at_most(100, 2, 2), 5, "member, centre, member, member, centre, member");
        assert_eq!(steps_at_most(100, 1, 3), 4, "stars in a row, each dropped for the next");
    }
}
