//! Candidates by shared keys: pages that share much of their text, or near vectors, however far apart their fingerprints are.
//!
//! A page has two sorts of keys. Its eight [anchors](crate::fingerprint::check) are of each eighth of its shingles the one with the least
//! hash. Two pages of which one contains most of the other one share most of these; a page that stands whole in one of five times its
//! length shares one or two. The keys of its [bands](crate::lsh), if it has some, agree where its hashes of a family do. This is Google's
//! batch query with equality in place of distance: the keys of the batch are sorted, those of the store and of the batch itself
//! stream past them.
//!
//! ```text
//! store, block by block         keys of the batch (place, key -> pages)            the nearest by fingerprint
//! row 7: [a1 | a2 | a3 ...] --> (1, a1) -> 4;  (2, a2) -> -;  (3, a3) -> 4, 9      (4, row 7), (9, row 7)
//! ```
//!
//! What thousands of pages share, such as the text of a template, is a key of all of them. Two bounds keep that linear. A
//! [common key](common) leads to the pages whose fingerprints are next in order. And of all that a page meets, the
//! [`MOST_MET`] that share most keys with it are its candidates; of those that share as many, the nearest by fingerprint.
//! Neither depends on how much memory there is.

mod alone;
mod common;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex};

pub(crate) use alone::{Anchored, AnchoredRows, RowAnchor};
use common::CommonKeys;

use super::distinct::each_distinct;
use super::numbers::FingerprintIndex;
use super::pair::{Pair, Place};
use super::similarity::Confirm;
use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::fingerprint::check::{ANCHOR_BYTES, ANCHORS, Check};
use crate::parallel::{in_parallel, lock};
use crate::progress::{self, Activity};
use crate::store::{Column, Dated, RowBytes, SCANNED_ROWS, Segment, Shown};
use crate::tables::keys::{KEY_BYTES, Keys, entry, key_of, memory_of, most_numbers, number_of};

/// How many candidates a page has at most: in the batch, and in the store.
pub(crate) const MOST_MET: usize = 32;

/// The blocks of a chunk.
const CHUNK_BLOCKS: usize = 16;

/// The rows of a chunk.
pub(crate) const CHUNK_ROWS: u64 = (CHUNK_BLOCKS * SCANNED_ROWS) as u64;

const _: () = assert!(ANCHOR_BYTES == KEY_BYTES);

/// The bytes of the anchors of a row.
const WIDTH: usize = ANCHORS * KEY_BYTES;

/// The key of a page that has none in this place.
const NONE: u64 = (1 << (8 * KEY_BYTES)) - 1;

/// The keys by which pages meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    Anchors,
    Bands,
}

impl Sort {
    fn column(self) -> Column {
        match self {
            Sort::Anchors => Column::Anchors,
            Sort::Bands => Column::Bands,
        }
    }

    /// Looks up the keys of a segment.
    fn keys(self, segment: &Segment) -> Option<RowBytes> {
        match self {
            Sort::Anchors => segment.anchors(),
            Sort::Bands => segment.bands(),
        }
    }

    /// How many keys a page has.
    fn places(self, segment: &Segment) -> usize {
        let bytes = match self {
            Sort::Anchors => segment.anchor_bytes(),
            Sort::Bands => segment.band_bytes(),
        };
        bytes / KEY_BYTES
    }
}

/// A batch, and the segments whose keys stream past its own. Shared by the workers of a process.
#[derive(Debug)]
pub(crate) struct KeyProbe<F> {
    batch: Segment,
    store: Vec<Dated>,
    pages: Pages<F>,
    /// The chunks.
    units: Vec<Unit>,
    /// The keys that are in memory.
    index: Mutex<Option<Arc<KeyIndex>>>,
    workers: usize,
}

/// The pages past which rows stream.
#[derive(Debug)]
struct Pages<F> {
    /// Their distinct fingerprints, and the first page with each.
    fingerprints: Arc<[F]>,
    starts: Vec<u32>,
    /// No candidate in the store that is farther from a page than this is one of its nearest.
    farthest: Vec<AtomicU16>,
}

/// What anchors cost a join.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AnchorCost {
    /// How often they are read: once for each part of the batch whose anchors fit into memory.
    pub passes: u64,
    /// The bytes that are read, those of the batch among them.
    pub bytes_read: u64,
    /// The memory that those of a part of the batch take, in each process.
    pub memory_bytes: u64,
}

