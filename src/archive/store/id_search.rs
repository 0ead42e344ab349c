//! Finds rows by their ids. They lie in the order of the fingerprints, so all of them are read, on all cores.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use super::dated::Dated;
use super::row_sets::RowSet;
use crate::day::Day;
use crate::error::{Error, Result};
use crate::parallel::{in_parallel, row_parts};
use crate::progress::{self, Activity};

#[derive(Debug)]
pub(super) struct FoundRows<T> {
    pub(super) rows: Vec<(u64, Day, T)>,
    /// Pages without one, by their rows in the column of these.
    pub(super) empties: Vec<(u64, T)>,
}

impl<T> FoundRows<T> {
    pub(super) fn wanted(&self) -> impl Iterator<Item = &T> {
        let rows = self.rows.iter().map(|(_, _, wanted)| wanted);
        rows.chain(self.empties.iter().map(|(_, wanted)| wanted))
    }

    pub(super) fn add_to(&self, removed: &mut RowSet) -> u64 {
        let rows = self.rows.iter().map(|&(row, day, _)| (row, day));
        removed.add(rows, self.empties.iter().map(|&(row, _)| row))
    }
}

/// The rows of `dated`, hidden ones too, whose ids are `wanted`. Looks on `threads` threads, and `read` grows by the rows
/// that were looked through.
pub(super) fn find<T: Send>(
    dated: &Dated,
    threads: usize,
    read: &AtomicU64,
    wanted: impl Fn(&str) -> Option<T> + Sync,
) -> Result<FoundRows<T>> {
    let parts = row_parts(dated.segment().rows(), threads);
    let looked = in_parallel(threads, &parts, |part| {
        progress::tick(Activity::Reading);
        let mut days = dated.days();
        let mut found = Vec::new();
        dated.segment().ids().each(part.clone(), |row, id| {
            if let Some(wanted) = wanted(id) {
                found.push((row, days.get(row)?, wanted));
            }
            Ok(())
        })?;
        read.fetch_add(part.end - part.start, Ordering::Relaxed);
        Ok::<_, Error>(found)
    });
    let mut found = FoundRows { rows: Vec::new(), empties: Vec::new() };
    for part in looked {
        found.rows.extend(part?);
    }
    for (row, id) in (0..).zip(dated.segment().empty_ids()) {
        found.empties.extend(wanted(&id?).map(|wanted| (row, wanted)));
    }
    Ok(found)
}

pub(super) fn find_on_all_cores<T: Send>(
    dated: &Dated,
    wanted: impl Fn(&str) -> Option<T> + Sync,
) -> Result<FoundRows<T>> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    find(dated, cores, &AtomicU64::new(0), wanted)
}
