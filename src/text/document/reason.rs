//! Why a record cannot be read.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Excerpt};

/// Why a record cannot be read: a general part, `what`, equal for all records with the same
/// problem, and a detail about the one record. `not a time: "soon"` is `not a time` and `: "soon"`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Reason {
    pub(super) what: Cow<'static, str>,
    pub(super) detail: String,
}

pub(super) const BROKEN_OFF: &str = "the packed data breaks off within the record";

pub(super) fn too_long(max_bytes: usize) -> Reason {
    let what = "the record is longer than the setting `max-record` allows";
    Reason::with(what, format_args!(": {max_bytes} bytes"))
}

const DETAIL: usize = 400;

impl Reason {
    /// A reason with a detail, which begins with its own punctuation.
    pub(super) fn with(what: impl Into<Cow<'static, str>>, detail: impl fmt::Display) -> Reason {
        Reason { what: what.into(), detail: detail.to_string().chars().take(DETAIL).collect() }
    }

    pub(super) fn quoting(what: impl Into<Cow<'static, str>>, value: &str) -> Reason {
        Reason::with(what, format_args!(": {}", Excerpt(value)))
    }
}

impl From<&'static str> for Reason {
    fn from(what: &'static str) -> Reason {
        Reason { what: Cow::Borrowed(what), detail: String::new() }
    }
}

impl From<String> for Reason {
    fn from(what: String) -> Reason {
        Reason { what: Cow::Owned(what), detail: String::new() }
    }
}

impl From<&Error> for Reason {
    fn from(error: &Error) -> Reason {
        let what = error.what().to_owned();
        let whole = error.to_string();
        match whole.split_once(&what) {
            Some(("", detail)) => Reason::with(what, detail),
            Some((place, detail)) => {
                let place = place.trim_end_matches([':', ' ']);
                Reason::with(what, format_args!(" ({place}){detail}"))
            }
            None => Reason::with(what, format_args!(" ({whole})")),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.what, self.detail)
    }
}
