//! Reduced pairs sifted into what the keep rule needs, counted before anything is expanded.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::matches::confirm::{Confirmed, confirm};
use crate::matches::frequent::Hottest;
use crate::matches::verdicts::Edge;
use crate::matches::{Batch, Detail, Leaders, Pair, Place, Sieve, Similarity, too_many};
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
    /// The ranks of groups whose pairs with each other are not all among the edges.
    pub(super) crowded: Vec<u32>,
    /// How many rows each distance has when every pair is expanded to documents. A million copies
    /// on both sides are 10^12 of them. Counted for [`Detail::All`] only.
    pub(super) rows: Vec<u128>,
    /// With a check, how many rows there would be without it.
    pub(super) candidates: Option<u128>,
    /// The groups with the most rows, counted where they are the new ones.
    pub(super) hot: Hottest,
}

/// Sifts `pairs`, spilling into `folder` what does not fit `memory_bytes`. Where the batch has
/// marks, only what they confirm. For [`Detail::Best`] nothing is counted, and of crowds only what the
/// [`Sieve`] passes is taken.
///
/// # Errors
/// [`too_many`] as soon as more than `most` rows are confirmed, for [`Detail::All`].
pub(super) fn sift(
    batch: &Batch,
    leaders: &Leaders,
    store: &[Dated],
    pairs: Sorted<Pair>,
    (detail, most): (Detail, u64),
    spill: (&Path, usize),
) -> Result<Sifted> {
    let (folder, memory_bytes) = spill;
    let mut sifted = Sifted {
        edges: Sorter::new(folder, memory_bytes),
        standings: Sorter::new(folder, memory_bytes),
        nearest: vec![FAR; batch.groups() as usize],
        crowded: Vec::new(),
        rows: vec![0; usize::from(FAR)],
        candidates: None,
        hot: Hottest::default(),
    };
    match detail {
        Detail::Best => sifted.take_best(batch, leaders, store, pairs, spill)?,
        Detail::All => sifted.take_all(batch, leaders, store, pairs, most, spill)?,
    }
    Ok(sifted)
}

/// How many rows come of a pair of groups.
fn rows_of(batch: &Batch, pair: &Pair) -> u128 {
    let size = |group: u32| batch.rows_of(group).len() as u128;
    size(pair.new)
        * match pair.existing {
            Place::Batch { group } => size(group),
            Place::Store { rows, .. } => u128::from(rows),
            Place::Crowd => 0,
        }
}

impl Sifted {
    /// Takes what the verdicts need.
    fn take_best(
        &mut self,
        batch: &Batch,
        leaders: &Leaders,
        store: &[Dated],
        pairs: Sorted<Pair>,
        spill: (&Path, usize),
    ) -> Result<()> {
        let mut sieve = Sieve::new(batch.groups() as usize, true);
        let mut take = |confirmed: Confirmed| match sieve.passes(&confirmed.pair) {
            true => self.place(leaders, confirmed),
            false => Ok(()),
        };
        match batch.marks() {
            Some(marks) => drop(confirm(batch, marks, store, pairs, spill, take)?),
            None => {
                for pair in pairs {
                    take(Confirmed { pair: pair?, similarity: None })?;
                }
            }
        }
        let mut marks = sieve.crowded().map(|pair| Confirmed { pair, similarity: None });
        marks.try_for_each(|mark| self.place(leaders, mark))
    }

    /// Takes and counts all pairs.
    fn take_all(
        &mut self,
        batch: &Batch,
        leaders: &Leaders,
        store: &[Dated],
        pairs: Sorted<Pair>,
        most: u64,
        spill: (&Path, usize),
    ) -> Result<()> {
        match batch.marks() {
            None => {
                let unchecked =
                    |pair: Result<Pair>| Ok(Confirmed { pair: pair?, similarity: None });
                self.count(batch, leaders, pairs.map(unchecked))?;
            }
            Some(marks) => {
                let mut confirmed = Sorter::new(spill.0, spill.1);
                let mut rows = 0;
                let take = |confirmation: Confirmed| {
                    rows += rows_of(batch, &confirmation.pair);
                    match rows > u128::from(most) {
                        true => Err(too_many(format_args!("more than {most}"), most)),
                        false => confirmed.push(confirmation),
                    }
                };
                let candidates = confirm(batch, marks, store, pairs, spill, take)?;
                self.candidates = marks.confirm().map(|_| candidates);
                self.count(batch, leaders, confirmed.sorted()?)?;
            }
        }
        let size = |group: u32| batch.rows_of(group).len() as u128;
        self.rows[0] += (0..batch.groups()).map(|group| copies(size(group))).sum::<u128>();
        Ok(())
    }

    /// Takes all pairs of groups, which come in order, and counts their rows.
    fn count(
        &mut self,
        batch: &Batch,
        leaders: &Leaders,
        pairs: impl Iterator<Item = Result<Confirmed>>,
    ) -> Result<()> {
        let (mut group, mut rows) = (0, 0);
        for pair in pairs {
            let confirmed = pair?;
            let pair = confirmed.pair;
            if group != pair.new {
                self.hot.offer(rows, group);
                (group, rows) = (pair.new, 0);
            }
            self.place(leaders, confirmed)?;
            let of_pair = rows_of(batch, &pair);
            self.rows[usize::from(pair.distance)] += of_pair;
            rows += of_pair;
        }
        self.hot.offer(rows, group);
        Ok(())
    }

    /// Puts a pair where it belongs.
    fn place(
        &mut self,
        leaders: &Leaders,
        Confirmed { pair, similarity }: Confirmed,
    ) -> Result<()> {
        let Pair { new, existing, distance } = pair;
        match existing {
            Place::Batch { group } => {
                let ranks = [group, new].map(|group| leaders.rank[group as usize]);
                let (earlier, later) = (ranks[0].min(ranks[1]), ranks[0].max(ranks[1]));
                self.edges.push(Edge { later, earlier, distance })
            }
            Place::Store { segment, row, rows } => {
                let nearest = &mut self.nearest[new as usize];
                *nearest = distance.min(*nearest);
                self.standings.push(Standing { segment, row, rows, new, distance, similarity })
            }
            Place::Crowd => {
                self.crowded.push(leaders.rank[new as usize]);
                Ok(())
            }
        }
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
