//! The matches with a store, gathered from all workers.

use std::sync::Arc;

use super::batch::Batch;
use super::finding::{Finding, StoreMatch};
use crate::error::Result;
use crate::matches::{Detail, Number, Pair, Unlikeness, too_many};
use crate::runs::{Sorter, Space};

/// The nearest page of the store to each group, as far as it is known.
pub(super) type Least = Vec<Option<Unlikeness>>;

/// What was found in a store.
pub struct Held {
    batch: Arc<Batch>,
    detail: Detail,
    /// With [`Detail::All`], more rows than this are an error.
    max_matches: u64,
    pub(super) matches: Sorter<StoreMatch>,
    pub(super) least: Least,
    /// Pairs of a group and a row that share a bucket, each once.
    pub(super) candidates: u64,
    /// How many rows are in each of the hottest buckets.
    pub(super) hottest: Vec<u64>,
    /// With [`Detail::All`], how many rows of matches.tsv there are.
    rows: u128,
}

impl Held {
    /// Nothing so far. `rows` are those of the matches within the batch.
    pub(super) fn new(
        batch: Arc<Batch>,
        detail: Detail,
        max_matches: u64,
        hottest: usize,
        rows: u128,
        space: Space<'_>,
    ) -> Held {
        Held {
            least: Vec::new(),
            matches: space.sorter(),
            candidates: 0,
            hottest: vec![0; hottest],
            batch,
            detail,
            max_matches,
            rows,
        }
    }

    /// Takes what a worker found. Unless all matches are wanted, one is left out if a nearer one of its group
    /// is known.
    ///
    /// # Errors
    /// [`Kind::BadData`](crate::Kind::BadData) if there are more matches than may be written.
    pub(crate) fn take(&mut self, found: Pair) -> Result<()> {
        match Finding::from(found) {
            Finding::Hot { bucket, rows } => self.hottest[bucket as usize] += u64::from(rows),
            Finding::Candidates(count) => self.candidates += u64::from(count),
            Finding::Match(found) => return self.match_found(found),
        }
        Ok(())
    }

    fn match_found(&mut self, found: StoreMatch) -> Result<()> {
        if self.least.is_empty() {
            self.least = vec![None; self.batch.len() as usize];
        }
        let least = &mut self.least[found.group.index()];
        let is_least = least.is_none_or(|least| found.distance <= least);
        if is_least {
            *least = Some(found.distance);
        }
        if self.detail == Detail::All {
            self.rows += u128::from(self.batch.sizes[found.group.index()]);
            if self.rows > u128::from(self.max_matches) {
                return Err(too_many(self.rows, self.max_matches));
            }
        } else if !is_least {
            return Ok(());
        }
        self.matches.push(found)
    }
}
