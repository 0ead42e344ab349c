//! Rows of a segment stream past the keys of pages, or are named by those that they share.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use super::common_keys::{GROUPS_OF_BATCH, GROUPS_OF_STORE, Standing};
use super::key_index::KeyIndex;
use super::sort::{NONE, Sort, key_at};
use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::fingerprint::check::ANCHORS;
use crate::matches::numbers::{FingerprintIndex, KeepRank, Number};
use crate::matches::pair::{Pair, Place};
use crate::progress::{self, Activity};
use crate::store::{RowBytes, SCANNED_ROWS, Segment, Shown};
use crate::tables::keys::{KEY_BYTES, number_of};
use crate::work::Work;

/// How many candidates a page has at most in the store, and in the batch whatever they share with it.
pub const MOST_MET: usize = 32;

/// How many more in the batch, which share [`ALIKE`] of its eight keys: so do pages of one template, and some of these share most of their
/// text. Of pages that share one key hardly any does. In a crowd, whose pages share all of them, there are enough without these.
pub(super) const MOST_ALIKE: usize = 32;
pub(super) const ALIKE: usize = 2;

/// The blocks of a chunk of the store, and of the batch, of which each row meets more.
pub(super) const CHUNK_BLOCKS: usize = 16;
pub(super) const BATCH_CHUNK_BLOCKS: usize = 2;

pub const CHUNK_ROWS: u64 = (CHUNK_BLOCKS * SCANNED_ROWS) as u64;

/// A row that shares an anchor with a page, and the anchor.
pub type RowAnchor = (u64, u64);

#[derive(Debug)]
pub(super) struct Pages<F> {
    /// Their distinct fingerprints, and which of these each page has.
    fingerprints: Arc<[F]>,
    indices: Vec<FingerprintIndex>,
    /// The place of each page in keep order; none of a page that is asked for alone.
    pub(super) order: Vec<KeepRank>,
    /// How many shingles each page has; none of one like another page, nor where there are no sketches.
    pub(super) shingles: Vec<u32>,
    /// No candidate in the store that is farther from a page than this is one of its nearest.
    farthest: Vec<AtomicU16>,
}

/// A row that shares keys with pages of the batch.
struct Met {
    row: u64,
    /// How many rows there are with its fingerprint and its sketch, one after the other.
    rows: u64,
    keys: Vec<u8>,
    fingerprint: u128,
    /// Its sketch, once a row follows that may be a copy.
    sketch: Option<Vec<u8>>,
    /// The pages, each once, with what they share.
    pages: Vec<(Shared, u32)>,
}

/// How near two pages are by what they share: how many eighths of their keys they do not share, then the distance of their fingerprints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Shared {
    pub(super) apart: u8,
    pub(super) distance: u8,
}

impl Shared {
    fn number(self) -> u16 {
        u16::from_be_bytes([self.apart, self.distance])
    }
}

/// The nearest candidates of one page in a chunk: rows, and how many.
type Nearest = Vec<(Shared, u64, u64)>;

impl<F: Fingerprint> Pages<F> {
    pub(super) fn new(
        fingerprints: Arc<[F]>,
        indices: Vec<FingerprintIndex>,
        order: Vec<KeepRank>,
        shingles: Vec<u32>,
    ) -> Pages<F> {
        let farthest = indices.iter().map(|_| AtomicU16::new(u16::MAX)).collect();
        Pages { fingerprints, indices, order, shingles, farthest }
    }

    pub(super) fn is_before(&self, page: u32, other: u32) -> bool {
        self.order[page as usize] < self.order[other as usize]
    }

    pub(super) fn distance(&self, page: u32, other: u32) -> u8 {
        self.fingerprint_of(page).distance(self.fingerprint_of(other)) as u8
    }

    pub(super) fn index_of(&self, page: u32) -> FingerprintIndex {
        self.indices[page as usize]
    }

    fn fingerprint_of(&self, page: u32) -> F {
        self.fingerprints[self.index_of(page).index()]
    }

