//! Candidates by anchors: pages that share much of their text, however far apart their fingerprints are.
//!
//! Each page has eight [anchors](crate::fingerprint::check): of each eighth of its shingles the one with the least hash. Two pages of which one
//! contains most of the other one share most of these; a page that stands whole in one of five times its length shares one or two. This is Google's
//! batch query with equality in place of distance: the anchors of the batch are sorted, those of the store and of the batch itself
//! stream past them.
//!
//! ```text
//! store, block by block         anchors of the batch (place, anchor -> pages)      the nearest by fingerprint
//! row 7: [a1 | a2 | a3 ...] --> (1, a1) -> 4;  (2, a2) -> -;  (3, a3) -> 4, 9      (4, row 7), (9, row 7)
//! ```
//!
//! What thousands of pages share, such as the text of a template, is an anchor of all of them. Two bounds keep that linear. An anchor
//! leads to [`MOST_SHARED`] pages at most, those whose fingerprints are next in order. And of all that a page meets, the
//! [`MOST_MET`] that share most anchors with it are its candidates; of those that share as many, the nearest by fingerprint.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex};

use super::distinct::each_distinct;
use super::numbers::FingerprintIndex;
use super::pair::{Pair, Place};
use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::fingerprint::check::{ANCHOR_BYTES, ANCHORS};
use crate::parallel::{in_parallel, lock};
use crate::progress::{self, Activity};
use crate::store::{Column, Dated, Fingerprints, RowBytes, Segment, Shown};
use crate::tables::keys::{KEY_BYTES, Keys, entry, key_of, most_numbers, number_of};

/// To how many pages of the batch an anchor leads.
const MOST_SHARED: usize = 1 << 9;

/// How many candidates a page has at most: in the batch, and in the store.
pub(super) const MOST_MET: usize = 32;

/// The blocks of a chunk.
const CHUNK_BLOCKS: usize = 16;

const _: () = assert!(ANCHOR_BYTES == KEY_BYTES);

/// The anchor of a page that has none in this place.
const NONE: u64 = (1 << (8 * KEY_BYTES)) - 1;

/// A batch, and the segments whose anchors stream past its own. Shared by the workers of a process.
#[derive(Debug)]
pub(crate) struct AnchorProbe<F> {
    batch: Segment,
    store: Vec<Dated>,
    /// The distinct fingerprints of the batch, and the first row of each.
    fingerprints: Arc<[F]>,
    starts: Vec<u32>,
    /// What a chunk streams: a segment of the store, or the batch itself, and which blocks.
    units: Vec<(Option<u32>, Range<usize>)>,
    /// How many pages have their anchors in memory at once. For more pages, everything is read several times.
    most: usize,
    /// The anchors that are in memory, and of which pass they are.
    index: Mutex<Option<(u64, Arc<AnchorIndex>)>>,
    /// No candidate in the store that is farther from a page than this is one of its nearest.
    farthest: Vec<AtomicU16>,
    workers: usize,
}

/// The anchors of consecutive pages of a batch.
#[derive(Debug)]
struct AnchorIndex {
    first: u32,
    places: Vec<Keys>,
}

/// A row that shares anchors with pages of the batch.
struct Met {
    row: u64,
    /// How many rows there are with its fingerprint and its sketch, one after the other.
    rows: u64,
    anchors: Vec<u8>,
    fingerprint: u128,
    sketch: Vec<u8>,
    /// The pages, each once, with what they share.
    pages: Vec<(Shared, u32)>,
}

/// How near two pages are by what they share: how many anchors they do not share, then the distance of their fingerprints.
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

impl<F: Fingerprint> AnchorProbe<F> {
    /// Prepares to probe a `store` and the `batch` itself, whose distinct `fingerprints` these are, with anchors of the batch in
    /// `memory_bytes`. All processes must have the same memory.
    ///
    /// # Errors
    /// Damage is [`Kind::BadData`](crate::Kind::BadData).
    pub(crate) fn new(
        batch: &Segment,
        store: &[Dated],
        fingerprints: Arc<[F]>,
        memory_bytes: usize,
        workers: usize,
    ) -> Result<AnchorProbe<F>> {
        let has_anchors = batch.anchor_bytes() == ANCHORS * ANCHOR_BYTES;
        let mut starts = Vec::new();
        let mut units = Vec::new();
        if has_anchors {
            each_distinct::<F>(batch, |_, row| starts.push(row))?;
            let streams = (0..).zip(store).map(|(number, dated)| (Some(number), dated.segment()));
            for (stream, segment) in streams.chain([(None, batch)]) {
                let blocks = segment.blocks_of(Column::Anchors);
                let firsts = (0..blocks).step_by(CHUNK_BLOCKS);
                units.extend(firsts.map(|it| (stream, it..blocks.min(it + CHUNK_BLOCKS))));
            }
        }
        let rows = if has_anchors { batch.rows() } else { 0 };
        Ok(AnchorProbe {
            batch: batch.clone(),
            store: store.to_vec(),
            fingerprints,
            starts,
            units,
            most: most_numbers(ANCHORS, memory_bytes),
            index: Mutex::default(),
            farthest: (0..rows).map(|_| AtomicU16::new(u16::MAX)).collect(),
            workers,
        })
    }

