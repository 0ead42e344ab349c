//! Which matches are written, and the error for too many of them.

use std::fmt;

use crate::error::{Error, Kind, named};

/// The usual limit on the rows of matches.tsv with [`Detail::All`].
pub const MAX_MATCHES: u64 = 100_000_000;

pub(super) const BEST: &str = "write one row for each dropped page";
pub(super) const BEST_SETTING: &str = "matches best";

pub fn too_many(found: impl fmt::Display, most: u64) -> Error {
    Error::new(Kind::BadData, "there are more matches than may be written")
        .called("too-many-matches")
        .expected(format!("at most {most}"))
        .found(found)
        .help(format_args!("allow more, or {BEST}"))
        .settings(["max-matches", BEST_SETTING])
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Detail {
    All,
    /// For each dropped page the pair that its verdict names.
    #[default]
    Best,
}

named!(pub Detail { All = "all", Best = "best" } or "there is no such detail of matches");
