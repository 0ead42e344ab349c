//! What a record says of the place of its page in the keep order: one whole number, its key.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::named;

/// The key by which a page is put in order, if its record has one. The page with the least key comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OrderKey {
    /// The record has no such field, or none is read.
    #[default]
    NoField,
    Empty,
    /// The field has a value without a place in the order.
    Wrong,
    At {
        /// The key: of a time, the whole seconds since 1970, rounded down.
        key: i64,
        kind: OrderKind,
    },
}

impl OrderKey {
    pub fn key(self) -> Option<i64> {
        match self {
            OrderKey::At { key, .. } => Some(key),
            OrderKey::NoField | OrderKey::Empty | OrderKey::Wrong => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum OrderKind {
    /// `2026-07-01T12:00:00+08:00`; also with a space for the T, and with a zone such as `UTC` or `+0800`.
    Zoned,
    /// `2026-07-01T12:00:00`, taken as UTC; also with a space for the T.
    Unzoned,
    /// `Wed, 01 Jul 2026 12:00:00 GMT`, as in HTTP and mail.
    Http,
    /// Seconds since 1970, perhaps with a fraction.
    Seconds,
    /// Milliseconds since 1970: whole numbers of 12 or 13 digits.
    Milliseconds,
    /// `20260701120000`, in UTC, as in web archives.
    Digits,
    /// `2026-07-01` or `20260701`: the beginning of the day, in UTC.
    Days,
    Number,
    Listed,
    Unlisted,
}

named!(pub OrderKind {
    Zoned = "RFC 3339",
    Unzoned = "without a zone, taken as UTC",
    Http = "HTTP dates",
    Seconds = "seconds",
    Milliseconds = "milliseconds",
    Digits = "of 14 digits",
    Days = "days",
    Number = "numbers",
    Listed = "in the list",
    Unlisted = "not in the list",
});

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderCounts {
    pub no_field: u64,
    pub empty: u64,
    pub wrong: u64,
    /// The number of keys of each kind, in the order of [`OrderKind::ALL`].
    kinds: [u64; OrderKind::ALL.len()],
}

impl OrderCounts {
    pub fn count(&mut self, key: OrderKey) {
        match key {
            OrderKey::NoField => self.no_field += 1,
            OrderKey::Empty => self.empty += 1,
            OrderKey::Wrong => self.wrong += 1,
            OrderKey::At { kind, .. } => self.kinds[kind as usize] += 1,
        }
    }

    pub fn add(&mut self, other: OrderCounts) {
        self.no_field += other.no_field;
        self.empty += other.empty;
        self.wrong += other.wrong;
        self.kinds.iter_mut().zip(other.kinds).for_each(|(sum, count)| *sum += count);
    }

    pub fn known(&self) -> u64 {
        self.kinds.iter().sum()
    }

    pub fn unknown(&self) -> u64 {
        self.no_field + self.empty + self.wrong
    }
}

impl fmt::Display for OrderCounts {
    /// `180 RFC 3339, 20 milliseconds, 3 missing`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds = OrderKind::ALL.iter().zip(self.kinds);
        let kinds = kinds.map(|(kind, count)| (count, kind.name()));
        let unknown = [(self.no_field + self.empty, "missing"), (self.wrong, "not a number")];
        let told = kinds.chain(unknown).filter(|(count, _)| *count > 0);
        f.write_str(&told.map(|(count, of)| format!("{count} {of}")).collect::<Vec<_>>().join(", "))
    }
}
