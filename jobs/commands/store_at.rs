//! The store that a command is given, and the version of it that a batch is joined with.

use std::path::{Path, PathBuf};

use clap::Args;
use dupsieve::store::{Day, Store, Version};
use dupsieve::{Error, Kind, Result};

use crate::flags::{GlobalFlags, Place};

/// The store that is asked.
#[derive(Args, Clone, Debug)]
pub(crate) struct StoreFlag {
    /// The store [default: that of the file given with --config]
    #[arg(long, value_name = "DIR")]
    store: Option<Place>,
}

impl StoreFlag {
    pub(crate) fn path(&self, global: &GlobalFlags) -> Result<PathBuf> {
        self.named(global)?.here()
    }

    /// As [`StoreFlag::path`], for a service.
    #[cfg(feature = "serve")]
    pub(crate) fn path_on_disk(&self, global: &GlobalFlags) -> Result<PathBuf> {
        self.named(global)?.on_disk()
    }

    /// The store as the command line names it, else as the configuration does.
    fn named(&self, global: &GlobalFlags) -> Result<Place> {
        if let Some(path) = &self.store {
            return Ok(path.clone());
        }
        global.config()?.store.path.ok_or_else(|| {
            Error::new(Kind::Usage, "no store is named")
                .expected("--store DIR, or --config FILE with `store` in that file")
        })
    }
}

/// Which version of which store to join with, before it has been looked up.
#[derive(Clone, Debug, Default)]
pub(crate) enum StoreAt {
    #[default]
    NoStore,
    /// The current version of a store, or the given one.
    Version(PathBuf, Option<u64>),
    /// The version before this day was added. The store is made if it does not exist.
    Before(PathBuf, Day),
    /// A version of a draft that is being made in a store, for this day.
    Drafted(PathBuf, Day, u64),
}

impl StoreAt {
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            StoreAt::NoStore => None,
            StoreAt::Version(store, _)
            | StoreAt::Before(store, _)
            | StoreAt::Drafted(store, ..) => Some(store),
        }
    }

    pub(crate) fn day(&self) -> Option<Day> {
        match self {
            StoreAt::Before(_, day) | StoreAt::Drafted(_, day, _) => Some(*day),
            StoreAt::NoStore | StoreAt::Version(..) => None,
        }
    }

    /// Looks the version up, as process 0 does.
    pub(crate) fn find(&self) -> Result<Option<Version>> {
        if let StoreAt::Before(store, _) = self {
            Store::init(store)?;
        }
        Ok(self.held()?.map(|(_, version)| version))
    }

    /// The store and the version as this process sees them; none if there is no store yet.
    pub(crate) fn held(&self) -> Result<Option<(Store, Version)>> {
        let Some(path) = self.path() else { return Ok(None) };
        let store = match (Store::open(path), self) {
            (Err(error), StoreAt::Before(..)) if error.kind() == Kind::Missing => return Ok(None),
            (store, _) => store?,
        };
        let version = match self {
            StoreAt::Before(_, day) => store.before(*day)?,
            StoreAt::Drafted(_, _, number) => store.drafted(*number)?,
            StoreAt::Version(_, number) => store.at(*number)?,
            StoreAt::NoStore => return Ok(None),
        };
        Ok(Some((store, version)))
    }

    pub(crate) fn at(&self, found: Option<u64>) -> Result<Option<Version>> {
        match (self, self.path()) {
            (StoreAt::Drafted(..), _) => self.find(),
            (_, store) => store.map(|store| Store::open(store)?.at(found)).transpose(),
        }
    }

    /// Whether the day that is joined has not been added to the store yet.
    pub(crate) fn is_unfinished(&self) -> Result<bool> {
        let StoreAt::Before(store, day) = self else { return Ok(false) };
        Ok(Store::open(store)?.at(None)?.entry(*day).is_none())
    }
}
