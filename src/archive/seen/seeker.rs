//! Looks for pages, page after page. The filters say which rows may be the page. The columns say
//! which row is.

use std::sync::Arc;

use super::by::Sought;
use super::holdings::Holdings;
use super::readers::{HeldPage, Readers};
use crate::error::Result;
use crate::store::{Day, Ids};

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
