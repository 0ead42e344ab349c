//! The pages of one journal in memory: what is near, and which ids it has.

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_128;

use super::header::Header;
use super::near::{AnchorTables, END, NearTables};
use crate::fingerprint::check::ANCHORS;
use crate::matches::{Confirm, Covering, GroupKey, Question, Similarity};
use crate::store::{Day, FingerprintedDocument};
use crate::work::Work;

#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    pub question: Question<'a>,
    /// The most bits in which a near page differs, unless it shares anchors.
    pub distance: u32,
    pub check: Option<Confirm>,
}

#[derive(Debug)]
pub(super) struct Part {
    pub(super) pages: Vec<FingerprintedDocument>,
    /// How many of the pages are on disk: queries see no others.
    pub(super) on_disk: usize,
    pub(super) sealed: Option<Day>,
    places: HashMap<u128, u32>,
    tables: NearTables,
    anchors: AnchorTables,
    last: Vec<u32>,
    before: Vec<u32>,
}

impl Part {
    /// A part with these pages, all of which are on disk, sealed as that day or not sealed.
    pub(super) fn of(
        header: &Header,
        pages: Vec<FingerprintedDocument>,
        sealed: Option<Day>,
    ) -> Part {
        let mut part = Part {
            pages: Vec::new(),
            on_disk: 0,
            sealed,
            places: HashMap::new(),
            tables: NearTables::new(header.width),
            anchors: AnchorTables::default(),
            last: Vec::new(),
            before: Vec::new(),
        };
        pages.into_iter().for_each(|page| part.push(page));
        part.on_disk = part.pages.len();
        part
    }

    /// Adds a page, which is not on disk yet.
    pub(super) fn push(&mut self, page: FingerprintedDocument) {
        let place = self.pages.len() as u32;
        self.places.entry(xxh3_128(page.id.as_bytes())).or_insert(place);
        let mut before = END;
        if let Some(fingerprint) = page.fingerprint {
            let number = self.tables.add(fingerprint) as usize;
            match self.last.get_mut(number) {
                Some(last) => before = std::mem::replace(last, place),
                None => self.last.push(place),
            }
        }
        self.before.push(before);
        self.anchors.add(&page.details.anchors);
        self.pages.push(page);
    }

    pub(super) fn has(&self, id: &str) -> bool {
        self.places.contains_key(&xxh3_128(id.as_bytes()))
    }

    /// Calls `found` with every page among the first `pages` that is near, as far as `work` goes, with its distance, and how
    /// alike the texts are where that is checked.
    pub(super) fn near(
        &self,
        wanted: &Wanted<'_>,
        pages: usize,
        work: &mut Work<'_>,
        mut found: impl FnMut(&FingerprintedDocument, u8, Option<Similarity>),
    ) {
        let asked = wanted.question.fingerprint;
        self.tables.search(asked, wanted.distance, work, |number, distance, work| {
            let mut at = self.last[number as usize];
            while at != END && work.spend(1) {
                let page = &self.pages[at as usize];
                if (at as usize) < pages
                    && let Some(stand_in) = wanted.stand_in(page, distance)
                {
                    found(page, distance, stand_in.containment);
                }
                at = self.before[at as usize];
            }
        });
    }

    pub(super) fn anchored<'a>(
        &'a self,
        wanted: &Wanted<'_>,
        pages: usize,
        work: &mut Work<'_>,
        found: &mut Vec<AnchoredPage<'a>>,
    ) {
        let Some(anchors) = wanted.question.anchors(wanted.check) else { return };
        let mut sharing = self.anchors.sharing(anchors, work);
        sharing.retain(|&page| (page as usize) < pages);
        sharing.sort_unstable();
        for same in sharing.chunk_by(|one, other| one == other) {
            let page = &self.pages[same[0] as usize];
            let Some(fingerprint) = page.fingerprint else { continue };
            found.push(AnchoredPage {
                apart: ANCHORS.saturating_sub(same.len()) as u8,
                distance: (fingerprint ^ wanted.question.fingerprint).count_ones() as u8,
                fingerprint,
                sketch: &page.details.check,
                page,
                sealed: self.sealed,
            });
        }
    }
}

/// A page that shares anchors with what is wanted. The first is the nearest one; copies follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct AnchoredPage<'a> {
    apart: u8,
    pub(super) distance: u8,
    fingerprint: u128,
    sketch: &'a [u8],
    pub(super) page: &'a FingerprintedDocument,
    pub(super) sealed: Option<Day>,
}

impl AnchoredPage<'_> {
    pub(super) fn is_copy_of(&self, other: &AnchoredPage<'_>) -> bool {
        (self.fingerprint, self.sketch) == (other.fingerprint, other.sketch)
    }
}

impl Wanted<'_> {
    pub(super) fn stand_in(&self, page: &FingerprintedDocument, distance: u8) -> Option<Covering> {
        let key = GroupKey { class: page.details.class, signature: &page.details.check };
        self.question.stand_in(key, distance, self.check.as_ref())
    }
}
