//! A clustering that is asked for, and how it is made.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::contents::Contents;
use super::describe::{Sizes, describe};
use super::engine::Engine;
use super::found::Clusters;
use super::intern::{Interned, intern};
use super::lists::write_lists;
use super::measure::Measure;
use super::method::Method;
use super::removed::RemovedIds;
use super::scratch;
use super::source::Source;
use super::state::{LinkCounts, Named, Pile, names};
use super::touched::Before;
use super::update::{Resized, update};
use crate::budget::Budget;
use crate::error::{Error, Kind, Result};
use crate::output::{Staging, Sum, check_free_space};
use crate::results::ResultFormat;
use crate::runs::Space;

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

/// A state that has been written.
struct State {
    layers: Vec<u32>,
    pile: Pile,
    files: BTreeMap<String, Sum>,
    contents: Contents,
    counts: LinkCounts,
    members: u64,
    /// The sizes of its clusters, and the lines of changes.tsv.
    sizes: Sizes,
    changes: Option<u64>,
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

    /// Writes the layers of the state, the lists if they are asked for, and changes.tsv if there was a clustering
    /// before.
    ///
    /// # Errors
    /// [`Kind::BadData`] if the inputs are damaged or contradict each other; [`Kind::Usage`] if their matches
    /// are measured in different ways.
    pub fn write(&self, engine: &mut dyn Engine, staging: &Staging) -> Result<Clusters> {
        let space = Space { folder: staging.folder(), memory_bytes: self.memory_bytes };
        let measure = self.measure()?;
        let interned = intern(&self.sources, self.method, &self.removed, space)?;
        let state = match &self.previous {
            None => self.begin(interned, engine, staging, space),
            Some(previous) => self.add(previous, interned, engine, staging, space),
        }?;
        let State { layers, pile, mut files, contents, counts, members, sizes, changes } = state;
        if self.writes_lists {
            files.extend(write_lists(&pile, staging, self.format, space)?);
        }
        Ok(Clusters {
            measure,
            members,
            clusters: sizes.clusters(),
            stars: members - counts.verdicts.min(members),
            links: counts.links,
            changes,
            contents: contents.digest(),
            sizes: sizes.ranges(),
            largest: describe(&pile, &sizes, measure)?,
            layers,
            files,
        })
    }

    /// Makes a state from nothing.
    fn begin(
        &self,
        interned: Interned,
        engine: &mut dyn Engine,
        staging: &Staging,
        space: Space<'_>,
    ) -> Result<State> {
        let made = scratch::cluster(interned, self.method, engine, staging, space)?;
        let layers = vec![scratch::LAYER];
        let pile = Pile::open(staging.folder(), &layers)?;
        Ok(State {
            layers,
            sizes: Sizes::of(&pile)?,
            pile,
            files: BTreeMap::from(made.files),
            contents: made.contents,
            counts: made.links,
            members: made.members,
            changes: None,
        })
    }

    /// Adds a layer to the state before.
    fn add(
        &self,
        Previous { folder, found }: &Previous,
        interned: Interned,
        engine: &mut dyn Engine,
        staging: &Staging,
        space: Space<'_>,
    ) -> Result<State> {
        found.check_layers(folder)?;
        let mut layers = found.layers.clone();
        let mut files = shared_files(folder, found, staging)?;
        let mut contents = Contents::of(found.contents);
        let pile = Pile::open(staging.folder(), &layers)?;
        let before = Before { pile: &pile, method: self.method, removed: &self.removed };
        let number = layers.last().map_or(scratch::LAYER, |last| last + 1);
        let updated = update(&before, interned, engine, staging, self.format, number, space)?;
        files.extend(updated.files);
        layers.push(number);
        let pile = merged(staging, &mut layers, &mut files)?;
        let ((name, sum), lines) = updated.changes;
        files.insert(name, sum);
        contents.merge(updated.contents);
        let (come, gone) = (updated.come, updated.gone);
        let verdicts = found.members.saturating_sub(found.stars);
        let sum = |sizes: fn(&Resized) -> u64| {
            updated.resized.iter().map(sizes).fold(0, u64::saturating_add)
        };
        let (grown, shrunk) = (sum(|it| it.now), sum(|it| it.before));
        Ok(State {
            sizes: match Sizes::updated(
                found.clusters,
                &found.sizes,
                &found.largest,
                &updated.resized,
            ) {
                Some(sizes) => sizes,
                None => Sizes::of(&pile)?,
            },
            layers,
            pile,
            files,
            contents,
            counts: LinkCounts {
                links: found.links.saturating_add(come.links).saturating_sub(gone.links),
                verdicts: verdicts.saturating_add(come.verdicts).saturating_sub(gone.verdicts),
            },
            members: found.members.saturating_add(grown).saturating_sub(shrunk),
            changes: Some(lines),
        })
    }

    /// What all matches are measured in.
    fn measure(&self) -> Result<Measure> {
        let mut measure = self.previous.as_ref().map(|previous| previous.found.measure);
        for source in &self.sources {
            let Some(found) = source.measure()? else { continue };
            let expected = *measure.get_or_insert(found);
            if found != expected {
                let what = "the matches of the inputs are not measured alike";
                return Err(Error::new(Kind::Usage, what)
                    .at(&source.folder)
                    .expected(expected)
                    .found(found)
                    .help("cluster the outputs with distances and those with similarities apart"));
            }
        }
        Ok(measure.unwrap_or(Measure::Distance))
    }
}

/// Shares the files of the layers of a state with the one that is being built.
fn shared_files(
    folder: &Path,
    found: &Clusters,
    staging: &Staging,
) -> Result<BTreeMap<String, Sum>> {
    let mut files = BTreeMap::new();
    for name in found.layers.iter().flat_map(|&layer| names(layer)) {
        let sum = found.files.get(&name).ok_or_else(|| {
            Error::new(Kind::BadData, "the report does not name this file of the state")
                .at(folder.join(&name))
        })?;
        staging.share(&folder.join(&name), &name)?;
        files.insert(name, sum.clone());
    }
    Ok(files)
}

/// Makes the newest layers one if that is due, and opens all.
fn merged(
    staging: &Staging,
    layers: &mut Vec<u32>,
    files: &mut BTreeMap<String, Sum>,
) -> Result<Pile> {
    let pile = Pile::open(staging.folder(), layers)?;
    let (Some(first), Some(last)) = (pile.due(), layers.last()) else { return Ok(pile) };
    let number = last + 1;
    let merged = layers[first..].iter().flat_map(|&layer| names(layer));
    let bytes = merged.filter_map(|name| files.get(&name)).map(|sum| sum.bytes).sum();
    check_free_space(staging.folder(), bytes)?;
    let made: [Named; 3] = pile.flatten(first, staging, number)?;
    for name in layers.drain(first..).flat_map(names) {
        staging.remove(&name)?;
        files.remove(&name);
    }
    files.extend(made);
    layers.push(number);
    Pile::open(staging.folder(), layers)
}
