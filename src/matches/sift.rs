//! Reduced pairs sifted into what the keep rule needs, counted before anything is expanded.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::matches::{Batch, Pair, Place};
use crate::runs::{Record, Sorted, Sorter};

/// No page of the store is near.
pub(super) const FAR: u8 = u8::MAX;

/// A pair with the store, ordered by where its existing side stands, so that ids are looked up in
/// the order in which they lie on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Standing {
    /// The segment's number in its version of the store.
    pub segment: u32,
    /// The first row.
    pub row: u64,
    /// How many rows share the fingerprint.
    pub rows: u64,
    /// The group of the batch.
    pub new: u32,
    /// The Hamming distance.
    pub distance: u8,
}

impl Record for Standing {}

/// The pairs of a job, divided by what the existing side stands in.
#[derive(Debug)]
pub(super) struct Sifted {
    /// Near groups of the batch: smaller, larger, distance.
    pub edges: Vec<(u32, u32, u8)>,
    /// Pairs with the store.
    pub standings: Sorter<Standing>,
    /// For each group the distance to the nearest page of the store, or [`FAR`].
    pub nearest: Vec<u8>,
    /// How many rows each distance has when every pair is expanded to documents. A million copies
    /// on both sides are 10^12 of them.
    pub rows: Vec<u128>,
}

/// Sifts `pairs`, spilling into `folder` what does not fit `memory_bytes`.
pub(super) fn sift<F: Fingerprint>(
    batch: &Batch<F>,
    pairs: Sorted<Pair>,
    folder: &Path,
    memory_bytes: usize,
) -> Result<Sifted> {
    let mut sifted = Sifted {
        edges: Vec::new(),
        standings: Sorter::new(folder, memory_bytes),
        nearest: vec![FAR; batch.groups().len()],
        rows: vec![0; F::BITS as usize + 1],
    };
    let size = |group: u32| batch.rows_of(group).len() as u128;
    for pair in pairs {
        let Pair { new, existing, distance } = pair?;
        let existing_rows = match existing {
            Place::Batch { group } => {
                sifted.edges.push((group, new, distance));
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
    sifted.rows[0] +=
        (0..batch.groups().len() as u32).map(|group| copies(size(group))).sum::<u128>();
    Ok(sifted)
}

/// The pairs within a group.
fn copies(size: u128) -> u128 {
    size * (size - 1) / 2
}
