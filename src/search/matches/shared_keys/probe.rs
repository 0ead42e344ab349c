//! The chunks of a store and of a batch, whose keys stream past those of the batch.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use super::key_index::KeyIndex;
use super::parts;
use super::sort::{BatchKeys, Sort};
use super::streaming::{BATCH_CHUNK_BLOCKS, CHUNK_BLOCKS, Pages, SegmentRows, Streaming};
use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::fingerprint::check::{ANCHOR_BYTES, ANCHORS, Check};
use crate::matches::groups::each_distinct;
use crate::matches::in_keep_order::InKeepOrder;
use crate::matches::numbers::FingerprintIndex;
use crate::matches::pair::Pair;
use crate::parallel::lock;
use crate::store::{Dated, Segment};
use crate::tables::keys::{memory_of, most_numbers};

/// A batch, and the segments whose keys stream past its own. Shared by the workers of a process.
#[derive(Debug)]
pub struct KeyProbe<F> {
    batch: Segment,
    store: Vec<Dated>,
    pages: Pages<F>,
    units: Vec<Unit>,
    index: Mutex<Option<Arc<KeyIndex>>>,
    workers: usize,
}

/// The bytes of the anchors of a short page, and of how many these are.
const ROW_BYTES: u64 = (ANCHORS * ANCHOR_BYTES) as u64 + 2;

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
    pub fn of(batch: u64, store: u64, check: Option<Check>, memory_bytes: u64) -> AnchorCost {
        if !check.is_some_and(Check::has_direction) {
            return AnchorCost::default();
        }
        let most = most_numbers(ANCHORS, memory_bytes as usize) as u64;
        let passes = batch.div_ceil(most);
        let counted = if passes > 1 { batch.saturating_mul(2) } else { 0 };
        let all = batch.saturating_add(store).saturating_add(counted);
        let bytes_read = all.saturating_mul(ROW_BYTES).saturating_mul(passes);
        AnchorCost { passes, bytes_read, memory_bytes: memory_of(ANCHORS, batch.min(most)) }
    }
}

#[derive(Debug)]
pub(super) struct Unit {
    pub(super) sort: Sort,
    /// The pages of the batch whose keys are in memory.
    pub(super) pages: Range<u32>,
    /// For more pages than fit, everything is read several times: how often.
    pub(super) passes: u32,
    /// What streams: a segment of the store, or the batch itself, and which blocks.
    stream: Option<u32>,
    blocks: Range<usize>,
}

impl<F: Fingerprint> KeyProbe<F> {
    /// Prepares to probe a `store` and the `batch` itself, whose distinct `fingerprints` these are, with keys of the batch in
    /// `memory_bytes`. All processes must have the same memory. There is nothing to probe unless whole pages are compared, in keep `order`.
    pub fn new(
        batch: &Segment,
        store: &[Dated],
        fingerprints: Arc<[F]>,
        order: Option<&InKeepOrder>,
        memory_bytes: usize,
        workers: usize,
    ) -> Result<KeyProbe<F>> {
        let mut units = Vec::new();
        for sort in
            [Sort::Anchors, Sort::Bands, Sort::Parts].into_iter().filter(|_| order.is_some())
        {
            units_of(sort, batch, store, memory_bytes, &mut units);
        }
        let mut indices = Vec::new();
        if !units.is_empty() {
            let mut index = 0;
            each_distinct::<F>(batch, |_, row| {
                // All rows before belong to the fingerprints before.
                indices.resize(row as usize, FingerprintIndex::from(index));
                index = if row == 0 { 0 } else { index + 1 };
            })?;
            indices.resize(batch.rows() as usize, FingerprintIndex::from(index));
        }
        let places = order.map_or(Vec::new(), InKeepOrder::of_rows);
        let shingles = order.map_or(Vec::new(), InKeepOrder::shingles_of_rows);
        Ok(KeyProbe {
            batch: batch.clone(),
            store: store.to_vec(),
            pages: Pages::new(fingerprints, indices, places, shingles),
            units,
            index: Mutex::default(),
            workers,
        })
    }

    /// How many chunks there are: the portions of store and batch, as many times as they are read.
    pub fn chunks(&self) -> u32 {
        self.units.len() as u32
    }

    /// How many of these stream past each index of keys, index after index. There is memory for one of them at a time.
    pub fn chunks_by_index(&self) -> impl Iterator<Item = u32> {
        let of_one = |one: &Unit, next: &Unit| (one.sort, &one.pages) == (next.sort, &next.pages);
        self.units.chunk_by(of_one).map(|units| units.len() as u32)
    }

    /// How many of these read a portion once more, because the keys of the batch do not fit into memory.
    pub fn repeated(&self) -> u32 {
        self.units.iter().filter(|unit| unit.pages.start > 0).count() as u32
    }

    pub fn probe(&self, chunk: u32, take: &mut dyn FnMut(Pair)) -> Result<()> {
        let unit = &self.units[chunk as usize];
        let index = self.index(unit)?;
        if unit.sort == Sort::Parts {
            return parts::stream(&self.pages, &index, &self.batch, unit.blocks.clone(), take);
        }
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

    fn index(&self, unit: &Unit) -> Result<Arc<KeyIndex>> {
        let mut held = lock(&self.index);
        if let Some(index) = &*held
            && (index.sort, &index.pages) == (unit.sort, &unit.pages)
        {
            return Ok(Arc::clone(index));
        }
        let last = held.take().filter(|last| last.sort == unit.sort);
        let common = last.map(|last| Arc::clone(&last.common));
        let Pages { order, shingles, .. } = &self.pages;
        let keys = BatchKeys { batch: &self.batch, sort: unit.sort, shingles };
        let pages = unit.pages.clone();
        let index = KeyIndex::of(keys, pages, unit.passes, common, order, self.workers)?;
        let index = Arc::clone(held.insert(index.into()));
        Ok(index)
    }
}

/// The chunks of a sort of keys: all portions of store and batch, for as many pages as fit into memory, then for the next.
pub(super) fn units_of(
    sort: Sort,
    batch: &Segment,
    store: &[Dated],
    memory_bytes: usize,
    units: &mut Vec<Unit>,
) {
    if sort.places(batch) == 0 {
        return;
    }
    let most = most_numbers(sort.keys_of_page(batch), memory_bytes) as u32;
    let rows = batch.rows() as u32;
    let passes = rows.div_ceil(most);
    for first in (0..rows).step_by(most as usize) {
        let pages = first..first.saturating_add(most).min(rows);
        let store = if sort == Sort::Parts { &[] } else { store };
        let streams = (0..).zip(store).map(|(number, dated)| (Some(number), dated.segment()));
        for (stream, segment) in streams.chain([(None, batch)]) {
            let blocks = segment.blocks_of(sort.column());
            let of_chunk = if stream.is_some() { CHUNK_BLOCKS } else { BATCH_CHUNK_BLOCKS };
            units.extend((0..blocks).step_by(of_chunk).map(|it| {
                let blocks = it..blocks.min(it + of_chunk);
                Unit { sort, pages: pages.clone(), passes, stream, blocks }
            }));
        }
    }
}
