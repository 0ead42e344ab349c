//! Looks for many pages at once. A segment without a filter is read once for all of them, on all cores.

use std::ops::Range;
use std::sync::Arc;

use super::by::{By, Sought};
use super::holdings::Holdings;
use super::readers::Readers;
use super::seeker::Seeker;
use crate::error::Result;
use crate::parallel::{in_parallel, row_parts};
use crate::progress::{self, Activity};
use crate::store::{Dated, Day};

impl Holdings {
    /// The newest day on which the store holds each of `sought`; `None` for a page that the store
    /// does not hold. All of `sought` are ids, or all are texts.
    ///
    /// A segment with a filter is asked for each page. A segment without a filter is read from its
    /// beginning to its end, once for all pages together.
    pub fn newest_days(
        self: &Arc<Holdings>,
        by: By,
        sought: &[Sought<'_>],
        threads: usize,
    ) -> Result<Vec<Option<Day>>> {
        let share = sought.len().div_ceil(threads.max(1)).max(1);
        let shares: Vec<&[Sought<'_>]> = sought.chunks(share).collect();
        let asked = in_parallel(threads, &shares, |share| {
            let mut seeker = Seeker::new(self);
            share.iter().map(|sought| seeker.newest_day(*sought)).collect::<Result<Vec<_>>>()
        });
        let mut days = Vec::with_capacity(sought.len());
        for share in asked {
            days.extend(share?);
        }
        for shelf in self.shelves.iter().filter(|shelf| shelf.filter(by).is_none()) {
            scan(&shelf.dated, sought, threads, &mut days)?;
        }
        Ok(days)
    }
}

/// Raises the day of each of `sought` in `days` to the newest day on which `dated` holds the page.
fn scan(
    dated: &Dated,
    sought: &[Sought<'_>],
    threads: usize,
    days: &mut [Option<Day>],
) -> Result<()> {
    let Some(by) = sought.first().map(Sought::by) else { return Ok(()) };
    let mut hashes: Vec<(u64, usize)> =
        sought.iter().enumerate().map(|(at, sought)| (sought.hash(), at)).collect();
    hashes.sort_unstable();
    let found_in = |rows: &Range<u64>| {
        progress::tick(Activity::Reading);
        let mut readers = Readers::of(dated);
        let mut found = Vec::new();
        for row in rows.clone() {
            let Some(hash) = readers.hash(by, row)? else { continue };
            let first = hashes.partition_point(|it| it.0 < hash);
            for &(_, at) in hashes[first..].iter().take_while(|it| it.0 == hash) {
                if readers.is(sought[at], row)? {
                    found.push((at, readers.days.get(row)?));
                }
            }
        }
        Ok(found)
    };
    let parts = row_parts(dated.segment().rows(), threads);
    for found in in_parallel(threads, &parts, found_in) {
        for (at, day) in found? {
            days[at] = days[at].max(Some(day));
        }
    }
    Ok(())
}
