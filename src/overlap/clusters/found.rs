//! What a clustering has made, as its report says it.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::describe::{LargeCluster, SizeRange, describe, size_ranges};
use super::groups::Groups;
use super::state::ClusterState;
use crate::error::{Error, Kind, Result};
use crate::output::Sum;

/// What a clustering has made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clusters {
    /// Rows of the clusters.
    pub members: u64,
    /// Rows of the sizes.
    pub clusters: u64,
    /// Members that were kept: each is the middle of a star. Components may join several.
    pub stars: u64,
    /// The matches that connect the members.
    pub links: u64,
    /// Rows of the changes, if there was a clustering before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<u64>,
    /// How many clusters have which size, by powers of two.
    pub sizes: Vec<SizeRange>,
    /// The largest clusters.
    pub largest: Vec<LargeCluster>,
    /// The files written.
    pub files: BTreeMap<String, Sum>,
}

impl Clusters {
    /// The name of the file that has a table, such as `changes`.
    pub fn file_of(&self, table: &str) -> Option<&str> {
        let is_of = |name: &&String| name.split_once('.').is_some_and(|(stem, _)| stem == table);
        self.files.keys().find(is_of).map(String::as_str)
    }

    pub(super) fn of(
        state: &ClusterState,
        groups: &Groups,
        changes: Option<u64>,
        files: BTreeMap<String, Sum>,
    ) -> Result<Clusters> {
        let members = u64::from(state.members);
        let sizes = size_ranges(&groups.sizes);
        Ok(Clusters {
            members,
            clusters: sizes.iter().map(|range| range.clusters).sum(),
            stars: members - groups.verdicts,
            links: groups.links,
            changes,
            sizes,
            largest: describe(state, groups)?,
            files,
        })
    }
}

pub(super) fn differs(name: &str, folder: &Path) -> Error {
    Error::new(Kind::BadData, format!("the state gives another `{name}` than the report"))
        .at(folder.join("report.json"))
        .help("make the clusters again, from nothing")
        .setting("previous")
}
