//! Which of many beginnings a near fingerprint may have: told from low parts alone.
//!
//! What is within k bits differs in at most k of its low bits. Of random fingerprints one in a million does, if
//! the low parts have 4 bytes. So for each beginning the rows follow from the [counts](super::select) of its
//! block, their low parts are compared, and neither the vector nor the high parts are looked at:
//!
//! ```text
//! beginnings -> blocks -> counts -> low parts -> those of which one is near
//!       each step is done for all of them, and fetches what the next one needs
//! ```
//!
//! The rest, and what cannot be told so, is for [`Ranked::seek`].

use crate::fingerprint::Fingerprint;
use crate::hamming::memory::prefetch;
use crate::hamming::multiversion::{Multiversion, counting};
use crate::hamming::packed::{Asked, group_of};

use super::ranked::{LANES, Ranked};
use super::searchable::Block;

/// At most so many rows with one beginning are compared. A range with more rows is left to the
/// caller.
const MOST: u32 = 96;

const LINE: usize = 64;

impl<F: Fingerprint> Ranked<F> {
    /// Which of the ranges that begin at `lows`, at most [`LANES`] of them, may have a fingerprint
    /// within `distance` of `asked`. Bit i of the answer belongs to range i. A range has all
    /// fingerprints whose bits above those of `rest` are the bits of `low`. The answer names every
    /// range that has such a fingerprint, and may name ranges that have none.
    pub fn sieve(&self, asked: F, distance: u32, lows: &[F], rest: F) -> u64 {
        assert!(lows.len() <= LANES, "a bit for each");
        if self.blocks.is_empty() {
            return 0;
        }
        counting(Sieve { ranked: self, asked, distance, lows, rest })
    }
}

struct Sieve<'a, F> {
    ranked: &'a Ranked<F>,
    asked: F,
    distance: u32,
    lows: &'a [F],
    rest: F,
}

#[derive(Clone, Copy)]
struct Lane<'a> {
    block: &'a Block,
    code: &'a [u8],
    first: u64,
    last: u64,
    number: usize,
}

impl<F: Fingerprint> Multiversion for Sieve<'_, F> {
    type Output = u64;

    #[inline(always)]
    fn run(self) -> u64 {
        let Sieve { ranked, asked, distance, lows, rest } = self;
        let mut blocks = [0; LANES];
        for (at, &low) in blocks.iter_mut().zip(lows) {
            *at = ranked.find(low);
            prefetch(&ranked.blocks, *at);
        }
        let mut maybe = 0;
        let mut lanes = [None; LANES];
        let mut held = 0;
        for (number, (&at, &low)) in blocks.iter().zip(lows).enumerate() {
            if let Some(block) = ranked.blocks[at].get()
                && let Some((first, last)) = block.numbers(low, low | rest)
                && block.low_bytes > 0
            {
                prefetch(&block.select.below, block.select.range_of(first));
                lanes[held] = Some(Lane { block, code: &block.code, first, last, number });
                held += 1;
            } else {
                maybe |= 1 << number;
            }
        }
        let mut parts: [&[u8]; LANES] = [&[]; LANES];
        for (part, lane) in parts.iter_mut().zip(lanes[..held].iter().flatten()) {
            let mut rows = lane.block.select.rows(lane.first, lane.last);
            if rows.end - rows.start > MOST {
                maybe |= 1 << lane.number;
                continue;
            }
            // More rows do no harm, and whole groups are compared faster.
            let whole = (rows.end - rows.start).next_multiple_of(group_of(lane.block.low_bytes));
            rows.end = (rows.start + whole).min(lane.block.rows);
            *part = &lane.code[lane.block.lows(&rows)];
            let last = part.len().saturating_sub(1);
            for line in (0..last).step_by(LINE).chain([last]) {
                prefetch(part, line);
            }
        }
        for (part, lane) in parts.iter().zip(lanes[..held].iter().flatten()) {
            let asked = Asked::of(asked, lane.block.low_bytes);
            maybe |= u64::from(asked.is_near_any(part, distance)) << lane.number;
        }
        maybe
    }
}
