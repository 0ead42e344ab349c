//! Which pages are one cluster.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Kind, Result};

/// Which pages are one cluster, and what its id is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Method {
    /// A kept page and all pages that were dropped in favour of it. Where that page was itself dropped, on its
    /// own day, its verdict is followed. The id is that of the kept page. Versions of one id that were kept
    /// on several days are one cluster.
    #[default]
    Star,
    /// All pages that a chain of matches connects. Versions of one id count as connected. The id is the
    /// smallest of its members.
    Components,
}

impl Method {
    /// The name that is typed.
    pub fn name(self) -> &'static str {
        match self {
            Method::Star => "star",
            Method::Components => "components",
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Method {
    type Err = Error;

    fn from_str(text: &str) -> Result<Method> {
        let named = [Method::Star, Method::Components].into_iter().find(|it| it.name() == text);
        named.ok_or_else(|| {
            Error::new(Kind::Usage, "not a method of clustering")
                .expected("star or components")
                .found(format_args!("`{text}`"))
        })
    }
}
