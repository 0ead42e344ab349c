//! Which pages are one cluster.

use serde::{Deserialize, Serialize};

use crate::error::named;

/// Which pages are one cluster, and what its id is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Method {
    /// A kept page and all its duplicates. Where that page was itself dropped, on its
    /// own day, its verdict is followed. The id is that of the kept page. Versions of one id that were kept
    /// on several days are one cluster.
    #[default]
    Star,
    /// All pages that a chain of matches connects. Versions of one id count as connected. The id is the
    /// smallest of its members.
    Components,
}

named!(pub Method { Star = "star", Components = "components" } or "not a method of clustering");
