//! The pages of one journal in memory: what is near, and which ids it has.

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_128;

use super::header::Header;
use super::near::NearTables;
use crate::fingerprint::Class;
use crate::matches::{Confirm, GroupKey, Similarity, StandIn};
use crate::store::{Day, FingerprintedDocument};
use crate::work::Work;

/// The end of a chain of copies.
const END: u32 = u32::MAX;

/// What near pages are asked for.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The fingerprint.
    pub fingerprint: u128,
    /// The most bits in which a near page differs.
    pub distance: u32,
    /// Class and signature of the page that is asked for. Without them, as for a ready-made fingerprint, all that is
    /// within the distance is near.
    pub page: Option<(Class, &'a [u8])>,
    /// The check that confirms candidates, if there is one.
    pub check: Option<Confirm>,
}

/// The pages of one journal.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) pages: Vec<FingerprintedDocument>,
    /// How many of the pages are on disk: queries see no others.
    pub(super) on_disk: usize,
    /// The day of its seal.
    pub(super) sealed: Option<Day>,
    /// The place of each id, by its XXH3-128.
    places: HashMap<u128, u32>,
    tables: NearTables,
    /// For each distinct fingerprint, the last page that has it.
    last: Vec<u32>,
    /// For each page, the one before it with its fingerprint.
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
        self.pages.push(page);
    }

    /// Whether it has a page of this id.
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
        self.tables.search(wanted.fingerprint, wanted.distance, work, |number, distance, work| {
            let mut at = self.last[number as usize];
            while at != END && work.spend(1) {
                let page = &self.pages[at as usize];
                if (at as usize) < pages
                    && let Some(stand_in) = wanted.stand_in(page, distance)
                {
                    found(page, distance, stand_in.held);
                }
                at = self.before[at as usize];
            }
        });
    }
}

impl Wanted<'_> {
    /// The page, which is at this distance, as one that stands for the wanted one; none if it cannot.
    fn stand_in(&self, page: &FingerprintedDocument, distance: u8) -> Option<StandIn> {
        let Some((class, signature)) = self.page else { return Some(StandIn::default()) };
        // Without a check, signatures say nothing.
        let read = |signature| if self.check.is_some() { signature } else { &[][..] };
        let asked = GroupKey { class, signature: read(signature) };
        let held = GroupKey { class: page.details.class, signature: read(&page.details.check) };
        let standing = asked.compare(held, distance.into(), self.check.as_ref()).of_first?;
        Some(StandIn { held: self.check.map(|_| standing.share()) })
    }
}
