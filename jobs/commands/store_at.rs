//! Which version of which store a batch is joined with.

use std::path::{Path, PathBuf};

use dupsieve::Result;
use dupsieve::store::{Day, Store, Version};

/// A version of a store, before it is known which one that is.
#[derive(Clone, Debug)]
pub(crate) enum StoreAt {
    /// No store: the batch is joined with itself alone.
    Nowhere,
    /// A store as it is, or as it was.
    Version(PathBuf, Option<u64>),
    /// A store, made if there is none, as it was before this day was added.
    Before(PathBuf, Day),
    /// A version of a draft that is being made in a store, before this day.
    Drafted(PathBuf, Day, u64),
}

impl StoreAt {
    /// Where the store is.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            StoreAt::Nowhere => None,
            StoreAt::Version(store, _)
            | StoreAt::Before(store, _)
            | StoreAt::Drafted(store, ..) => Some(store),
        }
    }

    /// The day that is joined, where it is known.
    pub(crate) fn day(&self) -> Option<Day> {
        match self {
            StoreAt::Before(_, day) | StoreAt::Drafted(_, day, _) => Some(*day),
            StoreAt::Nowhere | StoreAt::Version(..) => None,
        }
    }

    /// The version that process 0 finds.
    pub(crate) fn find(&self) -> Result<Option<Version>> {
        match self {
            StoreAt::Nowhere => Ok(None),
            StoreAt::Version(store, version) => Store::open(store)?.at(*version).map(Some),
            StoreAt::Before(store, day) => {
                let (store, _) = Store::init(store)?;
                let before = store.at(None)?.before(*day);
                store.at(Some(before)).map(Some)
            }
            StoreAt::Drafted(store, _, number) => Store::open(store)?.drafted(*number).map(Some),
        }
    }

    /// The version that process 0 found.
    pub(crate) fn at(&self, found: Option<u64>) -> Result<Option<Version>> {
        match self {
            StoreAt::Nowhere => Ok(None),
            StoreAt::Version(store, _) | StoreAt::Before(store, _) => {
                Store::open(store)?.at(found).map(Some)
            }
            StoreAt::Drafted(..) => self.find(),
        }
    }

    /// Whether a day is to follow that the store does not hold yet.
    pub(crate) fn is_unfinished(&self) -> Result<bool> {
        match self {
            StoreAt::Nowhere | StoreAt::Version(..) | StoreAt::Drafted(..) => Ok(false),
            StoreAt::Before(store, day) => {
                let current = Store::open(store)?.at(None)?;
                Ok(current.entries().iter().all(|entry| entry.day != *day))
            }
        }
    }
}
