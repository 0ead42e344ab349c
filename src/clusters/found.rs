//! What a clustering has made, as its report says it.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::describe::{LargeCluster, SizeRange};
use super::measure::Measure;
use super::page::PageDay;
use super::state::Pile;
use crate::error::{Error, Kind, Result};
use crate::output::Sum;
use crate::store::Digest;

/// What a clustering has made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Clusters {
    /// What the matches are measured in.
    pub measure: Measure,
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
    /// The digest of the rows of the clusters, in whichever layers they are.
    pub contents: Digest,
    /// How many clusters have which size, by powers of two.
    pub sizes: Vec<SizeRange>,
    /// The largest clusters.
    pub largest: Vec<LargeCluster>,
    /// The numbers of the layers of the state, the oldest first.
    pub layers: Vec<u32>,
    /// The files written.
    pub files: BTreeMap<String, Sum>,
}

/// Layers have smaller numbers, which leaves room for those to come.
const END_OF_LAYERS: u32 = 1 << 31;

impl Clusters {
    /// The name of the file that has a table, such as `changes`.
    pub fn file_of(&self, table: &str) -> Option<&str> {
        let is_of = |name: &&String| name.split_once('.').is_some_and(|(stem, _)| stem == table);
        self.files.keys().find(is_of).map(String::as_str)
    }

    /// Calls `take` with the id, the day and the cluster of each page that is in one, in the order of ids and then of days.
    ///
    /// # Errors
    /// Those of `take`; [`Kind::BadData`] if the state in `folder` is not this one.
    pub fn each_member(
        &self,
        folder: &Path,
        take: &mut dyn FnMut(&str, PageDay, &str) -> Result<()>,
    ) -> Result<()> {
        self.check_layers(folder)?;
        let pile = Pile::open(folder, &self.layers)?;
        pile.each_page(|page, cluster| take(page.id, page.day, cluster))
    }

    /// Fails unless the numbers of the layers ascend, so that a later layer is a new file.
    ///
    /// # Errors
    /// [`Kind::BadData`], with the `folder` of the state.
    pub(super) fn check_layers(&self, folder: &Path) -> Result<()> {
        let ascend = self.layers.is_sorted_by(|one, next| one < next);
        if ascend && self.layers.last().is_none_or(|&last| last < END_OF_LAYERS) {
            return Ok(());
        }
        Err(Error::new(Kind::BadData, "the layers of the report are not in order")
            .at(folder)
            .found(format_args!("{:?}", self.layers))
            .help("make the clusters again, from nothing"))
    }
}