    /// How many chunks there are: the portions of store and batch, as many times as they are read.
    pub(crate) fn chunks(&self) -> u32 {
        let passes = self.farthest.len().div_ceil(self.most);
        (self.units.len() * passes) as u32
    }

    /// How many of these read a portion once more, because the anchors of the batch do not fit into memory.
    pub(crate) fn repeated(&self) -> u32 {
        self.chunks().saturating_sub(self.units.len() as u32)
    }

    /// Probes a chunk, and gives what is found to `take`. Returns how many pairs share an anchor.
    ///
    /// # Errors
    /// Damage is [`Kind::BadData`](crate::Kind::BadData).
    pub(crate) fn probe(&self, chunk: u32, take: &mut dyn FnMut(Pair)) -> Result<()> {
        let units = self.units.len() as u32;
        let index = self.index((chunk / units).into())?;
        let (stream, blocks) = &self.units[(chunk % units) as usize];
        let dated = stream.map(|number| &self.store[number as usize]);
        let segment = dated.map_or(&self.batch, Dated::segment);
        let (Some(anchors), Some(sketches)) = (segment.anchors(), segment.checks()) else {
            return Ok(());
        };
        let mut streaming = Streaming {
            probe: self,
            index: &index,
            stream: *stream,
            fingerprints: segment.fingerprints(),
            sketches,
            shown: dated.map(Dated::shown),
            met: None,
            nearest: HashMap::new(),
            take,
        };
        streaming.blocks(anchors, blocks.clone())?;
        streaming.finish();
        Ok(())
    }

    /// The anchors of the pages of a pass.
    fn index(&self, pass: u64) -> Result<Arc<AnchorIndex>> {
        let mut held = lock(&self.index);
        if let Some((of, index)) = &*held
            && *of == pass
        {
            return Ok(Arc::clone(index));
        }
        *held = None;
        let first = pass as usize * self.most;
        let end = (first + self.most).min(self.farthest.len());
        let index = Arc::new(AnchorIndex::of(&self.batch, first..end, self.workers)?);
        *held = Some((pass, Arc::clone(&index)));
        Ok(index)
    }

    /// The number of the fingerprint of a row of the batch.
    fn index_of(&self, row: u32) -> FingerprintIndex {
        FingerprintIndex::from(self.starts.partition_point(|&start| start <= row) as u32 - 1)
    }

    fn fingerprint_of(&self, row: u32) -> F {
        self.fingerprints[u32::from(self.index_of(row)) as usize]
    }
}

impl AnchorIndex {
    /// The anchors of the pages in these rows. Of pages with one fingerprint and one sketch, the first one is enough.
    fn of(batch: &Segment, rows: Range<usize>, workers: usize) -> Result<AnchorIndex> {
        let first = rows.start as u32;
        let mut places: [Vec<u64>; ANCHORS] = Default::default();
        let (Some(mut anchors), Some(mut sketches)) = (batch.anchors(), batch.checks()) else {
            return Ok(AnchorIndex { first, places: Vec::new() });
        };
        let mut fingerprints = batch.fingerprints();
        let (mut last, mut last_sketch) = (Vec::new(), Vec::new());
        // From the row before them on, of which the first one may be a copy.
        for row in rows.start.saturating_sub(1)..rows.end {
            progress::tick(Activity::Working);
            let is_before = row < rows.start;
            let row = row as u64;
            let keys = anchors.get(row)?;
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
            for (place, key) in places.iter_mut().zip(keys.as_chunks().0) {
                if key_of(key) != NONE && !is_before {
                    place.push(entry(key_of(key), row as u32 - first));
                }
            }
            last_sketch.extend_from_slice(sketches.get(row)?);
        }
        let places = in_parallel(workers, &places, |entries| Keys::of(entries.clone()));
        Ok(AnchorIndex { first, places })
    }
}

/// Rows that stream past the anchors of a batch.
struct Streaming<'a, F> {
    probe: &'a AnchorProbe<F>,
    index: &'a AnchorIndex,
    stream: Option<u32>,
    fingerprints: Fingerprints,
    sketches: RowBytes,
    /// Which rows are shown; of the batch all are.
    shown: Option<Shown>,
    /// The last row that met pages.
    met: Option<Met>,
    /// For each page of the batch the nearest rows of the store.
    nearest: HashMap<u32, Nearest>,
    take: &'a mut dyn FnMut(Pair),
}