impl AnchorCost {
    /// That of a `batch` and a `store` of so many pages with a check, in so much memory. A check without a direction has no anchors.
    #[must_use]
    pub fn of(batch: u64, store: u64, check: Option<Check>, memory_bytes: u64) -> AnchorCost {
        let bytes = check.map_or(0, Check::anchor_bytes) as u64;
        if bytes == 0 {
            return AnchorCost::default();
        }
        let most = most_numbers(ANCHORS, memory_bytes as usize) as u64;
        let passes = batch.div_ceil(most);
        let counted = if passes > 1 { 2 * batch } else { 0 };
        let all = batch.saturating_add(store).saturating_add(counted);
        let bytes_read = all.saturating_mul(bytes * passes);
        AnchorCost { passes, bytes_read, memory_bytes: memory_of(ANCHORS, batch.min(most)) }
    }
}

/// What a chunk streams past what.
#[derive(Debug)]
struct Unit {
    sort: Sort,
    /// The pages of the batch whose keys are in memory.
    pages: Range<u32>,
    /// For more pages than fit, everything is read several times: how often.
    passes: u32,
    /// What streams: a segment of the store, or the batch itself, and which blocks.
    stream: Option<u32>,
    blocks: Range<usize>,
}

/// The keys of consecutive pages of a batch.
#[derive(Debug)]
struct KeyIndex {
    sort: Sort,
    pages: Range<u32>,
    places: Vec<Keys>,
    common: Arc<CommonKeys>,
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
struct Shared {
    apart: u8,
    distance: u8,
}

impl Shared {
    fn number(self) -> u16 {
        u16::from_be_bytes([self.apart, self.distance])
    }
}

/// The nearest candidates of one page in a chunk: rows, and how many.
type Nearest = Vec<(Shared, u64, u64)>;

impl<F: Fingerprint> KeyProbe<F> {
    /// Prepares to probe a `store` and the `batch` itself, whose distinct `fingerprints` these are, with keys of the batch in
    /// `memory_bytes`. All processes must have the same memory. There is nothing to probe unless the `check` compares whole pages.
    ///
    /// # Errors
    /// Damage is [`Kind::BadData`](crate::Kind::BadData).
    pub(crate) fn new(
        batch: &Segment,
        store: &[Dated],
        fingerprints: Arc<[F]>,
        check: Option<Confirm>,
        memory_bytes: usize,
        workers: usize,
    ) -> Result<KeyProbe<F>> {
        let is_whole = check.is_some_and(|confirm| confirm.check.is_whole());
        let mut units = Vec::new();
        for sort in [Sort::Anchors, Sort::Bands].into_iter().filter(|_| is_whole) {
            units_of(sort, batch, store, memory_bytes, &mut units);
        }
        let mut starts = Vec::new();
        let rows = if units.is_empty() { 0 } else { batch.rows() };
        if rows > 0 {
            each_distinct::<F>(batch, |_, row| starts.push(row))?;
        }
        Ok(KeyProbe {
            batch: batch.clone(),
            store: store.to_vec(),
            pages: Pages::new(fingerprints, starts, rows),
            units,
            index: Mutex::default(),
            workers,
        })
    }

    /// How many chunks there are: the portions of store and batch, as many times as they are read.
    pub(crate) fn chunks(&self) -> u32 {
        self.units.len() as u32
    }

    /// How many of these read a portion once more, because the keys of the batch do not fit into memory.
    pub(crate) fn repeated(&self) -> u32 {
        self.units.iter().filter(|unit| unit.pages.start > 0).count() as u32
    }

    /// Probes a chunk, and gives what is found to `take`.
    ///
    /// # Errors
    /// Damage is [`Kind::BadData`](crate::Kind::BadData).
    pub(crate) fn probe(&self, chunk: u32, take: &mut dyn FnMut(Pair)) -> Result<()> {
        let unit = &self.units[chunk as usize];
        let index = self.index(unit)?;
        let dated = unit.stream.map(|number| &self.store[number as usize]);
        let segment = dated.map_or(&self.batch, Dated::segment);
        let mut fingerprints = segment.fingerprints();
        let mut fingerprint_of = |row| fingerprints.get(row).map(F::from_u128);
        let rows = SegmentRows {
            segment,
            shown: dated.map(Dated::shown),
            fingerprint_of: &mut fingerprint_of,
        };
        let (Some(mut keys), Some(mut streaming)) =
            (unit.sort.keys(segment), Streaming::new(&self.pages, &index, unit.stream, rows, take))
        else {
            return Ok(());
        };
        for block in unit.blocks.clone() {
            streaming.block(&mut keys, block)?;
        }
        streaming.finish();
        Ok(())
    }

    /// The keys that the chunk streams past.
    fn index(&self, unit: &Unit) -> Result<Arc<KeyIndex>> {
        let mut held = lock(&self.index);
        if let Some(index) = &*held
            && (index.sort, &index.pages) == (unit.sort, &unit.pages)
        {
            return Ok(Arc::clone(index));
        }
        let last = held.take().filter(|last| last.sort == unit.sort);
        let common = last.map(|last| Arc::clone(&last.common));
        let index = Arc::new(KeyIndex::of(&self.batch, unit, common, self.workers)?);
        *held = Some(Arc::clone(&index));
        Ok(index)
    }
}

impl<F: Fingerprint> Pages<F> {
    fn new(fingerprints: Arc<[F]>, starts: Vec<u32>, pages: u64) -> Pages<F> {
        let farthest = (0..pages).map(|_| AtomicU16::new(u16::MAX)).collect();
        Pages { fingerprints, starts, farthest }
    }

