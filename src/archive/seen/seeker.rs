//! Looks for pages, page after page or many at once. The filters say which rows may be the page. The columns say
//! which row is. A segment without a filter is read once for all of them, on all cores.

use std::ops::Range;
use std::sync::Arc;

use super::by::{By, Sought};
use super::holdings::Holdings;
use super::readers::{HeldPage, Readers};
use crate::error::Result;
use crate::parallel::{in_parallel, row_parts};
use crate::progress::{self, Activity};
use crate::store::{Dated, Day, Ids};

/// Looks for pages in a version that was opened. Each thread has its own.
pub struct Seeker {
    holdings: Arc<Holdings>,
    readers: Vec<Option<Readers>>,
    rows: Vec<u64>,
}

/// The id of a page that is held, which is read if it is asked for.
pub struct HeldId<'a> {
    ids: &'a mut Ids,
    row: u64,
}

impl<'a> HeldId<'a> {
    pub fn get(self) -> Result<&'a str> {
        self.ids.get(self.row)
    }
}

impl Seeker {
    #[must_use]
    pub fn new(holdings: &Arc<Holdings>) -> Seeker {
        let readers = holdings.shelves.iter().map(|_| None).collect();
        Seeker { holdings: Arc::clone(holdings), readers, rows: Vec::new() }
    }

    /// The newest day under which a segment with a filter holds what is sought.
    pub fn newest_day(&mut self, sought: Sought<'_>) -> Result<Option<Day>> {
        let mut newest = None;
        self.each(sought, |_, row, readers| {
            newest = newest.max(Some(readers.days.get(row)?));
            Ok(None::<()>)
        })?;
        Ok(newest)
    }

    /// What the store has of a page with this text, if a segment with a filter holds one whose id is `alike`.
    pub fn page(
        &mut self,
        digest: u128,
        mut alike: impl FnMut(HeldId<'_>) -> Result<bool>,
    ) -> Result<Option<HeldPage>> {
        let holdings = Arc::clone(&self.holdings);
        self.each(Sought::Text(digest), |number, row, readers| {
            if !alike(HeldId { ids: &mut readers.ids, row })? {
                return Ok(None);
            }
            let fingerprint = holdings.shelves[number].fingerprint(row)?;
            readers.page(row, fingerprint).map(Some)
        })
    }

    fn each<T>(
        &mut self,
        sought: Sought<'_>,
        mut take: impl FnMut(usize, u64, &mut Readers) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        let Seeker { holdings, readers, rows } = self;
        let (by, hash) = (sought.by(), sought.hash());
        for (number, shelf) in holdings.shelves.iter().enumerate() {
            let Some(filter) = shelf.filter(by) else { continue };
            filter.find(hash, rows)?;
            for &row in &*rows {
                let readers = readers[number].get_or_insert_with(|| Readers::of(&shelf.dated));
                if readers.is(sought, row)?
                    && let Some(taken) = take(number, row, readers)?
                {
                    return Ok(Some(taken));
                }
            }
        }
        Ok(None)
    }
}

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