    /// Whether as many rows of the store as a page meets are nearer to it.
    fn is_too_far(&self, page: u32, shared: Shared) -> bool {
        self.farthest[page as usize].load(Ordering::Relaxed) < shared.number()
    }

    /// Leaves the nearest rows of a page. Of as many as there may be, the farthest is the last.
    fn keep_nearest(&self, page: u32, nearest: &mut Nearest) {
        if nearest.len() >= MOST_MET {
            let (_, farthest, _) = nearest.select_nth_unstable(MOST_MET - 1);
            self.farthest[page as usize].fetch_min(farthest.0.number(), Ordering::Relaxed);
            nearest.truncate(MOST_MET);
        }
    }
}

pub(super) struct SegmentRows<'a, F> {
    pub(super) segment: &'a Segment,
    /// Which rows are shown; of the batch all are.
    pub(super) shown: Option<Shown>,
    pub(super) fingerprint_of: &'a mut dyn FnMut(u64) -> Result<F>,
}

pub(super) struct Streaming<'a, F> {
    pages: &'a Pages<F>,
    index: &'a KeyIndex,
    stream: Option<u32>,
    rows: SegmentRows<'a, F>,
    sketches: RowBytes,
    /// The last row that met pages.
    met: Option<Met>,
    /// For each page the nearest rows of the store.
    nearest: HashMap<u32, Nearest>,
    take: &'a mut dyn FnMut(Pair),
}

