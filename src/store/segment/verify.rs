//! Reads all of a segment and checks everything that a segment promises.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Result};
use crate::fingerprint::{Fingerprint, Width, hex};
use crate::store::damage::damaged;
use crate::store::day::Day;

use super::details::Details;
use super::directory::{Column, IdKind};
use super::open::Segment;
use super::packed::is_id;
use super::scan::KeyRange;

impl Segment {
    /// Decodes every block of every column and checks all checksums and the order of rows.
    ///
    /// # Errors
    /// Any difference from what a writer writes is [`crate::Kind::BadData`].
    pub fn verify(&self) -> Result<()> {
        self.verify_counting(&AtomicU64::new(0)).map(drop)
    }

    /// Like [`Segment::verify`]. `read` grows by the bytes of the file. Returns the number of rows of each
    /// day, if the segment has days.
    pub(crate) fn verify_counting(&self, read: &AtomicU64) -> Result<BTreeMap<Day, u64>> {
        let before = read.load(Ordering::Relaxed);
        let began = self.bytes_read();
        let bytes = self.bytes();
        let show = || {
            let done = (self.bytes_read() - began).min(bytes);
            read.store(before + done, Ordering::Relaxed);
        };
        let days = match self.width() {
            Width::W64 => self.verify_rows::<u64>(show)?,
            Width::W128 => self.verify_rows::<u128>(show)?,
        };
        self.verify_cold()?;
        self.verify_empties()?;
        read.store(before + bytes, Ordering::Relaxed);
        Ok(days)
    }

    /// Calls `show` after each block. Returns the rows of each day.
    fn verify_rows<F: Fingerprint>(&self, show: impl Fn()) -> Result<BTreeMap<Day, u64>> {
        let mut rows = BTreeMap::new();
        let mut scan = self.scan::<F>(KeyRange::all());
        let mut ids = self.ids();
        let mut days = self.days();
        let mut details = Details::new(self);
        let mut last: Option<F> = None;
        let mut last_id = String::new();
        let mut last_day = None;
        let mut run = Vec::new();
        let is_bare = self.is_bare();
        while let Some(row) = scan.next(&mut run)? {
            show();
            if is_bare && ascends(last, &run) {
                last = run.last().copied();
                continue;
            }
            for (row, &fingerprint) in (row..).zip(&run) {
                // Ids that are row numbers or fingerprints are valid if no fingerprint comes twice.
                let id = if self.id_kind() == IdKind::Text { ids.get(row)? } else { "" };
                let day = days.as_mut().map(|days| days.get(row)).transpose()?;
                let follows = |last| (last, last_id.as_str(), last_day) >= (fingerprint, id, day);
                if last.is_some_and(follows) {
                    return Err(self.disorder(row, hex(fingerprint.to_u128(), F::WIDTH), id));
                }
                if self.id_kind() == IdKind::Text && !is_id(id) {
                    return Err(self.disorder(row, "an invalid id".into(), id));
                }
                (last, last_day) = (Some(fingerprint), day);
                last_id.clear();
                last_id.push_str(id);
                details.row(row, fingerprint, "")?;
                if let Some(day) = day {
                    *rows.entry(day).or_default() += 1;
                }
            }
        }
        Ok(rows)
    }

    /// Whether its rows are fingerprints and nothing else.
    fn is_bare(&self) -> bool {
        self.columns().all(|size| {
            matches!(size.column, Column::Fingerprints | Column::Cold | Column::Empties)
        })
    }

    fn verify_empties(&self) -> Result<()> {
        let mut last = String::new();
        for (row, id) in (0..).zip(self.empty_ids()) {
            let id = id?;
            if id <= last || !is_id(&id) {
                return Err(self.disorder(row, "an empty document".into(), &id));
            }
            last = id;
        }
        Ok(())
    }

    fn disorder(&self, row: u64, what: String, id: &str) -> Error {
        damaged(&format!("row {row} is out of order"))
            .at(self.path())
            .found(format_args!("{what} `{id}`"))
    }
}

/// Whether every fingerprint of `run` is above the one before it, and the first above `last`.
fn ascends<F: Fingerprint>(last: Option<F>, run: &[F]) -> bool {
    let follows = last.is_none_or(|last| run.first().is_none_or(|&first| last < first));
    // Without an early exit, so that several are compared at once.
    run.windows(2).fold(follows, |ascends, pair| ascends & (pair[0] < pair[1]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_run_ascends_if_each_is_above_the_one_before(
            last in prop::option::of(0u64..9),
            run in prop::collection::vec(0u64..9, 0..4),
        ) {
            let all: Vec<u64> = last.into_iter().chain(run.iter().copied()).collect();
            prop_assert_eq!(ascends(last, &run), all.is_sorted_by(|a, b| a < b));
        }
    }
}
