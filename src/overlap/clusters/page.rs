//! A page of a cluster: an id, and the day of the batch that it came with.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::runs::record;
use crate::store::Day;

/// A page. Crawled again on another day, the same id is another page. Ordered by the bytes of the id, then
/// by day, as the rows of clusters.tsv are.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Page {
    pub(super) id: String,
    pub(super) day: PageDay,
}

/// The day of a page, or that none is known. No day comes before every day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PageDay(
    /// 20261121 for 2026-11-21, and 0 for none: a day is compared and copied for every row of a clustering.
    u32,
);

impl PageDay {
    /// No day is known.
    pub const NONE: PageDay = PageDay(0);

    /// Reads `YYYY-MM-DD`, or nothing at all for no day. The files that it stands in are checksummed, so the
    /// calendar is not asked.
    pub(super) fn read(text: &str) -> Option<PageDay> {
        let mut number = 0;
        for (at, byte) in text.bytes().enumerate() {
            match (at, byte) {
                (4 | 7, b'-') => {}
                (0..=3 | 5 | 6 | 8 | 9, b'0'..=b'9') => {
                    number = 10 * number + u32::from(byte - b'0');
                }
                _ => return None,
            }
        }
        matches!(text.len(), 0 | 10).then_some(PageDay(number))
    }
}

impl From<Option<Day>> for PageDay {
    fn from(day: Option<Day>) -> PageDay {
        PageDay(day.map_or(0, |day| day.number() as u32))
    }
}

impl fmt::Display for PageDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => Ok(()),
            day => write!(f, "{:04}-{:02}-{:02}", day / 10_000, day / 100 % 100, day % 100),
        }
    }
}

record!(Page, id);