impl<'a, F: Fingerprint> Streaming<'a, F> {
    /// The rows of segment `stream` of a store, or of the batch; none if the segment has no sketches.
    pub(super) fn new(
        pages: &'a Pages<F>,
        index: &'a KeyIndex,
        stream: Option<u32>,
        rows: SegmentRows<'a, F>,
        take: &'a mut dyn FnMut(Pair),
    ) -> Option<Streaming<'a, F>> {
        let sketches = rows.segment.checks()?;
        let (met, nearest) = (None, HashMap::new());
        Some(Streaming { pages, index, stream, rows, sketches, met, nearest, take })
    }

    /// Takes the rows of a block. Returns how many of them share a key.
    pub(super) fn block(&mut self, keys_of: &mut RowBytes, block: usize) -> Result<u64> {
        let KeyIndex { sort, places, .. } = self.index;
        let (numbers, block) = keys_of.block_of(block)?;
        let rows: Vec<&[u8]> = block.each().collect();
        // The row in the block, and which of its keys.
        let mut passed: Vec<(usize, usize)> = Vec::new();
        // One place after the other, so that the bitmap of a place stays in the cache.
        for (place, keys) in places.iter().enumerate() {
            let shares = |row: &[u8]| {
                let key = key_at(row, place);
                keys.may_have(key) && key != NONE
            };
            let rows = rows.iter().enumerate().filter(|it| shares(it.1));
            passed.extend(rows.map(|(row, _)| (row, place)));
        }
        for (number, row) in rows.iter().enumerate() {
            for at in places.len()..row.len() / KEY_BYTES {
                let key = key_at(row, at);
                if places[usize::from(sort.place_of(at, key))].may_have(key) {
                    passed.push((number, at));
                }
            }
        }
        passed.sort_unstable();
        let mut sharing = 0;
        for passed in passed.chunk_by(|one, other| one.0 == other.0) {
            let at = passed[0].0;
            let keys = passed.iter().map(|it| it.1);
            let shares = self.row(numbers.start + at as u64, rows[at], keys)?;
            sharing += u64::from(shares);
        }
        Ok(sharing)
    }

    /// Takes a row that may share some of its keys: `which` numbers these. Returns whether it shares one.
    fn row(&mut self, row: u64, keys: &[u8], which: impl Iterator<Item = usize>) -> Result<bool> {
        progress::tick(Activity::Working);
        let is_shown = self.rows.shown.as_mut().map_or(Ok(true), |shown| shown.get(row))?;
        if !is_shown {
            return Ok(false);
        }
        if self.is_copy(row, keys)? {
            return Ok(true);
        }
        self.leave();
        let mut pages: Vec<u32> = Vec::new();
        let mut fingerprint = None;
        for at in which {
            let index = self.index;
            let key = key_at(keys, at);
            let place = index.sort.place_of(at, key);
            let mut shared = index.places[usize::from(place)].with(key);
            if !shared.is_empty()
                && let Some(common) = index.common.get(place, key)
            {
                let fingerprint = self.rows.fingerprint(row, &mut fingerprint)?;
                let groups = if self.stream.is_none() { GROUPS_OF_BATCH } else { GROUPS_OF_STORE };
                let own = Sort::behind(index.sort.bytes_of(keys), place);
                let reached = common.around(groups, |(other, page)| {
                    (other, self.pages.fingerprint_of(page)) < (own, fingerprint)
                });
                let standing = |number: u32| index.standing(place, number);
                let before =
                    |start: Standing| shared.partition_point(|&it| standing(number_of(it)) < start);
                shared = &shared[before(reached.start)..before(reached.end)];
                if self.stream.is_none() {
                    let is_reached =
                        |page: u32| reached.contains(&standing(page - index.pages.start));
                    let first = common.first(index.pages.clone());
                    pages.extend(first.filter(|&page| !is_reached(page)));
                }
            }
            pages.extend(shared.iter().map(|&entry| index.pages.start + number_of(entry)));
        }
        pages.sort_unstable();
        if pages.is_empty() {
            return Ok(false);
        }
        let fingerprint = self.rows.fingerprint(row, &mut fingerprint)?;
        let places = self.index.places.len();
        let bytes = self.index.sort.bytes_of(keys);
        let is_earlier = |page: &&[u32]| {
            let place = |page: u32| self.pages.order[page as usize];
            self.stream.is_some() || place(page[0]) < place(row as u32)
        };
        let pages =
            pages.chunk_by(|one, other| one == other).filter(is_earlier).filter_map(|same| {
                let page = same[0];
                let shared = same.len().max(self.index.equal_keys(page, bytes));
                let apart = (places.saturating_sub(shared) * ANCHORS / places) as u8;
                if self.stream.is_some()
                    && self.pages.is_too_far(page, Shared { apart, distance: 0 })
                {
                    return None;
                }
                let distance = fingerprint.distance(self.pages.fingerprint_of(page)) as u8;
                Some((Shared { apart, distance }, page))
            });
        let (pages, keys) = (pages.collect(), keys.to_vec());
        let fingerprint = fingerprint.to_u128();
        self.met = Some(Met { row, rows: 1, keys, fingerprint, sketch: None, pages });
        Ok(true)
    }

    /// Whether a row is a copy of the last one that met pages, in its chunk. It then goes with that one.
    fn is_copy(&mut self, row: u64, keys: &[u8]) -> Result<bool> {
        let follows = |met: &&mut Met| {
            met.row + met.rows == row && !row.is_multiple_of(CHUNK_ROWS) && met.keys == keys
        };
        let Some(met) = self.met.as_mut().filter(follows) else { return Ok(false) };
        if (self.rows.fingerprint_of)(row)?.to_u128() != met.fingerprint {
            return Ok(false);
        }
        let sketch = match &mut met.sketch {
            Some(sketch) => sketch,
            none => none.insert(self.sketches.get(met.row)?.to_vec()),
        };
        let is_copy = self.sketches.get(row)? == sketch;
        met.rows += u64::from(is_copy);
        Ok(is_copy)
    }

    fn leave(&mut self) {
        let Some(Met { row, rows, mut pages, .. }) = self.met.take() else { return };
        if self.stream.is_none() {
            let row = row as u32;
            let place = |&(_, page): &(Shared, u32)| self.pages.order[page as usize];
            nearest_and_first(&mut pages, |it| it.0.apart, place);
            for (Shared { apart, distance }, other) in pages {
                let existing = Place::BatchRow { page: row, apart, row: other };
                (self.take)(Pair { new: self.pages.index_of(row), existing, distance });
            }
            return;
        }
        for (shared, page) in pages {
            if self.pages.is_too_far(page, shared) {
                continue;
            }
            let nearest = self.nearest.entry(page).or_default();
            nearest.push((shared, row, rows));
            if nearest.len() >= 2 * MOST_MET {
                self.pages.keep_nearest(page, nearest);
            }
        }
    }

    /// Hands on the nearest rows of each page.
    pub(super) fn finish(&mut self) {
        self.leave();
        let Some(segment) = self.stream else { return };
        let mut all: Vec<(u32, Nearest)> = self.nearest.drain().collect();
        all.sort_unstable();
        for (page, mut nearest) in all {
            self.pages.keep_nearest(page, &mut nearest);
            let new = self.pages.index_of(page);
            for (Shared { apart, distance }, row, rows) in nearest {
                let existing = Place::StoreRow { page, apart, segment, row, rows };
                (self.take)(Pair { new, existing, distance });
            }
        }
    }

    /// Takes rows that share anchors with the one page, those first that share most: once there are enough, the others can be no nearer.
    pub(super) fn sharing(&mut self, mut rows: Vec<RowAnchor>, work: &mut Work<'_>) -> Result<()> {
        let apart = |anchors: &[RowAnchor]| ANCHORS.saturating_sub(anchors.len()) as u8;
        rows.sort_unstable();
        let mut rows: Vec<&[RowAnchor]> = rows.chunk_by(|one, other| one.0 == other.0).collect();
        rows.sort_by_key(|anchors| apart(anchors));
        let mut shared = Vec::new();
        for alike in rows.chunk_by(|one, other| apart(one) == apart(other)) {
            for anchors in alike {
                if !work.spend(1) {
                    return Ok(());
                }
                shared.clear();
                for (_, anchor) in *anchors {
                    shared.extend(&anchor.to_le_bytes()[..KEY_BYTES]);
                }
                self.row(anchors[0].0, &shared, 0..anchors.len())?;
            }
            self.leave();
            let apart = apart(alike[0]);
            let nearest = self.nearest.entry(0).or_default();
            self.pages.keep_nearest(0, nearest);
            if nearest.get(MOST_MET - 1).is_some_and(|it| it.0.apart <= apart) {
                break;
            }
        }
        Ok(())
    }
}

