//! The fingerprints of a segment in any order: where those from a key on begin, and what follows.
//!
//! A block is Elias-Fano, so the place of a key follows from its high part by [`select`](super::select) and from
//! its low part by a look among the few that share the high part. Many keys are sought at once, step by step, so
//! that the waits for memory overlap:
//!
//! ```text
//! key -> block (a table of key prefixes) -> sample -> word of the vector -> low part
//!            each step is done for all keys, and fetches what the next one needs
//! ```
//!
//! A block is verified when it is first looked at, and its samples are made then: about a fortieth of its bytes.
//! A block in another codec is recoded into memory at that moment.

use std::ops::Range;
use std::sync::OnceLock;
use std::thread;

use crate::error::{Error, Result};
use crate::fingerprint::Fingerprint;
use crate::hamming::mapped::Mapped;
use crate::hamming::memory::{prefetch, zeroed_bytes};
use crate::parallel::in_parallel;
use crate::store::damage::damaged;

use super::block::{self, BLOCK_ROWS, Codec};
use super::directory::Column;
use super::elias_fano::Parts;
use super::open::Segment;
use super::scan::KeyRange;
use super::select::{Select, Spot, word};
use super::source::SegmentFile;
use super::words::{HEADER_BYTES, bytes_of, word as fingerprint_of};

/// Entries of the table of key prefixes for each block.
const PREFIXES: usize = 4;

/// Bytes that one thread reads at once into memory.
const READ_BYTES: usize = 16 << 20;

/// Keys that are sought at once, so that the waits for memory overlap.
pub(crate) const LANES: usize = 64;

/// Rows with one high part that are looked through one by one.
const FEW: u32 = 16;

/// Where the bytes of the fingerprints are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// In the file, which the system keeps in its cache as far as memory allows. Ready at once.
    #[default]
    Mapped,
    /// In the memory of the process, read and verified at once.
    Resident,
}

/// The fingerprints of a segment, to be looked at in any order.
pub(crate) struct Ranked<F> {
    segment: Segment,
    bytes: Bytes,
    firsts: Vec<F>,
    /// For each prefix of a key, how many blocks begin below it.
    below: Vec<u32>,
    shift: u32,
    blocks: Vec<OnceLock<Block>>,
    high_bits: u32,
}

enum Bytes {
    Mapped(Mapped),
    /// The column of the fingerprints, and where it begins in the file.
    Held(Vec<u8>, u64),
}

/// A block that was verified.
struct Block {
    /// Its code, if that is not in the file.
    own: Option<Box<[u8]>>,
    begin: usize,
    end: usize,
    lows_at: usize,
    low_bytes: usize,
    rows: u32,
    base: u128,
    growth: u64,
    select: Select,
}

/// A place among the fingerprints.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cursor {
    block: usize,
    spot: Spot,
}

impl<F: Fingerprint> Ranked<F> {
    /// Those of `segment`, of the width of `F`.
    ///
    /// # Errors
    /// Damage is [`crate::Kind::BadData`]. With [`Access::Resident`] all damage is found here.
    pub(crate) fn open(segment: &Segment, access: Access) -> Result<Ranked<F>> {
        assert_eq!(F::WIDTH, segment.width(), "a segment is read at its own width");
        let firsts: Vec<F> =
            segment.fingerprint_blocks().firsts.iter().map(|&first| F::from_u128(first)).collect();
        let bits = (PREFIXES * firsts.len()).next_power_of_two().ilog2().clamp(1, 30);
        let shift = F::BITS - bits;
        let below = (0..=1_u128 << bits).map(|prefix| match prefix >> bits {
            0 => firsts.partition_point(|&first| first < F::from_u128(prefix) << shift) as u32,
            _ => firsts.len() as u32,
        });
        let below = below.collect();
        let blocks = firsts.iter().map(|_| OnceLock::new()).collect();
        let is_plain =
            || Ok::<_, Error>(segment.codecs()?.keys().all(|&it| it == Codec::EliasFano));
        let bytes = match access {
            Access::Resident if is_plain()? => held(segment)?,
            _ => {
                let mapped = Mapped::of(segment.file());
                Bytes::Mapped(mapped.map_err(|cause| Error::io(segment.path(), &cause))?)
            }
        };
        let segment = segment.clone();
        let mut ranked = Ranked { segment, bytes, firsts, below, shift, blocks, high_bits: 0 };
        if !ranked.blocks.is_empty() {
            let low_bytes = ranked.block(ranked.blocks.len() / 2)?.low_bytes;
            ranked.high_bits = F::BITS - 8 * low_bytes as u32;
        }
        if access == Access::Resident {
            ranked.verify()?;
        }
        Ok(ranked)
    }

