//! Pairs with the store, in the order in which its rows lie on disk.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::coverage::Coverages;
use super::numbers::Group;
use crate::error::Result;
use crate::runs::{Record, next_if};
use crate::store::{Column, Dated, Expected};

/// A pair with the store, ordered by its place there, so that what is read lies in the order of the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct StorePair {
    pub(super) segment: u32,
    /// The first row that is shown.
    pub(super) row: u64,
    /// How many shown rows share the fingerprint.
    pub(super) rows: u64,
    pub(super) new: Group,
    pub(super) distance: u8,
    /// How well the page of the store covers that of the batch, and the other way round, once that is known.
    pub(super) coverages: Coverages,
}

impl Record for StorePair {}

/// How many pairs are announced before they are looked up.
const AHEAD: usize = 128;

/// Pairs of which the next ones are announced to the segments of the store.
struct Announced<'a, P> {
    pairs: P,
    store: &'a [Dated],
    columns: &'a [Column],
    next: VecDeque<Result<StorePair>>,
    /// The segment of the last one that was announced, and what was announced to that segment.
    expected: (u32, Expected),
}

impl<P: Iterator<Item = Result<StorePair>>> Iterator for Announced<'_, P> {
    type Item = Result<StorePair>;

    fn next(&mut self) -> Option<Result<StorePair>> {
        while self.next.len() < AHEAD
            && let Some(pair) = self.pairs.next()
        {
            if let Ok(StorePair { segment, row, rows, .. }) = pair {
                if self.expected.0 != segment {
                    self.expected = (segment, Expected::default());
                }
                for row in [row, row + rows.saturating_sub(1)] {
                    let of = self.store[segment as usize].segment();
                    self.expected.1.announce(of, self.columns, row);
                }
            }
            self.next.push_back(pair);
        }
        self.next.pop_front()
    }
}

/// Calls `each` once for every place of the store, with everything that is near it. The pairs are in order, each once. `each` looks up these `columns` of the segments of the `store`.
pub(super) fn each_place(
    pairs: impl Iterator<Item = Result<StorePair>>,
    store: &[Dated],
    columns: &[Column],
    mut each: impl FnMut(&StorePair, &[StorePair]) -> Result<()>,
) -> Result<()> {
    let expected = (0, Expected::default());
    let announced = Announced { pairs, store, columns, next: VecDeque::new(), expected };
    let mut pairs = announced.peekable();
    let mut near = Vec::new();
    let place = |pair: &StorePair| (pair.segment, pair.row, pair.rows);
    while let Some(first) = pairs.next().transpose()? {
        near.clear();
        near.push(first);
        let is_here = |next: &StorePair| place(next) == place(&first);
        while let Some(next) = next_if(&mut pairs, is_here)? {
            near.push(next);
        }
        each(&first, &near)?;
    }
    Ok(())
}