    /// The number of the fingerprint of a page.
    fn index_of(&self, page: u32) -> FingerprintIndex {
        FingerprintIndex::from(self.starts.partition_point(|&start| start <= page) as u32 - 1)
    }

    fn fingerprint_of(&self, page: u32) -> F {
        self.fingerprints[u32::from(self.index_of(page)) as usize]
    }
}

/// The chunks of a sort of keys: all portions of the store and of the batch, for all pages whose keys fit into memory at once, then for the
/// next ones.
fn units_of(
    sort: Sort,
    batch: &Segment,
    store: &[Dated],
    memory_bytes: usize,
    units: &mut Vec<Unit>,
) {
    let places = sort.places(batch);
    if places == 0 {
        return;
    }
    let (rows, most) = (batch.rows() as u32, most_numbers(places, memory_bytes) as u32);
    let passes = rows.div_ceil(most);
    for first in (0..rows).step_by(most as usize) {
        let pages = first..first.saturating_add(most).min(rows);
        let streams = (0..).zip(store).map(|(number, dated)| (Some(number), dated.segment()));
        for (stream, segment) in streams.chain([(None, batch)]) {
            let blocks = segment.blocks_of(sort.column());
            units.extend((0..blocks).step_by(CHUNK_BLOCKS).map(|it| {
                let blocks = it..blocks.min(it + CHUNK_BLOCKS);
                Unit { sort, pages: pages.clone(), passes, stream, blocks }
            }));
        }
    }
}

impl KeyIndex {
    /// The keys of the pages of a unit. Which keys are common in the batch is known to the unit before.
    fn of(
        batch: &Segment,
        unit: &Unit,
        common: Option<Arc<CommonKeys>>,
        workers: usize,
    ) -> Result<KeyIndex> {
        let Unit { sort, ref pages, passes, .. } = *unit;
        let common = match common {
            None if passes > 1 => Some(CommonKeys::of(batch, sort, passes)?.into()),
            known => known,
        };
        let mut places: Vec<Vec<u64>> = vec![Vec::new(); sort.places(batch)];
        each_key(batch, sort, pages.clone(), |place, key, page| {
            places[place].push(entry(key, page - pages.start));
        })?;
        let places = in_parallel(workers, &places, |entries| Keys::of(entries.clone()));
        let common = common.unwrap_or_else(|| CommonKeys::among(&places).into());
        Ok(KeyIndex { sort, pages: pages.clone(), places, common })
    }
}

/// Calls `take` with each key of these pages of the batch: its place, and the page. Of pages with one fingerprint and one sketch, the first one is
/// enough.
fn each_key(
    batch: &Segment,
    sort: Sort,
    pages: Range<u32>,
    mut take: impl FnMut(usize, u64, u32),
) -> Result<()> {
    let (Some(mut keys_of), Some(mut sketches)) = (sort.keys(batch), batch.checks()) else {
        return Ok(());
    };
    let mut fingerprints = batch.fingerprints();
    let (mut last, mut last_sketch) = (Vec::new(), Vec::new());
    // From the row before them on, of which the first one may be a copy.
    for page in pages.start.saturating_sub(1)..pages.end {
        progress::tick(Activity::Working);
        let row = u64::from(page);
        let keys = keys_of.get(row)?;
        let is_like_last = last == keys;
        if is_like_last && fingerprints.get(row)? == fingerprints.get(row - 1)? {
            let is_copy = last_sketch == sketches.get(row)?;
            if is_copy {
                continue;
            }
        }
        if !is_like_last {
            last.clear();
            last.extend_from_slice(keys);
        }
        last_sketch.clear();
        last_sketch.extend_from_slice(sketches.get(row)?);
        if pages.contains(&page) {
            let keys = keys.as_chunks().0.iter().map(key_of).enumerate();
            keys.filter(|&(_, key)| key != NONE).for_each(|(place, key)| take(place, key, page));
        }
    }
    Ok(())
}

/// What is read of the rows of a segment.
struct SegmentRows<'a, F> {
    segment: &'a Segment,
    /// Which rows are shown; of the batch all are.
    shown: Option<Shown>,
    fingerprint_of: &'a mut dyn FnMut(u64) -> Result<F>,
}

