//! What a report says of clusters: how large they are, and how wide the largest are. It is a function of the
//! files alone, so it is the same however they were made.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::forest::Forest;
use super::link::Link;
use super::link_file::LinkFile;
use super::measure::Measure;
use super::row::{RowReader, SizeReader};
use super::row_set::{RankedRows, RowSet};
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

/// A line of sizes.tsv.
struct Size {
    cluster: String,
    members: u64,
}

/// What the files of a clustering show.
#[derive(Debug)]
pub(super) struct Description {
    pub(super) sizes: Vec<SizeRange>,
    pub(super) largest: Vec<LargeCluster>,
}

/// Describes the clusters whose files stand in `folder`.
pub(super) fn describe(folder: &Path) -> Result<Description> {
    let (sizes, largest) = read_sizes(folder)?;
    let links = LinkFile::open(folder)?;
    let spread = Spread::of(folder, &largest, &links)?;
    let describe = |(at, size)| spread.describe(at, size);
    let largest = largest.into_iter().enumerate().map(describe).collect();
    Ok(Description { sizes, largest })
}

/// The sizes by powers of two, and the largest clusters with their sizes.
fn read_sizes(folder: &Path) -> Result<(Vec<SizeRange>, Vec<Size>)> {
    let mut by_bits = [0; u64::BITS as usize + 1];
    let mut largest = Vec::new();
    let mut sizes = SizeReader::open(folder)?;
    while let Some((size, cluster)) = sizes.next()? {
        by_bits[(u64::BITS - size.leading_zeros()) as usize] += 1;
        if largest.len() < LARGEST {
            largest.push(Size { cluster: cluster.to_owned(), members: size });
        }
    }
    let range = |(bits, clusters): (u32, u64)| {
        let from = 1_u64 << (bits - 1);
        SizeRange { from, to: from + (from - 1), clusters }
    };
    let filled = (1..).zip(by_bits.into_iter().skip(1)).filter(|&(_, clusters)| clusters > 0);
    Ok((filled.map(range).collect(), largest))
}

/// The members of the largest clusters, and what their matches say.
struct Spread {
    measure: Measure,
    rows: RankedRows,
    /// For each of the rows, which of the clusters it is in.
    clusters: Vec<u8>,
    /// The rows as the matches connect them.
    forest: Forest,
    /// The rows in favour of which others were dropped.
    centres: RowSet,
    /// For each cluster, how many verdicts and the greatest distance.
    verdicts: Vec<u64>,
    farthest: Vec<u32>,
}

impl Spread {
    fn of(folder: &Path, largest: &[Size], links: &LinkFile) -> Result<Spread> {
        let mut rows = RowSet::default();
        let mut clusters = Vec::new();
        let mut reader = RowReader::open(folder)?;
        let mut number = 0;
        while let Some(row) = reader.next()? {
            if let Some(at) = largest.iter().position(|size| size.cluster == row.cluster) {
                rows.insert(number);
                clusters.push(at as u8);
            }
            number += 1;
        }
        let mut spread = Spread {
            measure: links.measure(),
            rows: rows.ranked(),
            forest: Forest::of(clusters.len() as u32),
            clusters,
            centres: RowSet::default(),
            verdicts: vec![0; largest.len()],
            farthest: vec![0; largest.len()],
        };
        links.links().try_for_each(|link| link.map(|link| spread.take(&link)))?;
        Ok(spread)
    }

    fn take(&mut self, link: &Link) {
        let ends = (self.rows.rank(link.new), self.rows.rank(link.existing));
        let (Some(new), Some(existing)) = ends else { return };
        let at = usize::from(self.clusters[new]);
        self.farthest[at] = self.farthest[at].max(link.apart);
        self.forest.join(new as u32, existing as u32);
        if link.is_verdict {
            self.verdicts[at] += 1;
            self.centres.insert(existing as u32);
        }
    }

    fn describe(&self, at: usize, Size { cluster, members }: Size) -> LargeCluster {
        let of_cluster = || (0_u32..).zip(&self.clusters).filter(|(_, of)| usize::from(**of) == at);
        let pieces = of_cluster().filter(|&(row, _)| self.forest.root(row) == row).count();
        let centres = of_cluster().filter(|&(row, _)| self.centres.contains(row)).count() as u64;
        let kept = members - self.verdicts[at].min(members);
        let steps_at_most = (pieces == 1).then(|| steps_at_most(members, kept, centres));
        let farthest = self.farthest[at];
        let in_bits = |steps: u64| steps * u64::from(farthest);
        let is_distance = self.measure == Measure::Distance;
        LargeCluster {
            cluster,
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
