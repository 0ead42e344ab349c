//! The section `[clusters]` of a configuration file: where it stands, `run` makes the clusters of each day.

use dupsieve::rooms::clusters::Method;
use schemars::JsonSchema;
use serde::Deserialize;

use super::allowed;
use super::clustered::Clustered;

/// How `run` makes the clusters of a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClustersSettings {
    /// Which pages are one cluster.
    #[serde(default)]
    #[schemars(schema_with = "allowed::method")]
    pub(crate) method: Method,
    /// Which matches they are made from: those of `dedup`, or those of `lsh`, which the section `[lsh]` asks for.
    #[serde(default)]
    #[schemars(schema_with = "allowed::clustered")]
    pub(crate) matches: Clustered,
    /// Whether the tables of clusters and sizes are written for each day.
    #[serde(default = "yes")]
    pub(crate) lists: bool,
}

fn yes() -> bool {
    true
}
