//! Which rows of the store a hit stands for: those that are shown, of all with its fingerprint.

use std::collections::HashMap;

use crate::error::{Error, Result};
use crate::matches::Place;
use crate::store::{Dated, Shown};

#[derive(Debug, Default)]
pub(super) struct Places {
    /// For each segment that hides rows, which ones.
    shown: Vec<Option<Shown>>,
    /// What was found in this window, by segment and first row: many of the batch may be near one place.
    found: HashMap<(u32, u64), Option<Place>>,
    failure: Option<Error>,
}

impl Places {
    pub(super) fn new(store: &[Dated]) -> Places {
        let shown = store.iter().map(|dated| dated.hides().then(|| dated.shown())).collect();
        Places { shown, ..Places::default() }
    }

    pub(super) fn begin(&mut self) {
        self.found.clear();
    }

    /// Of `rows` rows with one fingerprint, from `row` on, those that are shown; none if none is.
    #[inline]
    pub(super) fn shown(&mut self, segment: u32, row: u64, rows: u64) -> Option<Place> {
        let Some(shown) = &mut self.shown[segment as usize] else {
            return Some(Place::Store { segment, row, rows });
        };
        *self.found.entry((segment, row)).or_insert_with(|| match shown.among(row, rows) {
            Ok(shown) => shown.map(|(row, rows)| Place::Store { segment, row, rows }),
            Err(error) => {
                self.failure.get_or_insert(error);
                None
            }
        })
    }

    pub(super) fn check(&mut self) -> Result<()> {
        self.failure.take().map_or(Ok(()), Err)
    }
}
