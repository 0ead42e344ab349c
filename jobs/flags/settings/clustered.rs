//! Which matches of a day its clusters are made from.

use serde::Deserialize;

/// Which matches clusters are made from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Clustered {
    /// Those of pages with near fingerprints.
    #[default]
    Dedup,
    /// Those of pages that overlap.
    Lsh,
}

impl Clustered {
    pub(crate) const BOTH: [Clustered; 2] = [Clustered::Dedup, Clustered::Lsh];

    /// The name of the folder with these matches in the output of a day.
    pub(crate) fn folder(self) -> &'static str {
        match self {
            Clustered::Dedup => "dedup",
            Clustered::Lsh => "lsh",
        }
    }
}
