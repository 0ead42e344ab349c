//! Finds in one sorted table what is near a fingerprint: its first bits are flipped in all allowed ways, and
//! what begins with each of these is compared.
//!
//! So many bits are flipped that about ten fingerprints begin with each. Nearly all of these beginnings are sieved
//! out by a look at a line or two of memory. In the others, where very many fingerprints have one beginning, because
//! they are near each other or copies, the next bit divides them, and so on; a half that differs too much is left.
//! So a crowd costs some steps a bit, however large it is, and copies are never looked at one by one.
//!
//! For example, among 1000 fingerprints of 64 bits, what is within 3 bits of one and within 1 bit in the upper
//! half: the first 6 bits are flipped in 1 + 6 ways, and each leads to about 16 fingerprints.

use std::ops::Range;

use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::hamming::words;
use crate::store::{Cursor, KeyRange, LANES, Ranked};
use crate::work::Work;

/// At most so many fingerprints with one beginning are compared. More are divided by the next bit.
const MOST: usize = 128;

/// So few that 8 to 16 fingerprints begin with each flipped beginning: of 1000, 6 bits are flipped.
const FEW_BITS: u32 = 3;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Near<F> {
    pub(super) fingerprint: F,
    pub(super) rows: Range<u64>,
}

#[derive(Clone, Copy)]
pub(super) struct Walk<'a, F> {
    pub(super) table: &'a Ranked<F>,
    /// The fingerprint that is asked for, permuted and cut as the fingerprints of the table are.
    pub(super) asked: F,
    /// The bits of the fingerprints in the table. The others are 0, above these.
    pub(super) width: u32,
    /// The number of first bits that are the key of the table.
    pub(super) key_bits: u32,
    pub(super) within: u32,
    pub(super) distance: u32,
}

#[derive(Clone, Copy)]
struct Beginning<F> {
    low: F,
    bits: u32,
    differ: u32,
}

impl<F: Fingerprint> Walk<'_, F> {
    /// Adds to `near` all that is in reach, and perhaps more that is near, each once, as far as `work` goes.
    pub(super) fn run(&self, near: &mut Vec<Near<F>>, work: &mut Work<'_>) -> Result<()> {
        let rows = self.table.segment().rows();
        let bits = if rows <= MOST as u64 { 0 } else { rows.ilog2() - FEW_BITS };
        let whole = self.table.high_bits().saturating_sub(F::BITS - self.width);
        let bits = bits.min(self.key_bits).min(whole);
        let mut lanes =
            Lanes { walk: self, keys: [F::default(); LANES], differ: [0; LANES], held: 0, bits };
        for differ in 0..=self.within.min(self.distance).min(bits) {
            for flip in words(bits, differ).map(F::from_u128) {
                lanes.push(flip, differ, near, work)?;
                if work.is_over() {
                    return Ok(());
                }
            }
        }
        lanes.flush(near, work)
    }

    /// Adds to `near` all that is near and has the first `bits` of `like`, as far as `work` goes.
    pub(super) fn look_up(
        &self,
        like: F,
        bits: u32,
        near: &mut Vec<Near<F>>,
        work: &mut Work<'_>,
    ) -> Result<()> {
        if work.is_over() {
            return Ok(());
        }
        let first = !self.rest(bits);
        let low = like & first;
        let differ = low.distance(self.asked & first);
        if differ > self.distance {
            return Ok(());
        }
        let mut cursors = [Cursor::default()];
        self.table.seek(&[low], &mut cursors)?;
        self.compare(Beginning { low, bits, differ }, cursors[0], near, work)
    }

    fn rest(&self, bits: u32) -> F {
        // The width may be that of the type.
        let first = F::BITS - self.width + bits;
        if first == F::BITS { F::default() } else { F::MAX >> first }
    }

    fn compare(
        &self,
        beginning: Beginning<F>,
        cursor: Cursor,
        near: &mut Vec<Near<F>>,
        work: &mut Work<'_>,
    ) -> Result<()> {
        if !work.spend(1) {
            return Ok(());
        }
        let high = beginning.low | self.rest(beginning.bits);
        let held = near.len();
        let mut compared = 0;
        let all = self.table.read_to(cursor, high, MOST, |row, fingerprint| {
            compared += 1;
            if fingerprint.distance(self.asked) <= self.distance {
                add(near, held, fingerprint, row);
            }
        })?;
        // What was found is told, even if the work is over by that.
        let goes_on = work.spend(compared);
        if all || !goes_on {
            return Ok(());
        }
        near.truncate(held);
        self.divide(beginning, near, work)
    }

    /// The same for the two halves into which the next bit divides a beginning. A half whose
    /// beginning differs in too many bits is left out.
    fn divide(
        &self,
        beginning: Beginning<F>,
        near: &mut Vec<Near<F>>,
        work: &mut Work<'_>,
    ) -> Result<()> {
        let Beginning { low, bits, differ } = beginning;
        if bits == self.width {
            let rows = self.table.rows(KeyRange { low, high: low })?;
            near.push(Near { fingerprint: low, rows });
            return Ok(());
        }
        let one = F::from_u128(1) << (self.width - 1 - bits);
        for flips in [0, 1] {
            let differ = differ + flips;
            let allowed = if bits < self.key_bits { self.within } else { self.distance };
            if differ > allowed.min(self.distance) {
                continue;
            }
            let is_set = (self.asked & one != F::default()) != (flips == 1);
            let half =
                Beginning { low: if is_set { low | one } else { low }, bits: bits + 1, differ };
            let mut cursors = [Cursor::default()];
            self.table.seek(&[half.low], &mut cursors)?;
            self.compare(half, cursors[0], near, work)?;
        }
        Ok(())
    }
}

