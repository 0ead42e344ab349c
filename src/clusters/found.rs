//! What a clustering has made, as its report says it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::describe::{LargeCluster, SizeRange};
use super::measure::Measure;
use crate::output::Sum;
use crate::store::Digest;

/// What a clustering has made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Clusters {
    /// What the matches are measured in.
    pub measure: Measure,
    /// Rows of clusters.tsv.
    pub members: u64,
    /// Rows of sizes.tsv.
    pub clusters: u64,
    /// Members that were kept: each is the middle of a star. Components may join several.
    pub stars: u64,
    /// The matches that connect the members.
    pub links: u64,
    /// Rows of changes.tsv, if there was a clustering before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<u64>,
    /// The digest of the rows of clusters.tsv, in whichever layers they are. None for a state without layers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contents: Option<Digest>,
    /// How many clusters have which size, by powers of two.
    pub sizes: Vec<SizeRange>,
    /// The largest clusters.
    pub largest: Vec<LargeCluster>,
    /// The numbers of the layers of the state, the oldest first.
    #[serde(default)]
    pub layers: Vec<u32>,
    /// The files written.
    pub files: BTreeMap<String, Sum>,
}
