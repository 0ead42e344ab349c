//! A clustering that is asked for, and how it is made.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::changes::write_changes;
use super::found::Clusters;
use super::groups::Groups;
use super::lists::write_lists;
use super::numbering::{Numbered, RemovedIds, distinct, number};
use super::source::{Method, Source};
use super::state::{self, ClusterState, Member};
use crate::budget::Budget;
use crate::error::Result;
use crate::output::Staging;
use crate::results::ResultFormat;
use crate::runs::SortSpace;

/// A clustering that is asked for.
#[derive(Debug)]
#[non_exhaustive]
pub struct Clustering {
    /// Which pages are one cluster.
    pub method: Method,
    /// The outputs whose matches count, each of another day.
    pub sources: Vec<Source>,
    /// The clustering to which those are added, made with the same method; none to begin from nothing.
    pub previous: Option<Previous>,
    /// Ids whose pages leave: their matches, old and new, count for nothing.
    pub removed: RemovedIds,
    /// Whether the tables of clusters and sizes are written.
    pub writes_lists: bool,
    /// How the tables are written.
    pub format: ResultFormat,
    /// The memory of each sort; three exist at once.
    pub memory_bytes: usize,
}

/// A clustering that stands.
#[derive(Clone, Debug)]
pub struct Previous {
    /// Where its files are.
    pub folder: PathBuf,
    /// What its report says.
    pub found: Clusters,
}

impl Previous {
    pub(super) fn state(&self) -> Result<ClusterState> {
        ClusterState::of(&self.folder, self.found.members, &self.found.files)
    }
}

impl Clustering {
    /// A clustering of `sources` from nothing, with the usual memory and lists.
    #[must_use]
    pub fn new(method: Method, sources: Vec<Source>) -> Clustering {
        Clustering {
            method,
            sources,
            previous: None,
            removed: RemovedIds::default(),
            writes_lists: true,
            format: ResultFormat::default(),
            memory_bytes: Budget::default().clustering(),
        }
    }

    /// Writes the state, changes.tsv if there was a clustering before, and the lists if they are asked for.
    pub fn write(&self, staging: &Staging) -> Result<Clusters> {
        let before = self.previous.as_ref().map(Previous::state).transpose()?;
        self.write_since(before.as_ref(), staging)
    }

    pub(super) fn write_since(
        &self,
        before: Option<&ClusterState>,
        staging: &Staging,
    ) -> Result<Clusters> {
        let Clustering { method, format, memory_bytes, .. } = *self;
        let space = SortSpace { folder: staging.folder(), memory_bytes };
        let standing = self.previous.as_ref().map(Previous::state).transpose()?;
        let numbered = number(standing.as_ref(), &self.sources, method, &self.removed, space)?;
        let Numbered { pages, count, versions, links } = numbered;
        let state = ClusterState { folder: staging.folder().to_path_buf(), members: count };
        let links = state::write(staging, distinct(links))?;
        let groups = Groups::of(&state, &versions, method)?;
        let members = pages.zip(&groups.names);
        let members = members.map(|(page, &cluster)| page.map(|page| Member { page, cluster }));
        let mut files = BTreeMap::from([links, state::write(staging, members)?]);
        let mut changes = None;
        if let Some(before) = before {
            let (file, rows) = write_changes(before, &state, staging, format, space)?;
            files.extend([file]);
            changes = Some(rows);
        }
        if self.writes_lists {
            files.extend(write_lists(&state, &groups.sizes, staging, format, space)?);
        }
        Clusters::of(&state, &groups, changes, files)
    }
}