/// Adds a row to the rows of the last fingerprint if the row is a copy of that fingerprint, else as
/// a fingerprint of its own. The first `held` fingerprints stay as they are.
fn add<F: Fingerprint>(near: &mut Vec<Near<F>>, held: usize, fingerprint: F, row: u64) {
    match near[held..].last_mut() {
        Some(last) if last.fingerprint == fingerprint => last.rows.end = row + 1,
        _ => near.push(Near { fingerprint, rows: row..row + 1 }),
    }
}

struct Lanes<'a, 'b, F> {
    walk: &'a Walk<'b, F>,
    bits: u32,
    keys: [F; LANES],
    differ: [u32; LANES],
    held: usize,
}

impl<F: Fingerprint> Lanes<'_, '_, F> {
    fn push(
        &mut self,
        flip: F,
        differ: u32,
        near: &mut Vec<Near<F>>,
        work: &mut Work<'_>,
    ) -> Result<()> {
        if self.held == LANES {
            self.flush(near, work)?;
        }
        let rest = self.walk.width - self.bits;
        let key = match self.bits {
            0 => F::default(),
            _ => ((self.walk.asked >> rest) ^ flip) << rest,
        };
        self.keys[self.held] = key;
        self.differ[self.held] = differ;
        self.held += 1;
        Ok(())
    }

    fn flush(&mut self, near: &mut Vec<Near<F>>, work: &mut Work<'_>) -> Result<()> {
        if !work.spend(1) {
            self.held = 0;
            return Ok(());
        }
        let Walk { table, asked, distance, .. } = *self.walk;
        let rest = self.walk.rest(self.bits);
        let mut left = table.sieve(asked, distance, &self.keys[..self.held], rest);
        self.held = 0;
        while left != 0 {
            let at = left.trailing_zeros() as usize;
            left &= left - 1;
            // Those that are left move to the front.
            (self.keys[self.held], self.differ[self.held]) = (self.keys[at], self.differ[at]);
            self.held += 1;
        }
        let mut cursors = [Cursor::default(); LANES];
        let keys = &self.keys[..self.held];
        table.seek(keys, &mut cursors[..self.held])?;
        for ((&low, &differ), cursor) in keys.iter().zip(&self.differ).zip(cursors) {
            self.walk.compare(Beginning { low, bits: self.bits, differ }, cursor, near, work)?;
        }
        self.held = 0;
        Ok(())
    }
}