    /// Its segment.
    pub(crate) fn segment(&self) -> &Segment {
        &self.segment
    }

    /// Looks at all blocks.
    fn verify(&self) -> Result<()> {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let blocks: Vec<usize> = (0..self.blocks.len()).collect();
        in_parallel(threads, &blocks, |&at| self.block(at).map(drop)).into_iter().collect()
    }

    /// The row of the fingerprint that comes next.
    #[inline]
    fn row(&self, cursor: &Cursor) -> u64 {
        let row = (cursor.block * BLOCK_ROWS) as u64 + u64::from(cursor.spot.row);
        row.min(self.segment.rows())
    }

    /// Moves each of `cursors` to the first fingerprint that is not below the key of the same number.
    ///
    /// # Errors
    /// Damage is [`crate::Kind::BadData`].
    pub(crate) fn seek(&self, keys: &[F], cursors: &mut [Cursor]) -> Result<()> {
        if self.firsts.is_empty() {
            cursors.fill(Cursor::default());
            return Ok(());
        }
        let lanes = keys.chunks(LANES).zip(cursors.chunks_mut(LANES));
        lanes.into_iter().try_for_each(|(keys, cursors)| self.seek_lanes(keys, cursors))
    }

    /// The same for at most [`LANES`] keys.
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
                prefetch(block.select.samples(), block.select.sample_of(number));
            }
            *lane = Some((block, self.code(block), number));
        }
        let lanes = &lanes[..keys.len()];
        for (block, code, number) in lanes.iter().flatten() {
            if let Some(number) = number {
                prefetch(code, HEADER_BYTES + block.select.byte_of(*number));
            }
        }
        for ((block, code, number), cursor) in lanes.iter().flatten().zip(&mut *cursors) {
            cursor.spot = match number {
                Some(number) => block.select.after(block.vector(code), *number),
                None => Spot { row: block.rows, ..Spot::default() },
            };
            prefetch(code, block.low_at(cursor.spot.row));
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
    ///
    /// # Errors
    /// Damage is [`crate::Kind::BadData`].
    #[inline]
    pub(crate) fn read_to(
        &self,
        mut cursor: Cursor,
        high: F,
        most: usize,
        mut each: impl FnMut(u64, F),
    ) -> Result<bool> {
        let mut left = most;
        while cursor.block < self.blocks.len() {
            let block = self.block(cursor.block)?;
            let code = self.code(block);
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

    /// The number of first bits by which a place is found without looking at low parts, in most blocks.
    pub(crate) fn high_bits(&self) -> u32 {
        self.high_bits
    }

    /// The rows of `range`.
    ///
    /// # Errors
    /// Damage is [`crate::Kind::BadData`].
    pub(crate) fn rows(&self, range: KeyRange<F>) -> Result<Range<u64>> {
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
    #[inline]
    fn find(&self, key: F) -> usize {
        let prefix = (key >> self.shift).to_u128() as usize;
        let [begin, end] = [self.below[prefix], self.below[prefix + 1]].map(|it| it as usize);
        let between = &self.firsts[begin..end];
        let more = match between.len() {
            0..8 => between.iter().take_while(|&&first| first < key).count(),
            _ => between.partition_point(|&first| first < key),
        };
        (begin + more).saturating_sub(1)
    }

    /// Begins to read the blocks at `cursors` that were never looked at.
    fn fetch(&self, cursors: &[Cursor]) {
        let Bytes::Mapped(mapped) = &self.bytes else { return };
        for cursor in cursors.iter().filter(|it| self.blocks[it.block].get().is_none()) {
            let range = self.segment.fingerprint_blocks().all[cursor.block].range();
            mapped.fetch(range.start as usize..range.end as usize);
        }
    }

    /// The beginning of a block, or the end of all of them.
    fn start_of(&self, at: usize) -> Result<Cursor> {
        if at >= self.blocks.len() {
            return Ok(Cursor { block: at, spot: Spot::default() });
        }
        let block = self.block(at)?;
        let word = word(block.vector(self.code(block)), 0);
        Ok(Cursor { block: at, spot: Spot { word, ..Spot::default() } })
    }

    /// A block, which is verified if it was not yet.
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
        let (bytes, skipped) = match &self.bytes {
            Bytes::Mapped(mapped) => (&mapped[..], 0),
            Bytes::Held(held, skipped) => (&held[..], *skipped),
        };
        let range = entry.range();
        let [begin, end] = [range.start - skipped, range.end - skipped].map(|it| it as usize);
        let coded = bytes.get(begin..end).ok_or_else(|| {
            damaged("the file is shorter than when it was opened").at(self.segment.path())
        })?;
        self.segment.count(u64::from(entry.bytes));
        self.segment.check(&entry, coded)?;
        let first = self.firsts[at];
        let rows = self.segment.rows_in(Column::Fingerprints, at);
        let here = |error: Error| error.at(self.segment.path()).offset(entry.offset);
        if coded.first() == Some(&(Codec::EliasFano as u8)) {
            return Block::of(coded, rows, first, (begin, end)).map_err(here);
        }
        let mut run = Vec::new();
        self.segment.scan_blocks::<F>(at..at + 1).next(&mut run)?;
        let mut own = Vec::new();
        block::encode(Codec::EliasFano, &run, &mut own);
        let block = Block::of(&own, rows, first, (0, own.len())).map_err(here)?;
        Ok(Block { own: Some(own.into()), ..block })
    }

    /// The code of `block`.
    #[inline]
    fn code<'a>(&'a self, block: &'a Block) -> &'a [u8] {
        let bytes = match (&block.own, &self.bytes) {
            (Some(own), _) => own,
            (None, Bytes::Mapped(mapped)) => &mapped[..],
            (None, Bytes::Held(held, _)) => &held[..],
        };
        &bytes[block.begin..block.end]
    }
}

impl Block {
    /// The block with this code, whose checksum is right.
    fn of<F: Fingerprint>(
        code: &[u8],
        rows: usize,
        first: F,
        (begin, end): (usize, usize),
    ) -> Result<Block> {
        let low_bytes =
            usize::from(*code.get(1).ok_or_else(|| damaged("the block has no header"))?);
        let Parts { lows_at, base, growth } = Parts::of(code, low_bytes, 0, rows, first)?;
        let select = Select::of(&code[HEADER_BYTES..lows_at], growth);
        let rows = rows as u32;
        let block = Block { own: None, begin, end, lows_at, low_bytes, rows, base, growth, select };
        let mut spot = block.select.after(block.vector(code), 0);
        match block.read::<F>(code, &mut spot) == first {
            true => Ok(block),
            false => {
                Err(damaged("the block has another first fingerprint than the directory says"))
            }
        }
    }

    fn vector<'a>(&self, code: &'a [u8]) -> &'a [u8] {
        &code[HEADER_BYTES..self.lows_at]
    }

    /// How far the high part of `key` is above that of the first fingerprint; none if no fingerprint has it or
    /// a higher one.
    #[inline]
    fn number_of<F: Fingerprint>(&self, key: F) -> Option<u64> {
        let number = self.high(key).saturating_sub(self.base);
        (number <= u128::from(self.growth)).then_some(number as u64)
    }

    /// The bits of `key` above the low bytes.
    #[inline]
    fn high<F: Fingerprint>(&self, key: F) -> u128 {
        let low_bits = 8 * self.low_bytes as u32;
        if low_bits < F::BITS { (key >> low_bits).to_u128() } else { 0 }
    }

    /// Where the low part of a row begins.
    #[inline]
    fn low_at(&self, row: u32) -> usize {
        self.lows_at + row as usize * self.low_bytes
    }

    /// The low part of a row.
    #[inline]
    fn low<F: Fingerprint>(&self, code: &[u8], row: u32) -> F {
        if self.low_bytes == 0 {
            return F::default();
        }
        // The word that ends with the low part; it begins in the vector or the header at the earliest.
        let end = self.low_at(row + 1);
        let word = fingerprint_of::<F>(&code[end - bytes_of::<F>()..end]);
        word >> (F::BITS - 8 * self.low_bytes as u32)
    }

    /// The fingerprint at `spot`, before the end of the block. The spot moves on to the next one.
    #[inline]
    fn read<F: Fingerprint>(&self, code: &[u8], spot: &mut Spot) -> F {
        let vector = self.vector(code);
        while spot.word == 0 {
            spot.word_at += 1;
            spot.word = word(vector, spot.word_at);
        }
        let bit = 64 * u64::from(spot.word_at) + u64::from(spot.word.trailing_zeros());
        let high = self.base + u128::from(bit - u64::from(spot.row));
        let low = self.low::<F>(code, spot.row);
        spot.word &= spot.word - 1;
        spot.row += 1;
        // If all bits are low, the high part is zero and the shift does not matter.
        F::from_u128(high) << (8 * self.low_bytes as u32).min(F::BITS - 1) | low
    }

    /// Moves `spot`, where the high part of `key` begins, on to the first fingerprint that is not below `key`.
    #[inline]
    fn skip_below<F: Fingerprint>(&self, code: &[u8], key: F, spot: &mut Spot) {
        if spot.row < self.rows && self.high(key) >= self.base {
            let mut ahead = *spot;
            for _ in 0..FEW {
                if ahead.row == self.rows || self.read::<F>(code, &mut ahead) >= key {
                    return;
                }
                *spot = ahead;
            }
            self.search_below(code, key, spot);
        }
    }

    /// The same where many fingerprints share the high part.
    #[cold]
    fn search_below<F: Fingerprint>(&self, code: &[u8], key: F, spot: &mut Spot) {
        let vector = self.vector(code);
        let number = self.number_of(key).expect("the spot is not at the end");
        let end = match number < self.growth {
            true => self.select.after(vector, number + 1).row,
            false => self.rows,
        };
        let below = 8 * self.low_bytes as u32;
        let low = if below < F::BITS { key << (F::BITS - below) >> (F::BITS - below) } else { key };
        let (mut begin, mut stop) = (spot.row, end.max(spot.row));
        while begin < stop {
            let middle = begin.midpoint(stop);
            match self.low::<F>(code, middle) < low {
                true => begin = middle + 1,
                false => stop = middle,
            }
        }
        // Row r of this high part is bit r + number of the vector.
        let bit = u64::from(begin) + number;
        let at = (bit / 64) as u32;
        let has = 8 * vector.len() as u64 > bit;
        let rest = if has { word(vector, at) & (u64::MAX << (bit % 64)) } else { 0 };
        *spot = Spot { word_at: at, word: rest, row: begin };
    }
}

/// The column of the fingerprints, read into memory.
fn held(segment: &Segment) -> Result<Bytes> {
    let blocks = &segment.fingerprint_blocks().all;
    let begin = blocks.first().map_or(0, |block| block.offset);
    let end = blocks.last().map_or(0, |block| block.range().end);
    let mut bytes = zeroed_bytes((end - begin) as usize);
    let source = SegmentFile { path: segment.path(), file: segment.file() };
    let parts = (begin..).step_by(READ_BYTES).zip(bytes.chunks_mut(READ_BYTES));
    parts.into_iter().try_for_each(|(at, part)| source.fill(at, part))?;
    Ok(Bytes::Held(bytes, begin))
}
