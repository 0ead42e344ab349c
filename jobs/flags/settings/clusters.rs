//! The section `[clusters]` of a configuration file: where it stands, `run` makes the clusters of each day.

use dupsieve::rooms::clusters::Method;
use schemars::JsonSchema;
use serde::Deserialize;

use super::allowed;

/// How `run` makes the clusters of a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClustersSettings {
    /// Which pages are one cluster.
    #[serde(default)]
    #[schemars(schema_with = "allowed::method")]
    pub(crate) method: Method,
    /// Whether the tables of clusters and sizes are written for each day.
    #[serde(default = "yes")]
    pub(crate) lists: bool,
}

fn yes() -> bool {
    true
}
