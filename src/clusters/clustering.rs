//! A clustering that is asked for, and what it makes.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::describe::{Description, LargeCluster, SizeRange, describe};
use super::engine::Engine;
use super::intern::intern;
use super::link_file::LinkFile;
use super::measure::Measure;
use super::method::Method;
use super::row::{CHANGES, CLUSTERS, SIZES};
use super::scratch;
use super::source::Source;
use super::space::Space;
use super::touched::Before;
use super::update::update;
use super::written::Written;
use crate::document::IdList;
use crate::error::{Error, Kind, Result};
use crate::output::{Staging, Sum};

/// A clustering that is asked for.
#[derive(Debug)]
pub struct Clustering {
    /// Which pages are one cluster.
    pub method: Method,
    /// The outputs whose matches count, each of another day.
    pub sources: Vec<Source>,
    /// The clustering to which those are added, made with the same method; none to begin from nothing.
    pub previous: Option<PathBuf>,
    /// Ids whose pages leave: their matches, old and new, count for nothing.
    pub removed: Option<IdList>,
    /// The memory of each sort; three exist at once.
    pub memory_bytes: usize,
}

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
    /// How many clusters have which size, by powers of two.
    pub sizes: Vec<SizeRange>,
    /// The largest clusters.
    pub largest: Vec<LargeCluster>,
    /// The files written.
    pub files: BTreeMap<String, Sum>,
}

impl Clustering {
    /// Writes clusters.tsv, sizes.tsv and links.bin, and changes.tsv if there was a clustering before.
    ///
    /// # Errors
    /// [`Kind::BadData`] if the inputs are damaged or contradict each other; [`Kind::Usage`] if their matches
    /// are measured in different ways.
    pub fn write(&self, engine: &mut dyn Engine, staging: &Staging) -> Result<Clusters> {
        let space = Space { folder: staging.folder(), memory_bytes: self.memory_bytes };
        let old = self.previous.as_deref().map(LinkFile::open).transpose()?;
        let measure = self.measure(old.as_ref())?;
        let removed = self.removed.as_ref();
        let interned = intern(&self.sources, self.method, removed, &space)?;
        let (written, changes) = match (&self.previous, &old) {
            (Some(folder), Some(links)) => {
                let before = Before { folder, links, method: self.method, removed };
                let (written, sum, lines) = update(&before, interned, engine, staging, &space)?;
                (written, Some((sum, lines)))
            }
            _ => {
                let (method, space) = (self.method, &space);
                (scratch::cluster(interned, method, measure, engine, staging, space)?, None)
            }
        };
        let Description { sizes, largest } = describe(staging.folder())?;
        let Written { rows, sizes: sizes_sum, links, counts, members, clusters } = written;
        let named = [(CLUSTERS, rows), (SIZES, sizes_sum), (LinkFile::NAME, links)];
        let mut files: BTreeMap<String, Sum> =
            named.into_iter().map(|(name, sum)| (name.to_owned(), sum)).collect();
        let changes = changes.map(|(sum, lines)| {
            files.insert(CHANGES.to_owned(), sum);
            lines
        });
        let stars = members - counts.verdicts.min(members);
        let links = counts.links;
        Ok(Clusters { measure, members, clusters, stars, links, changes, sizes, largest, files })
    }

    /// What all matches are measured in.
    fn measure(&self, old: Option<&LinkFile>) -> Result<Measure> {
        let mut measure = old.map(LinkFile::measure);
        for source in &self.sources {
            let found = source.measure()?;
            let expected = *measure.get_or_insert(found);
            if found != expected {
                let what = "the matches of the inputs are not measured alike";
                return Err(Error::new(Kind::Usage, what)
                    .at(&source.folder)
                    .expected(expected)
                    .found(found)
                    .help("cluster them apart"));
            }
        }
        Ok(measure.unwrap_or(Measure::Distance))
    }
}
