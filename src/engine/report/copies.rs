//! How many copies the pages of a store have: the pages that its days have dropped as their duplicates, and of how many hosts these are.
//!
//! A page that was replaced is a copy of the page that replaced it, and with it go its own copies:
//!
//! ```text
//! verdicts of 20     b  drop  of a  batch
//! verdicts of 21     c  drop  of a  2026-11-20
//! replaced of 22     a  2026-11-20  by d             d has the copies a, b and c
//! ```
//!
//! Versions of a page are no copies of the newest one of its key, unless that contains them whole.

use std::path::Path;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::readmission::{Dropped, GaveWay, Outputs};
use crate::document::host;
use crate::error::{Error, Kind, Result};
use crate::runs::{Record, Sorter};
use crate::store::Day;

/// How many copies a page has, and of how many hosts they and the page itself are, where the ids are URLs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CopyCount {
    pub copies: u64,
    pub hosts: u64,
}

#[derive(Debug)]
pub struct Copies(Vec<(PageOfDay, CopyCount)>);

/// The hash of an id, and the day under which a store has the page.
type PageOfDay = (u128, Day);

/// A copy, with the hashes of its host and of the host of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct CopyOf {
    page: PageOfDay,
    host: Option<u64>,
    own: Option<u64>,
}

impl Record for CopyOf {}

impl Outputs {
    /// The copies by these outputs of days. Pages that a day has dropped and all the same put `into_store` are no copies: the store has them. The sort
    /// takes about `memory_bytes` and writes into `folder` what has no room there; what is counted may take as much.
    pub fn copies(
        &self,
        into_store: impl Fn(Day) -> bool,
        folder: &Path,
        memory_bytes: usize,
    ) -> Result<Copies> {
        let mut copies = Sorter::new(folder, memory_bytes);
        self.each_dropped(|page, how| {
            let is_stored = how != GaveWay::Replaced && page.day.is_some_and(&into_store);
            let is_other = page.is_lost || how == GaveWay::Superseded;
            match page.against.or(page.day).filter(|_| !is_stored && !is_other) {
                Some(day) => copies.push(CopyOf::of(page, day)),
                None => Ok(()),
            }
        })?;
        let mut counted: Vec<(PageOfDay, CopyCount)> = Vec::new();
        let mut last_host = None;
        for copy in copies.sorted()? {
            let CopyOf { page, host, own } = copy?;
            if counted.last().is_none_or(|last| last.0 != page) {
                if size_of_val(&counted[..]) >= memory_bytes {
                    return Err(Error::new(
                        Kind::Usage,
                        "the copies of the pages need too much memory",
                    )
                    .expected(format_args!("at most {memory_bytes} bytes"))
                    .help("allow more memory")
                    .setting("memory"));
                }
                counted.push((page, CopyCount { copies: 0, hosts: own.is_some().into() }));
                last_host = None;
            }
            let count = &mut counted.last_mut().expect("it was pushed").1;
            count.copies += 1;
            count.hosts += u64::from(host.is_some() && host != own && host != last_host);
            last_host = host;
        }
        Ok(Copies(counted))
    }
}

impl CopyOf {
    fn of(dropped: Dropped<'_>, day: Day) -> CopyOf {
        let host = |id| host(id).map(|host| xxh3_64(host.as_bytes()));
        let page = (xxh3_128(dropped.of.as_bytes()), day);
        CopyOf { page, host: host(dropped.id), own: host(dropped.of) }
    }
}

impl Copies {
    /// Those of the page with this id and day; one without a day is in no day of the store yet.
    pub fn of(&self, id: &str, day: Option<Day>) -> CopyCount {
        let place = day.and_then(|day| {
            let page = (xxh3_128(id.as_bytes()), day);
            self.0.binary_search_by_key(&page, |counted| counted.0).ok()
        });
        match place {
            Some(place) => self.0[place].1,
            None => CopyCount { copies: 0, hosts: host(id).is_some().into() },
        }
    }
}
