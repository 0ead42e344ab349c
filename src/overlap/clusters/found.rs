//! What a clustering has made, as its report says it: how large the clusters are, and how wide the largest are. All but the files is a function
//! of the clusters alone, so it is the same however they were made.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::groups::Groups;
use super::state::ClusterState;
use crate::error::Result;
use crate::output::Sum;

const LARGEST: usize = 10;

/// What a clustering has made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clusters {
    /// Rows of the clusters.
    pub members: u64,
    /// Rows of the sizes.
    pub clusters: u64,
    /// Members that were kept: each is the middle of a star. Components may join several.
    pub stars: u64,
    /// The matches that connect the members.
    pub links: u64,
    /// Rows of the changes, if there was a clustering before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<u64>,
    /// How many clusters have which size, by powers of two.
    pub sizes: Vec<SizeRange>,
    /// The largest clusters.
    pub largest: Vec<LargeCluster>,
    /// The files written.
    pub files: BTreeMap<String, Sum>,
}

impl Clusters {
    /// The name of the file that has a table, such as `changes`.
    pub fn file_of(&self, table: &str) -> Option<&str> {
        let is_of = |name: &&String| name.split_once('.').is_some_and(|(stem, _)| stem == table);
        self.files.keys().find(is_of).map(String::as_str)
    }

    pub(super) fn of(
        state: &ClusterState,
        groups: &Groups,
        changes: Option<u64>,
        files: BTreeMap<String, Sum>,
    ) -> Result<Clusters> {
        let members = u64::from(state.members);
        let sizes = size_ranges(&groups.sizes);
        Ok(Clusters {
            members,
            clusters: sizes.iter().map(|range| range.clusters).sum(),
            stars: members - groups.verdicts,
            links: groups.links,
            changes,
            sizes,
            largest: describe(state, groups)?,
            files,
        })
    }
}

/// How many clusters have a size in this range.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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
#[serde(deny_unknown_fields)]
pub struct LargeCluster {
    /// Its id.
    pub cluster: String,
    /// How many members it has.
    pub members: u64,
    /// How many of them were kept: members without a verdict that drops them. A star has one, unless several
    /// versions of its id were kept.
    pub kept: u64,
    /// The greatest distance among its matches, in bits.
    pub farthest: u32,
    /// No two members are more matches apart than this. None if matches alone do not connect all members,
    /// because versions of one id do.
    pub steps_at_most: Option<u64>,
    /// No two members differ in more bits than this: so many times the greatest distance.
    pub diameter_at_most: Option<u64>,
}

fn size_ranges(sizes: &[u32]) -> Vec<SizeRange> {
    let mut by_bits: BTreeMap<u32, u64> = BTreeMap::new();
    for &size in sizes.iter().filter(|&&size| size > 0) {
        *by_bits.entry(u32::BITS - size.leading_zeros()).or_default() += 1;
    }
    let range = |(bits, clusters)| {
        let from = 1_u64 << (bits - 1);
        SizeRange { from, to: from + (from - 1), clusters }
    };
    by_bits.into_iter().map(range).collect()
}

#[derive(Default)]
struct Spread {
    name: u32,
    id: String,
    members: u64,
    dropped: u64,
    centres: u64,
    /// The trees that its links alone make.
    trees: u64,
    farthest: u32,
}

fn describe(state: &ClusterState, groups: &Groups) -> Result<Vec<LargeCluster>> {
    let mut largest = largest(&groups.sizes);
    let place = |largest: &[Spread], row: u32| {
        let name = groups.names[row as usize];
        largest.iter().position(|it| it.name == name)
    };
    for (row, member) in (0..).zip(state.pages()?) {
        let id = member?.page.id;
        if let Some(at) = place(&largest, row) {
            let spread = &mut largest[at];
            spread.dropped += u64::from(groups.dropped.contains(row));
            spread.centres += u64::from(groups.centres.contains(row));
            spread.trees += u64::from(groups.roots.contains(row));
            if spread.name == row {
                spread.id = id;
            }
        }
    }
    for link in state.links()? {
        let link = link?;
        if let Some(at) = place(&largest, link.new) {
            largest[at].farthest = largest[at].farthest.max(link.apart);
        }
    }
    Ok(largest.into_iter().map(Spread::described).collect())
}

/// The largest clusters; those of one size by their ids, which ascend with the rows.
fn largest(sizes: &[u32]) -> Vec<Spread> {
    let mut largest: Vec<(Reverse<u32>, u32)> = Vec::new();
    for (name, &size) in (0..).zip(sizes).filter(|(_, size)| **size > 0) {
        let place = largest.partition_point(|(Reverse(it), _)| *it >= size);
        if place < LARGEST {
            largest.insert(place, (Reverse(size), name));
            largest.truncate(LARGEST);
        }
    }
    let spread = |(Reverse(size), name): (Reverse<u32>, u32)| Spread {
        name,
        members: size.into(),
        ..Spread::default()
    };
    largest.into_iter().map(spread).collect()
}

impl Spread {
    fn described(self) -> LargeCluster {
        let Spread { id: cluster, members, dropped, centres, trees, farthest, .. } = self;
        let kept = members - dropped;
        let steps_at_most = (trees == 1).then(|| steps_at_most(members, kept, centres));
        let in_bits = |steps: u64| steps.saturating_mul(u64::from(farthest));
        LargeCluster {
            cluster,
            members,
            kept,
            farthest,
            steps_at_most,
            diameter_at_most: steps_at_most.map(in_bits),
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
