//! By what the pages of a batch are compared: the values of `--compare`.

use std::fmt;
use std::str::FromStr;

use dupsieve::{Error, Kind, Result};

/// By what the pages of a batch are compared with each other, where a check tells which share of a page another page holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compare {
    /// By their texts, which are read once more.
    Texts,
    /// By their signatures, which estimate the share.
    Signatures,
}

impl Compare {
    /// Both.
    pub(crate) const ALL: [Compare; 2] = [Compare::Texts, Compare::Signatures];
    /// Its name in a report.
    pub(crate) const PARAMETER: &str = "compare";
}

impl fmt::Display for Compare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Compare::Texts => "texts",
            Compare::Signatures => "signatures",
        })
    }
}

impl FromStr for Compare {
    type Err = Error;

    fn from_str(text: &str) -> Result<Compare> {
        Compare::ALL.into_iter().find(|it| it.to_string() == text).ok_or_else(|| {
            Error::new(Kind::Usage, "pages cannot be compared by this")
                .expected("texts or signatures")
                .found(text)
        })
    }
}
