//! The fingerprints of a segment in any order: where those from a key on begin, and what follows.
//!
//! Many keys are sought at once, step by step, so that the waits for memory overlap:
//!
//! ```text
//! key -> block (a table of key prefixes) -> count of those below -> word of the vector -> low part
//!            each step is done for all keys, and fetches what the next one needs
//! ```
//!
//! A block is verified when it is first looked at, and its [counts](super::select) are made then: about a fortieth
//! of its bytes. A block in another codec is recoded into memory at that moment.

use std::ops::Range;
use std::sync::OnceLock;
use std::thread;

use crate::error::{Error, Result};
use crate::fingerprint::Fingerprint;
use crate::hamming::memory::prefetch;
use crate::parallel::in_parallel;

use super::block::{self, BLOCK_ROWS, Codec};
use super::directory::Column;
use super::fetched::{Access, Fetched};
use super::lookup::place;
use super::open::Segment;
use super::scan::KeyRange;
use super::searchable::Block;
use super::select::{Spot, word};
use super::words::HEADER_BYTES;

const PREFIXES: usize = 4;

/// Keys that are sought at once, so that the waits for memory overlap.
pub const LANES: usize = 64;

pub struct Ranked<F> {
    segment: Segment,
    fetched: Fetched,
    firsts: Vec<F>,
    /// For each prefix of a key, how many blocks begin below it.
    below: Vec<u32>,
    shift: u32,
    pub(super) blocks: Vec<OnceLock<Block>>,
    high_bits: u32,
}

#[derive(Clone, Copy, Debug, Default)]
/// Where a reader of ranked fingerprints stands.
pub struct Cursor {
    block: usize,
    spot: Spot,
}

impl<F: Fingerprint> Ranked<F> {
    /// Those of `segment`, of the width of `F`.
    pub fn open(segment: &Segment, access: Access) -> Result<Ranked<F>> {
        assert_eq!(F::WIDTH, segment.width(), "a segment is read at its own width");
        let firsts: Vec<F> =
            segment.fingerprint_blocks().firsts.iter().map(|&first| F::from_u128(first)).collect();
        let bits = (PREFIXES * firsts.len()).next_power_of_two().ilog2().clamp(1, 30);
        // Keys above the last block have the prefix of none.
        let used = firsts.last().map_or(0, |last| 128 - last.to_u128().leading_zeros());
        let shift = used.saturating_sub(bits);
        let below = (0..=1_u128 << bits).map(|prefix| {
            firsts.partition_point(|&first| (first >> shift).to_u128() < prefix) as u32
        });
        let below = below.collect();
        let blocks = firsts.iter().map(|_| OnceLock::new()).collect();
        let is_plain =
            || Ok::<_, Error>(segment.codecs()?.keys().all(|&it| it == Codec::EliasFano));
        // Blocks in other codecs are recoded, and then there is no use for their bytes in memory.
        let fetched = match access {
            Access::Resident if is_plain()? => Fetched::of(segment, Access::Resident)?,
            _ => Fetched::of(segment, Access::OnDisk)?,
        };
        let segment = segment.clone();
        let mut ranked = Ranked { segment, fetched, firsts, below, shift, blocks, high_bits: 0 };
        if !ranked.blocks.is_empty() {
            let low_bytes = ranked.block(ranked.blocks.len() / 2)?.low_bytes;
            ranked.high_bits = F::BITS - 8 * low_bytes as u32;
        }
        if access == Access::Resident {
            ranked.verify()?;
        }
        Ok(ranked)
    }

    pub fn segment(&self) -> &Segment {
        &self.segment
    }

    fn verify(&self) -> Result<()> {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let blocks: Vec<usize> = (0..self.blocks.len()).collect();
        in_parallel(threads, &blocks, |&at| self.block(at).map(drop)).into_iter().collect()
    }

    #[inline]
    fn row(&self, cursor: &Cursor) -> u64 {
        let row = (cursor.block * BLOCK_ROWS) as u64 + u64::from(cursor.spot.row);
        row.min(self.segment.rows())
    }

    /// Moves each of `cursors` to the first fingerprint that is not below the key of the same number.
    pub fn seek(&self, keys: &[F], cursors: &mut [Cursor]) -> Result<()> {
        if self.firsts.is_empty() {
            cursors.fill(Cursor::default());
            return Ok(());
        }
        let lanes = keys.chunks(LANES).zip(cursors.chunks_mut(LANES));
        lanes.into_iter().try_for_each(|(keys, cursors)| self.seek_lanes(keys, cursors))
    }