impl<F: Fingerprint> SegmentRows<'_, F> {
    fn fingerprint(&mut self, row: u64, known: &mut Option<F>) -> Result<F> {
        if let Some(known) = known {
            return Ok(*known);
        }
        let fingerprint = (self.fingerprint_of)(row)?;
        Ok(*known.insert(fingerprint))
    }
}

/// Leaves the least ones, half of [`MOST_MET`], of the others [`MOST_ALIKE`] at most that share [`ALIKE`] keys, unless the least ones share all,
/// and again half of [`MOST_MET`] that come first in keep order. `apart` is what the order of `T` begins with.
pub(crate) fn nearest_and_first<T: Ord>(
    all: &mut Vec<T>,
    apart: impl Fn(&T) -> u8,
    place: impl Fn(&T) -> KeepRank,
) {
    const HALF: usize = MOST_MET / 2;
    if all.len() <= MOST_MET {
        return;
    }
    let (_, last, others) = all.select_nth_unstable(HALF - 1);
    let alike = others.iter().filter(|it| usize::from(apart(it)) + ALIKE <= ANCHORS).count();
    let alike = if apart(last) == 0 { 0 } else { alike.min(MOST_ALIKE) };
    if alike > 0 {
        others.select_nth_unstable(alike - 1);
    }
    let others = &mut others[alike..];
    if others.len() > HALF {
        others.select_nth_unstable_by_key(HALF, place);
        all.truncate(MOST_MET + alike);
    }
}
