//! Retention by age: days that are too old leave the newest version.
//!
//! A version in which days have expired is a version like any other: the versions before it still show these days, until they
//! are pruned. For example, with 20 to 23 held, of which 20 and 21 are one segment:
//!
//! ```text
//! version   7: m(20 21)  c(22)  d(23)
//! expire before 21
//!           8: m(20 21)  c(22)  d(23)     m stays; its rows of 20 are hidden by their day (see `dated`)
//! expire before 22
//!           9: c(22)  d(23)               m has no day left and leaves the version
//! ```
//!
//! The manifest remembers the days that have expired, and before which day they have. So the same segment of such a day is
//! known when it comes again, the version that a day was joined with can be told, and a day that comes too late is refused.

use std::num::NonZero;
use std::path::Path;

use super::folder::Store;
use super::manifest::{Entry, Manifest};
use super::replaced_rows;
use super::version::Version;
use crate::day::Day;
use crate::error::{Error, Kind, Result};
use crate::output::Lock;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retention {
    /// This day and those after it.
    From(Day),
    /// So many days of the calendar, the newest day of the store among them.
    Days(NonZero<u64>),
}

impl Retention {
    /// The first day that is kept by a store whose newest day this is; none if all are.
    pub fn first(self, newest: Day) -> Option<Day> {
        match self {
            Retention::From(first) => Some(first),
            Retention::Days(days) => newest.back(days.get() - 1),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expiry {
    pub first: Day,
    /// The days, in order; at least one.
    pub days: Vec<Day>,
    /// Their fingerprints that were shown so far.
    pub rows: u64,
}

impl Version {
    pub fn expiry(&self, retention: Retention) -> Option<Expiry> {
        let first = retention.first(self.entries().last()?.day)?;
        let expired: Vec<&Entry> =
            self.entries().iter().take_while(|entry| entry.day < first).collect();
        let days: Vec<Day> = expired.iter().map(|entry| entry.day).collect();
        let rows = expired.iter().map(|entry| self.shown_of(entry)).sum();
        (!days.is_empty()).then_some(Expiry { first, days, rows })
    }

    pub fn expect_unexpired(&self, day: Day) -> Result<()> {
        expect_unexpired(&self.store, &self.manifest, day)
    }
}

impl Store {
    /// Makes a version in which all days have expired that `retention` does not keep. Returns what has expired; none if
    /// nothing had to, and then there is no new version.
    pub fn expire(&self, retention: Retention) -> Result<Option<Expiry>> {
        let lock = self.lock()?;
        let version = self.at(None)?;
        let expiry = version.expiry(retention);
        if let Some(Expiry { first, .. }) = expiry {
            self.remove_orphans(&lock)?;
            self.commit(self.expiring(&version.manifest, first, &lock)?, &lock)?;
        }
        Ok(expiry)
    }

    /// The version after `last`, in which the days before `first` have expired. What they have replaced stays hidden.
    pub(super) fn expiring(&self, last: &Manifest, first: Day, lock: &Lock) -> Result<Manifest> {
        let replaced = replaced_rows::read(self.path(), last.replaced)?;
        self.with_replaced(last.expiring(first), replaced, lock)
    }
}

pub(super) fn expect_unexpired(path: &Path, version: &Manifest, day: Day) -> Result<()> {
    let Some(first) = version.expired_before.filter(|first| day < *first) else { return Ok(()) };
    let what =
        format!("the days before {first} have expired in this store, and {day} is one of them");
    Err(Error::new(Kind::Usage, what).at(path).help(
        "add it to another store; or go back to a version in which the days had not expired, and add it then",
    ).job("store rollback"))
}
