//! The numbers of the join, each a type of its own.
//!
//! All of them are counted from 0 in a `u32`, and to mix two of them up is a silent error. An example: a
//! batch of four pages, where `a` and `b` share a fingerprint and differ in class.
//!
//! | id | fingerprint | class | [`SegmentRow`] | [`FingerprintIndex`] | [`Group`] | [`Row`] | [`IdRank`] |
//! |---|---|---|---|---|---|---|---|
//! | `b` | `0x01` | full  | 1 | 0 | 0 | 0 | 1 |
//! | `a` | `0x01` | short | 0 | 0 | 1 | 1 | 0 |
//! | `d` | `0x07` | full  | 2 | 1 | 2 | 2 | 3 |
//! | `c` | `0x90` | full  | 3 | 2 | 3 | 3 | 2 |

use std::hash::Hash;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A number that counts one sort of thing. It converts from and to `u32`.
pub trait Number:
    Copy + Ord + Hash + std::fmt::Debug + Serialize + DeserializeOwned + From<u32> + Into<u32>
{
    #[inline]
    fn index(self) -> usize {
        let number: u32 = self.into();
        number as usize
    }
}

macro_rules! number {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[repr(transparent)]
        pub struct $name(u32);

        impl From<u32> for $name {
            #[inline]
            fn from(number: u32) -> $name {
                $name(number)
            }
        }

        impl From<$name> for u32 {
            #[inline]
            fn from(number: $name) -> u32 {
                number.0
            }
        }

        impl Number for $name {}
    };
}

number! {
    /// A distinct fingerprint of the batch, counted in ascending order.
    FingerprintIndex
}
number! {
    /// The pages of the batch with one fingerprint, one class and, with a check, one signature.
    Group
}
number! {
    /// A page of the batch, counted by group and then by id.
    Row
}
number! {
    /// A page of the batch, counted as its segment holds it: the [`Row`] unless groups divide fingerprints.
    SegmentRow
}
number! {
    /// A page of the batch, counted in the order of the ids.
    IdRank
}
number! {
    /// A group, counted in keep order.
    KeepRank
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span<N> {
    pub(super) start: N,
    pub(super) end: N,
}

impl<N: Number> Span<N> {
    pub(super) fn len(self) -> usize {
        self.end.index() - self.start.index()
    }

    pub(super) fn iter(self) -> impl Iterator<Item = N> {
        let start: u32 = self.start.into();
        let end: u32 = self.end.into();
        (start..end).map(N::from)
    }

    /// At most so many of them, from one on.
    pub(super) fn part(self, begin: usize, most: usize) -> impl Iterator<Item = N> {
        let [start, end] = [self.start, self.end].map(Into::into);
        let start = end.min(start + begin as u32);
        (start..end.min(start.saturating_add(most as u32))).map(N::from)
    }
}

pub(crate) fn below<N: Number>(end: u32) -> impl Iterator<Item = N> {
    (0..end).map(N::from)
}
