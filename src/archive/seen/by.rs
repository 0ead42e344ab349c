//! What a store can be asked for exactly: the id of a page, or its text.

use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Error, named};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum By {
    Ids,
    Texts,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sought<'a> {
    Id(&'a str),
    /// One whose text has this [digest](crate::document::Content::text_digest).
    Text(u128),
}

named!(pub(super) By { Ids = "ids", Texts = "texts" });

impl Sought<'_> {
    pub(super) fn by(&self) -> By {
        match self {
            Sought::Id(_) => By::Ids,
            Sought::Text(_) => By::Texts,
        }
    }

    pub(super) fn hash(&self) -> u64 {
        match *self {
            Sought::Id(id) => xxh3_64(id.as_bytes()),
            Sought::Text(digest) => digest as u64,
        }
    }
}

/// Says what to do about a damaged filter, or one that is missing.
pub(super) fn advised(error: Error) -> Error {
    error.help("make the filters again").job("store index").setting("filters")
}