/// Rows that stream past the keys of pages.
struct Streaming<'a, F> {
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
    fn new(
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
    fn block(&mut self, keys_of: &mut RowBytes, block: usize) -> Result<u64> {
        let width = self.index.places.len() * KEY_BYTES;
        let mut passed: Vec<(u32, u8)> = Vec::new();
        let Some((rows, bytes)) = keys_of.rows_of(block)? else { return Ok(0) };
        // One place after the other, so that the bitmap of a place stays in the cache.
        for (place, keys) in (0..).zip(&self.index.places) {
            for (row, bytes) in (0..).zip(bytes.chunks_exact(width)) {
                let key = key_at(bytes, place);
                if keys.may_have(key) && key != NONE {
                    passed.push((row, place));
                }
            }
        }
        passed.sort_unstable();
        let mut sharing = 0;
        for passed in passed.chunk_by(|one, other| one.0 == other.0) {
            let at = passed[0].0 as usize;
            let places = passed.iter().map(|it| it.1);
            let shares = self.row(rows.start + at as u64, &bytes[at * width..][..width], places)?;
            sharing += u64::from(shares);
        }
        Ok(sharing)
    }

    /// Takes a row that may share a key in each of these `places`. Returns whether it does.
    fn row(&mut self, row: u64, keys: &[u8], places: impl Iterator<Item = u8>) -> Result<bool> {
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
        for place in places {
            let index = self.index;
            let key = key_at(keys, place);
            let mut shared = index.places[place as usize].with(key);
            if !shared.is_empty()
                && let Some(common) = index.common.get(place, key)
            {
                let fingerprint = self.rows.fingerprint(row, &mut fingerprint)?;
                let reached = common.around(|page| self.pages.fingerprint_of(page) < fingerprint);
                let before = |page: u32| {
                    shared.partition_point(|&it| index.pages.start + number_of(it) < page)
                };
                shared = &shared[before(reached.start)..before(reached.end)];
            }
            pages.extend(shared.iter().map(|&entry| index.pages.start + number_of(entry)));
        }
        pages.sort_unstable();
        if pages.is_empty() {
            return Ok(false);
        }
        let fingerprint = self.rows.fingerprint(row, &mut fingerprint)?;
        let places = self.index.places.len();
        let pages = pages.chunk_by(|one, other| one == other).map(|same| {
            let distance = fingerprint.distance(self.pages.fingerprint_of(same[0])) as u8;
            let apart = (places - same.len()) * ANCHORS / places;
            (Shared { apart: apart as u8, distance }, same[0])
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

    /// Hands on what the last row met.
    fn leave(&mut self) {
        let Some(Met { row, rows, mut pages, .. }) = self.met.take() else { return };
        if self.stream.is_none() {
            let row = row as u32;
            // Each pair once: of a page with those before it.
            pages.retain(|&(_, page)| page < row);
            keep_nearest(&mut pages);
            for (Shared { apart, distance }, other) in pages {
                let existing = Place::BatchRow { page: row, apart, row: other };
                (self.take)(Pair { new: self.pages.index_of(row), existing, distance });
            }
            return;
        }
        for (shared, page) in pages {
            if self.pages.farthest[page as usize].load(Ordering::Relaxed) < shared.number() {
                continue;
            }
            let nearest = self.nearest.entry(page).or_default();
            nearest.push((shared, row, rows));
            if nearest.len() >= 2 * MOST_MET {
                keep_nearest(nearest);
            }
        }
    }

    /// Hands on the nearest rows of each page.
    fn finish(&mut self) {
        self.leave();
        let Some(segment) = self.stream else { return };
        let mut all: Vec<(u32, Nearest)> = self.nearest.drain().collect();
        all.sort_unstable();
        for (page, mut nearest) in all {
            keep_nearest(&mut nearest);
            if let Some((farthest, ..)) = nearest.get(MOST_MET - 1) {
                self.pages.farthest[page as usize].fetch_min(farthest.number(), Ordering::Relaxed);
            }
            let new = self.pages.index_of(page);
            for (Shared { apart, distance }, row, rows) in nearest {
                let existing = Place::StoreRow { page, apart, segment, row, rows };
                (self.take)(Pair { new, existing, distance });
            }
        }
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

/// The anchors of a page, each with its place.
pub(crate) fn anchors_of(anchors: &[u8]) -> impl Iterator<Item = (u8, u64)> + Clone {
    let keys = (0..).zip(anchors.as_chunks().0).map(|(place, key)| (place, key_of(key)));
    keys.filter(|&(_, key)| key != NONE)
}

/// The key in a place.
fn key_at(keys: &[u8], place: u8) -> u64 {
    key_of(keys[KEY_BYTES * usize::from(place)..].first_chunk().expect("a key in each place"))
}

/// Leaves the least ones.
fn keep_nearest<T: Ord>(all: &mut Vec<T>) {
    all.sort_unstable();
    all.truncate(MOST_MET);
}

#[cfg(test)]
mod tests;