impl<F: Fingerprint> Streaming<'_, F> {
    fn blocks(&mut self, mut anchors: RowBytes, blocks: Range<usize>) -> Result<()> {
        const WIDTH: usize = ANCHORS * KEY_BYTES;
        let mut passed: Vec<(u32, u8)> = Vec::new();
        for block in blocks {
            let Some((rows, bytes)) = anchors.rows_of(block)? else { break };
            passed.clear();
            // One place after the other, so that the bitmap of a place stays in the cache.
            for (place, keys) in (0..).zip(&self.index.places) {
                for (row, bytes) in (0..).zip(bytes.chunks_exact(WIDTH)) {
                    let key = key_at(bytes, place);
                    if keys.may_have(key) && key != NONE {
                        passed.push((row, place));
                    }
                }
            }
            passed.sort_unstable();
            for passed in passed.chunk_by(|one, other| one.0 == other.0) {
                let at = passed[0].0 as usize;
                let anchors = &bytes[at * WIDTH..][..WIDTH];
                self.row(rows.start + at as u64, anchors, passed)?;
            }
        }
        self.leave();
        Ok(())
    }

    /// Takes a row that may share an anchor in each of the places that `passed`.
    fn row(&mut self, row: u64, anchors: &[u8], passed: &[(u32, u8)]) -> Result<()> {
        progress::tick(Activity::Working);
        let is_shown = self.shown.as_mut().map_or(Ok(true), |shown| shown.get(row))?;
        if !is_shown || self.is_copy(row, anchors)? {
            return Ok(());
        }
        self.leave();
        let mut pages: Vec<u32> = Vec::new();
        let mut fingerprint = None;
        for &(_, place) in passed {
            let index = self.index;
            let mut shared = index.places[place as usize].with(key_at(anchors, place));
            if shared.len() > MOST_SHARED {
                let (probe, fingerprint) = (self.probe, self.fingerprint(row, &mut fingerprint)?);
                let of = |entry: u64| probe.fingerprint_of(index.first + number_of(entry));
                let middle = shared.partition_point(|&entry| of(entry) < fingerprint);
                let first = middle.saturating_sub(MOST_SHARED / 2).min(shared.len() - MOST_SHARED);
                shared = &shared[first..][..MOST_SHARED];
            }
            pages.extend(shared.iter().map(|&entry| index.first + number_of(entry)));
        }
        pages.sort_unstable();
        if pages.is_empty() {
            return Ok(());
        }
        let fingerprint = self.fingerprint(row, &mut fingerprint)?;
        let pages = pages.chunk_by(|one, other| one == other).map(|same| {
            let distance = fingerprint.distance(self.probe.fingerprint_of(same[0])) as u8;
            (Shared { apart: (ANCHORS - same.len()) as u8, distance }, same[0])
        });
        let pages = pages.collect();
        self.met = Some(Met {
            row,
            rows: 1,
            anchors: anchors.to_vec(),
            fingerprint: fingerprint.to_u128(),
            sketch: self.sketches.get(row)?.to_vec(),
            pages,
        });
        Ok(())
    }

    fn fingerprint(&mut self, row: u64, known: &mut Option<F>) -> Result<F> {
        if let Some(known) = known {
            return Ok(*known);
        }
        let fingerprint = F::from_u128(self.fingerprints.get(row)?);
        Ok(*known.insert(fingerprint))
    }

    /// Whether a row is a copy of the last one that met pages. It then goes with that one.
    fn is_copy(&mut self, row: u64, anchors: &[u8]) -> Result<bool> {
        let follows = |met: &&mut Met| met.row + met.rows == row && met.anchors == anchors;
        let Some(met) = self.met.as_mut().filter(follows) else { return Ok(false) };
        let is_copy =
            self.fingerprints.get(row)? == met.fingerprint && self.sketches.get(row)? == met.sketch;
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
                (self.take)(Pair { new: self.probe.index_of(row), existing, distance });
            }
            return;
        }
        for (shared, page) in pages {
            if self.probe.farthest[page as usize].load(Ordering::Relaxed) < shared.number() {
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
        let Some(segment) = self.stream else { return };
        let mut all: Vec<(u32, Nearest)> = self.nearest.drain().collect();
        all.sort_unstable();
        for (page, mut nearest) in all {
            keep_nearest(&mut nearest);
            if let Some((farthest, ..)) = nearest.get(MOST_MET - 1) {
                self.probe.farthest[page as usize].fetch_min(farthest.number(), Ordering::Relaxed);
            }
            let new = self.probe.index_of(page);
            for (Shared { apart, distance }, row, rows) in nearest {
                let existing = Place::StoreRow { page, apart, segment, row, rows };
                (self.take)(Pair { new, existing, distance });
            }
        }
    }
}

/// The anchor in a place.
fn key_at(anchors: &[u8], place: u8) -> u64 {
    key_of(
        anchors[KEY_BYTES * usize::from(place)..].first_chunk().expect("an anchor in each place"),
    )
}

/// Leaves the least ones.
fn keep_nearest<T: Ord>(all: &mut Vec<T>) {
    all.sort_unstable();
    all.truncate(MOST_MET);
}
