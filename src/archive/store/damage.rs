//! The error for a file of ours that is damaged.

use crate::error::{Error, Kind};

pub(super) fn damaged(what: &str) -> Error {
    Error::new(Kind::BadData, what)
        .help("the file is damaged: make it again, or take it from a copy")
}
