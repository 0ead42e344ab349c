//! Reduced pairs sifted into what the keep rule needs, counted before anything is expanded.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::matches::confirm::{Confirmed, confirm};
use crate::matches::hot::Hottest;
use crate::matches::verdicts::Edge;
use crate::matches::{Batch, Leaders, Pair, Place, Similarity, too_many};
use crate::runs::{Record, Sorted, Sorter};
use crate::store::Dated;

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
    /// How alike the documents are, where that was checked.
    pub(super) similarity: Option<Similarity>,
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
    /// With a check, how many rows there would be without it.
    pub(super) candidates: Option<u128>,
    /// The groups with the most rows, counted where they are the new ones.
    pub(super) hot: Hottest,
}

/// Sifts `pairs`, spilling into `folder` what does not fit `memory_bytes`. Where the batch has
/// marks, only what they confirm.
///
/// # Errors
/// [`too_many`] as soon as more than `most` rows are confirmed.
pub(super) fn sift(
    batch: &Batch,
    leaders: &Leaders,
    store: &[Dated],
    pairs: Sorted<Pair>,
    most: u64,
    (folder, memory_bytes): (&Path, usize),
) -> Result<Sifted> {
    let mut sifted = Sifted {
        edges: Sorter::new(folder, memory_bytes),
        standings: Sorter::new(folder, memory_bytes),
        nearest: vec![FAR; batch.groups() as usize],
        rows: vec![0; usize::from(FAR)],
        candidates: None,
        hot: Hottest::default(),
    };
    match batch.marks() {
        None => {
            let unchecked = |pair: Result<Pair>| Ok(Confirmed { pair: pair?, similarity: None });
            sifted.take(batch, leaders, pairs.map(unchecked))?;
        }
        Some(marks) => {
            let mut confirmed = Sorter::new(folder, memory_bytes);
            let mut rows = 0;
            let take = |confirmation: Confirmed| {
                rows += rows_of(batch, &confirmation.pair);
                match rows > u128::from(most) {
                    true => Err(too_many(format_args!("more than {most}"), most)),
                    false => confirmed.push(confirmation),
                }
            };
            let candidates = confirm(batch, marks, store, pairs, (folder, memory_bytes), take)?;
            sifted.candidates = marks.confirm().map(|_| candidates);
            sifted.take(batch, leaders, confirmed.sorted()?)?;
        }
    }
    let size = |group: u32| batch.rows_of(group).len() as u128;
    sifted.rows[0] += (0..batch.groups()).map(|group| copies(size(group))).sum::<u128>();
    Ok(sifted)
}

/// How many rows come of a pair of groups.
fn rows_of(batch: &Batch, pair: &Pair) -> u128 {
    let size = |group: u32| batch.rows_of(group).len() as u128;
    size(pair.new)
        * match pair.existing {
            Place::Batch { group } => size(group),
            Place::Store { rows, .. } => u128::from(rows),
        }
}

impl Sifted {
    /// Takes all pairs of groups, which come in order.
    fn take(
        &mut self,
        batch: &Batch,
        leaders: &Leaders,
        pairs: impl Iterator<Item = Result<Confirmed>>,
    ) -> Result<()> {
        let (mut group, mut rows) = (0, 0);
        for pair in pairs {
            let pair = pair?;
            if group != pair.pair.new {
                self.hot.offer(rows, group);
                (group, rows) = (pair.pair.new, 0);
            }
            rows += self.take_one(batch, leaders, pair)?;
        }
        self.hot.offer(rows, group);
        Ok(())
    }

    /// Takes one, and gives the number of rows that come of it.
    fn take_one(
        &mut self,
        batch: &Batch,
        leaders: &Leaders,
        Confirmed { pair, similarity }: Confirmed,
    ) -> Result<u128> {
        let Pair { new, existing, distance } = pair;
        match existing {
            Place::Batch { group } => {
                let ranks = [group, new].map(|group| leaders.rank[group as usize]);
                let (earlier, later) = (ranks[0].min(ranks[1]), ranks[0].max(ranks[1]));
                self.edges.push(Edge { later, earlier, distance })?;
            }
            Place::Store { segment, row, rows } => {
                let nearest = &mut self.nearest[new as usize];
                *nearest = distance.min(*nearest);
                let standing = Standing { segment, row, rows, new, distance, similarity };
                self.standings.push(standing)?;
            }
        }
        let rows = rows_of(batch, &pair);
        self.rows[usize::from(distance)] += rows;
        Ok(rows)
    }
}

/// A group near a place of the store: its number, the distance, the similarity.
pub(super) type Near = (u32, u8, Option<Similarity>);

/// Calls `each` with every place of the store once, and with what is near it.
pub(super) fn standings_at(
    standings: Sorted<Standing>,
    mut each: impl FnMut(&Standing, &[Near]) -> Result<()>,
) -> Result<()> {
    let mut standings = standings.peekable();
    let mut near = Vec::new();
    while let Some(first) = standings.next().transpose()? {
        near.clear();
        near.push((first.new, first.distance, first.similarity));
        while let Some(Ok(next)) = standings.next_if(|next| is_at(next, &first)) {
            near.push((next.new, next.distance, next.similarity));
        }
        each(&first, &near)?;
    }
    Ok(())
}

fn is_at(next: &Result<Standing>, first: &Standing) -> bool {
    next.as_ref().is_ok_and(|next| (next.segment, next.row) == (first.segment, first.row))
}

/// The pairs within a group.
pub(super) fn copies(size: u128) -> u128 {
    size * size.saturating_sub(1) / 2
}
