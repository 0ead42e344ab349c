//! A version of a store, opened so that single fingerprints can be asked for.

use std::sync::Arc;

use super::keeping::{design_of, files, sidecars};
use super::shelf::{self, NearRows, Shelf};
use crate::error::{Error, Kind, Result};
use crate::fingerprint::Width;
use crate::matches::{Confirm, MOST_MET, Question};
use crate::store::{Access, Dated, Store, Version};
use crate::work::Work;

const MOST_DISTANCE: u32 = 15;

/// How a version is opened.
#[derive(Clone, Copy, Debug, Default)]
pub struct LookupOptions {
    /// The largest number of bits in which near pages differ, at most 15.
    pub distance: u32,
    /// The check that confirms candidates, if one is wanted.
    pub check: Option<Confirm>,
    /// Where the bytes are.
    pub access: Access,
}

impl LookupOptions {
    /// Near pages differ in at most `distance` bits. No check confirms them, and the bytes are on disk.
    #[must_use]
    pub fn within(distance: u32) -> LookupOptions {
        LookupOptions { distance, ..LookupOptions::default() }
    }
}

/// A version of a store, opened to be asked by any number of threads: each with its own
/// [`Asker`](super::Asker). It goes on to answer for this version when the store has moved on.
pub struct Lookup {
    version: Version,
    pub(super) segments: Vec<Dated>,
    shelves: Vec<Box<dyn Shelf>>,
    options: LookupOptions,
    without_index: usize,
}

impl Lookup {
    /// Opens `version` of `store` with the index that it keeps. A segment without its index is only slower.
    pub fn open(store: &Store, version: Version, options: LookupOptions) -> Result<Arc<Lookup>> {
        if options.distance > MOST_DISTANCE {
            return Err(Error::new(Kind::Usage, "the distance is too large to be asked for")
                .expected(format_args!("at most {MOST_DISTANCE}"))
                .found(options.distance));
        }
        let design = design_of(store)?;
        let folder = sidecars(store).folder();
        let segments = version.dated()?;
        let mut shelves = Vec::new();
        let mut without_index = 0;
        for dated in &segments {
            let segment = dated.segment();
            let files = files(&folder, segment, design)?;
            let (shelf, whole) =
                shelf::open(segment, design, options.distance, &files, options.access)?;
            without_index += usize::from(!whole);
            shelves.push(shelf);
        }
        Ok(Arc::new(Lookup { version, segments, shelves, options, without_index }))
    }

    /// The version that answers.
    pub fn version(&self) -> &Version {
        &self.version
    }

    /// The width of its fingerprints; none if it is empty.
    pub fn width(&self) -> Option<Width> {
        self.version.width()
    }

    /// How it was opened.
    pub fn options(&self) -> &LookupOptions {
        &self.options
    }

    /// How many of its segments lack the index that the store keeps. They are asked by flips.
    pub fn without_index(&self) -> usize {
        self.without_index
    }

    /// Makes `found` all that is near `question`, as far as `work` goes, ordered by distance and place.
    pub(super) fn find(
        &self,
        question: &Question<'_>,
        found: &mut Vec<NearRows>,
        work: &mut Work<'_>,
    ) -> Result<()> {
        found.clear();
        for (segment, shelf) in (0..).zip(&self.shelves) {
            shelf.find(question.fingerprint, self.options.distance, segment, found, work)?;
        }
        let mut anchored = Vec::new();
        if let Some(anchors) = question.anchors(self.options.check) {
            let page = (question.fingerprint, anchors);
            for (segment, shelf) in (0..).zip(&self.segments).zip(&self.shelves) {
                shelf.find_anchored(page, segment, &mut anchored, work)?;
            }
        }
        anchored.sort_unstable();
        found.extend(anchored.into_iter().take(MOST_MET).map(|it| NearRows {
            distance: it.distance,
            segment: it.segment,
            rows: it.row..it.row + it.rows,
            by_anchors: true,
        }));
        found.sort_unstable_by_key(|it| (it.distance, it.segment, it.rows.start, it.by_anchors));
        Ok(())
    }
}

impl std::fmt::Debug for Lookup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Lookup(version {}, {} segments)", self.version.number(), self.segments.len())
    }
}