    fn seek_lanes(&self, keys: &[F], cursors: &mut [Cursor]) -> Result<()> {
        for (&key, cursor) in keys.iter().zip(&mut *cursors) {
            cursor.block = self.find(key);
        }
        self.fetch(cursors);
        let mut lanes = [None; LANES];
        for ((&key, cursor), lane) in keys.iter().zip(&*cursors).zip(&mut lanes) {
            let block = self.block(cursor.block)?;
            let number = block.number_of(key);
            if let Some(number) = number {
                prefetch(&block.select.below, block.select.range_of(number));
            }
            *lane = Some((block, &*block.code, number));
        }
        let lanes = &lanes[..keys.len()];
        for (block, code, number) in lanes.iter().flatten() {
            if let Some(number) = number {
                prefetch(code, HEADER_BYTES + block.select.bit_of(*number) as usize / 8);
            }
        }
        for ((block, code, number), cursor) in lanes.iter().flatten().zip(&mut *cursors) {
            cursor.spot = match number {
                Some(number) => block.select.after(block.vector(code), *number),
                None => Spot { row: block.rows, ..Spot::default() },
            };
            prefetch(code, block.lows(&(cursor.spot.row..cursor.spot.row)).start);
        }
        let lanes = lanes.iter().flatten().zip(keys);
        for (((block, code, _), &key), cursor) in lanes.zip(&mut *cursors) {
            block.skip_below(code, key, &mut cursor.spot);
            if cursor.spot.row == block.rows {
                *cursor = self.start_of(cursor.block + 1)?;
            }
        }
        Ok(())
    }

    /// Calls `each` with the fingerprints from `cursor` on up to `high`, and with their rows, but with at most
    /// `most`. Returns whether these were all.
    #[inline]
    pub fn read_to(
        &self,
        mut cursor: Cursor,
        high: F,
        most: usize,
        mut each: impl FnMut(u64, F),
    ) -> Result<bool> {
        let mut left = most;
        while cursor.block < self.blocks.len() {
            let block = self.block(cursor.block)?;
            let code = &*block.code;
            let first = (cursor.block * BLOCK_ROWS) as u64;
            while cursor.spot.row < block.rows {
                let row = first + u64::from(cursor.spot.row);
                let fingerprint = block.read(code, &mut cursor.spot);
                if fingerprint > high {
                    return Ok(true);
                }
                if left == 0 {
                    return Ok(false);
                }
                left -= 1;
                each(row, fingerprint);
            }
            cursor = self.start_of(cursor.block + 1)?;
        }
        Ok(true)
    }

    pub fn get(&self, row: u64) -> Result<F> {
        let (at, within) = place(row, BLOCK_ROWS);
        let block = self.block(at)?;
        let code = &*block.code;
        let mut spot = Spot { word: word(block.vector(code), 0), ..Spot::default() };
        block.skip_rows(code, within as u32, &mut spot);
        Ok(block.read(code, &mut spot))
    }

    /// The number of first bits by which a place is found without looking at low parts, in most blocks.
    pub fn high_bits(&self) -> u32 {
        self.high_bits
    }

    pub fn rows(&self, range: KeyRange<F>) -> Result<Range<u64>> {
        let KeyRange { low, high } = range;
        let mut cursors = [Cursor::default(); 2];
        if high == F::MAX {
            self.seek(&[low], &mut cursors)?;
            return Ok(self.row(&cursors[0])..self.segment.rows());
        }
        self.seek(&[low, F::from_u128(high.to_u128() + 1)], &mut cursors)?;
        let [begin, end] = cursors.map(|cursor| self.row(&cursor));
        Ok(begin..end)
    }

    /// The last block that begins below `key`, or the first block.
    #[inline(always)]
    pub(super) fn find(&self, key: F) -> usize {
        let prefix = (key >> self.shift).to_u128().min(self.below.len() as u128 - 1) as usize;
        let end = self.below.get(prefix + 1).map_or(self.firsts.len(), |&end| end as usize);
        let begin = self.below[prefix] as usize;
        let between = &self.firsts[begin..end];
        let more = match between.len() {
            0..8 => between.iter().take_while(|&&first| first < key).count(),
            _ => between.partition_point(|&first| first < key),
        };
        (begin + more).saturating_sub(1)
    }

    fn fetch(&self, cursors: &[Cursor]) {
        let unseen =
            cursors.iter().map(|it| it.block).filter(|&it| self.blocks[it].get().is_none());
        self.fetched.fetch(&self.segment, unseen);
    }

    fn start_of(&self, at: usize) -> Result<Cursor> {
        if at >= self.blocks.len() {
            return Ok(Cursor { block: at, spot: Spot::default() });
        }
        let block = self.block(at)?;
        let word = word(block.vector(&block.code), 0);
        Ok(Cursor { block: at, spot: Spot { word, ..Spot::default() } })
    }

    #[inline]
    fn block(&self, at: usize) -> Result<&Block> {
        match self.blocks[at].get() {
            Some(block) => Ok(block),
            None => {
                let block = self.verified(at)?;
                Ok(self.blocks[at].get_or_init(|| block))
            }
        }
    }

    #[cold]
    fn verified(&self, at: usize) -> Result<Block> {
        let entry = self.segment.fingerprint_blocks().all[at];
        let coded = self.fetched.block(&self.segment, at)?;
        self.segment.count(u64::from(entry.bytes));
        self.segment.check(&entry, &coded)?;
        let first = self.firsts[at];
        let rows = self.segment.rows_in(Column::Fingerprints, at);
        let here = |error: Error| error.at(self.segment.path()).offset(entry.offset);
        if coded.first() == Some(&(Codec::EliasFano as u8)) {
            return Block::of(coded, rows, first).map_err(here);
        }
        let mut run = Vec::new();
        self.segment.scan_blocks::<F>(at..at + 1).next(&mut run)?;
        let mut own = Vec::new();
        block::encode(Codec::EliasFano, &run, &mut own);
        Block::of(own.into(), rows, first).map_err(here)
    }
}
