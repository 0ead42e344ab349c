//! Reduced pairs sifted into what the keep rule needs, counted before anything is expanded.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::matches::verdicts::Edge;
use crate::matches::{Batch, Leaders, Pair, Place};
use crate::runs::{Record, Sorted, Sorter};

/// No page of the store is near.
pub(super) const FAR: u8 = u8::MAX;

/// A pair with the store, ordered by where its existing side stands, so that ids are looked up in
/// the order in which they lie on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Standing {
    /// The segment's number in its version of the store.
    pub(super) segment: u32,
    /// The first row.
    pub(super) row: u64,
    /// How many rows share the fingerprint.
    pub(super) rows: u64,
    /// The group of the batch.
    pub(super) new: u32,
    /// The Hamming distance.
    pub(super) distance: u8,
}

impl Record for Standing {}

/// The pairs of a job, divided by what the existing side stands in.
#[derive(Debug)]
pub(super) struct Sifted {
    /// Near groups of the batch.
    pub(super) edges: Sorter<Edge>,
    /// Pairs with the store.
    pub(super) standings: Sorter<Standing>,
    /// For each group the distance to the nearest page of the store, or [`FAR`].
    pub(super) nearest: Vec<u8>,
    /// How many rows each distance has when every pair is expanded to documents. A million copies
    /// on both sides are 10^12 of them.
    pub(super) rows: Vec<u128>,
}

/// Sifts `pairs`, spilling into `folder` what does not fit `memory_bytes`.
pub(super) fn sift<F: Fingerprint>(
    batch: &Batch<F>,
    leaders: &Leaders,
    pairs: Sorted<Pair>,
    folder: &Path,
    memory_bytes: usize,
) -> Result<Sifted> {
    let mut sifted = Sifted {
        edges: Sorter::new(folder, memory_bytes),
        standings: Sorter::new(folder, memory_bytes),
        nearest: vec![FAR; batch.groups().len()],
        rows: vec![0; F::BITS as usize + 1],
    };
    let size = |group: u32| batch.rows_of(group).len() as u128;
    for pair in pairs {
        let Pair { new, existing, distance } = pair?;
        let existing_rows = match existing {
            Place::Batch { group } => {
                let ranks = [group, new].map(|group| leaders.rank[group as usize]);
                let (earlier, later) = (ranks[0].min(ranks[1]), ranks[0].max(ranks[1]));
                sifted.edges.push(Edge { later, earlier, distance })?;
                size(group)
            }
            Place::Store { segment, row, rows } => {
                let nearest = &mut sifted.nearest[new as usize];
                *nearest = distance.min(*nearest);
                sifted.standings.push(Standing { segment, row, rows, new, distance })?;
                u128::from(rows)
            }
        };
        sifted.rows[usize::from(distance)] += size(new) * existing_rows;
    }
    let groups = 0..batch.groups().len() as u32;
    sifted.rows[0] += groups.map(|group| copies(size(group))).sum::<u128>();
    Ok(sifted)
}

/// The pairs within a group.
fn copies(size: u128) -> u128 {
    size * (size - 1) / 2
}
