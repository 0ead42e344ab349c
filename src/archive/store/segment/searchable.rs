//! A block of fingerprints in Elias-Fano that can be looked at in any order: the place of a key follows from its
//! high part by [`select`](super::select) and from its low part by a look among the few that share the high part.

use std::ops::Range;

use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::hamming::mapped::KeptBytes;
use crate::store::damage::damaged;

use super::block::other_first;
use super::elias_fano::Parts;
use super::select::{Select, Spot, word};
use super::unary::WORD_BYTES;
use super::words::{HEADER_BYTES, bytes_of, word as fingerprint_of};

const FEW: u32 = 16;

pub(super) struct Block {
    pub(super) code: KeptBytes,
    lows_at: usize,
    pub(super) low_bytes: usize,
    pub(super) rows: u32,
    base: u128,
    pub(super) growth: u64,
    pub(super) select: Select,
}

impl Block {
    pub(super) fn of<F: Fingerprint>(code: KeptBytes, rows: usize, first: F) -> Result<Block> {
        let low_bytes =
            usize::from(*code.get(1).ok_or_else(|| damaged("the block has no header"))?);
        let Parts { lows_at, base, growth } = Parts::of(&code, low_bytes, rows, first)?;
        let select = Select::of(&code[HEADER_BYTES..lows_at], rows as u16, growth, base as u64);
        let rows = rows as u32;
        let block = Block { code, lows_at, low_bytes, rows, base, growth, select };
        let mut spot = block.select.after(block.vector(&block.code), 0);
        if block.read::<F>(&block.code, &mut spot) == first {
            Ok(block)
        } else {
            Err(other_first())
        }
    }

    pub(super) fn vector<'a>(&self, code: &'a [u8]) -> &'a [u8] {
        &code[HEADER_BYTES..self.lows_at]
    }

    /// The high part of `key` less the high part of the first fingerprint, at least 0. `None` if
    /// every fingerprint has a lower high part.
    #[inline]
    pub(super) fn number_of<F: Fingerprint>(&self, key: F) -> Option<u64> {
        let number = self.high(key).saturating_sub(self.base);
        (number <= u128::from(self.growth)).then_some(number as u64)
    }

    /// The numbers of the high parts from that of `low` to that of `high`; none if the fingerprints between these
    /// may go on in the next block.
    #[inline(always)]
    pub(super) fn numbers<F: Fingerprint>(&self, low: F, high: F) -> Option<(u64, u64)> {
        let [first, last] = [low, high].map(|key| self.high(key).saturating_sub(self.base));
        (last < u128::from(self.growth)).then_some((first as u64, last as u64))
    }

    /// Where the low parts of `rows` are. If a low part is shorter than [`WORD_BYTES`], the slice starts a few bytes
    /// before the first low part, so that every low part can be read as the end of a whole word.
    #[inline(always)]
    pub(super) fn lows(&self, rows: &Range<u32>) -> Range<usize> {
        let begin = (self.low_at(rows.start) + self.low_bytes).saturating_sub(WORD_BYTES);
        let end = self.low_at(rows.end);
        // No rows have no low parts, however long these are.
        begin.min(end)..end
    }

    #[inline(always)]
    fn high<F: Fingerprint>(&self, key: F) -> u128 {
        let low_bits = 8 * self.low_bytes as u32;
        if low_bits < F::BITS { (key >> low_bits).to_u128() } else { 0 }
    }

    #[inline(always)]
    fn low_at(&self, row: u32) -> usize {
        self.lows_at + row as usize * self.low_bytes
    }

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
    pub(super) fn read<F: Fingerprint>(&self, code: &[u8], spot: &mut Spot) -> F {
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

    pub(super) fn skip_rows(&self, code: &[u8], row: u32, spot: &mut Spot) {
        let vector = self.vector(code);
        let mut left = row;
        while left >= spot.word.count_ones() {
            left -= spot.word.count_ones();
            spot.word_at += 1;
            spot.word = word(vector, spot.word_at);
        }
        (0..left).for_each(|_| spot.word &= spot.word - 1);
        spot.row = row;
    }

    /// Moves `spot`, where the high part of `key` begins, on to the first fingerprint that is not below `key`.
    #[inline]
    pub(super) fn skip_below<F: Fingerprint>(&self, code: &[u8], key: F, spot: &mut Spot) {
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

    #[cold]
    pub(super) fn search_below<F: Fingerprint>(&self, code: &[u8], key: F, spot: &mut Spot) {
        let vector = self.vector(code);
        let number = self.number_of(key).expect("the spot is not at the end");
        let has_more = number < self.growth;
        let end = if has_more { self.select.after(vector, number + 1).row } else { self.rows };
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
