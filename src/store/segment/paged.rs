//! The search of the paper: a table of fingerprints in its [code](super::huffman), in pages of 1024 bytes.
//!
//! The last fingerprint of each page is kept as it is. Interpolation search among these finds the page where a key
//! begins; that page is decoded, and what has the key is compared. (Manku, Jain and Das Sarma, "Detecting
//! Near-Duplicates for Web Crawling", WWW 2007. Their block is a page here.) The last fingerprints stand with each
//! block of a segment, and the block is found by its first fingerprint in the same way.
//!
//! ```text
//! key -> block, by the first fingerprints in memory -> page, by the last ones in the block -> decode, compare
//! ```
//!
//! A block is verified when it is first looked at.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::error::{Error, Result};
use crate::fingerprint::Fingerprint;
use crate::hamming::multiversion::{Multiversion, widest};
use crate::hamming::within;
use crate::store::damage::damaged;

use super::block::Codec;
use super::huffman::{Code, Parts};
use super::open::Segment;
use super::ranked::{Access, Bytes};
use super::scan::KeyRange;
use super::words::HEADER_BYTES;

/// The fingerprints of a segment whose blocks are all in the paper's code.
pub(crate) struct Paged<F> {
    segment: Segment,
    bytes: Bytes,
    firsts: Vec<F>,
    /// The code of each block that was verified.
    codes: Vec<OnceLock<Arc<Code<F>>>>,
    known: Mutex<Codes<F>>,
}

/// Codes by the lengths of their words: most blocks share a few.
type Codes<F> = HashMap<Box<[u8]>, Arc<Code<F>>>;

impl<F: Fingerprint> Paged<F> {
    /// Those of `segment`, of the width of `F`.
    ///
    /// # Errors
    /// Damage is [`crate::Kind::BadData`]; so is a block in another code when it is looked at. With [`Access::Resident`] all damage is
    /// found here.
    pub(crate) fn open(segment: &Segment, access: Access) -> Result<Paged<F>> {
        let firsts: Vec<F> =
            segment.fingerprint_blocks().firsts.iter().map(|&first| F::from_u128(first)).collect();
        let codes = firsts.iter().map(|_| OnceLock::new()).collect();
        let (bytes, known) = (Bytes::of(segment, access)?, Mutex::default());
        let paged = Paged { segment: segment.clone(), bytes, firsts, codes, known };
        if access == Access::Resident {
            (0..paged.codes.len()).try_for_each(|at| paged.block(at).map(drop))?;
        }
        Ok(paged)
    }

    /// Adds to `near` what in `range` is within `distance` of `asked`.
    ///
    /// # Errors
    /// Damage is [`crate::Kind::BadData`].
    pub(crate) fn near(
        &self,
        range: KeyRange<F>,
        asked: F,
        distance: u32,
        near: &mut Vec<F>,
    ) -> Result<()> {
        // The block before the first one that begins with the key or above it may end with the key.
        let above = interpolate(self.firsts.len(), range.low, |at| self.firsts[at]);
        let mut decoded = Vec::new();
        for at in above.saturating_sub(1)..self.firsts.len() {
            if self.firsts[at] > range.high {
                break;
            }
            let (parts, code) = self.block(at)?;
            let from = interpolate(parts.count(), range.low, |page| parts.last(page));
            for page in from..parts.count() {
                let here = |error: Error| self.here(at, error);
                widest(Read { parts, page, code, out: &mut decoded }).map_err(here)?;
                let inside = decoded.partition_point(|&it| it <= range.high);
                let begin = decoded.partition_point(|&it| it < range.low).min(inside);
                let candidates = &decoded[begin..inside];
                within(asked, candidates, distance, |at, _| near.push(candidates[at]));
                if inside < decoded.len() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// A block and its code; it is verified if it was not yet.
    fn block(&self, at: usize) -> Result<(Parts<'_>, &Code<F>)> {
        let entry = self.segment.fingerprint_blocks().all[at];
        let (coded, _) = self.bytes.block(&self.segment, at)?;
        if let Some(code) = self.codes[at].get() {
            let parts = Parts::of::<F>(&coded[HEADER_BYTES..]).map_err(|it| self.here(at, it))?;
            return Ok((parts, code));
        }
        self.segment.count(u64::from(entry.bytes));
        self.segment.check(&entry, coded)?;
        let parts = in_the_code(coded).and_then(Parts::of::<F>).map_err(|it| self.here(at, it))?;
        let code = self.code(parts.lengths).map_err(|it| self.here(at, it))?;
        Ok((parts, self.codes[at].get_or_init(|| code)))
    }

    /// The code with words of these lengths.
    fn code(&self, lengths: &[u8]) -> Result<Arc<Code<F>>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(code) = known.get(lengths) {
            return Ok(Arc::clone(code));
        }
        let code = Arc::new(Code::read(lengths)?);
        known.insert(lengths.into(), Arc::clone(&code));
        Ok(code)
    }

    fn here(&self, block: usize, error: Error) -> Error {
        let entry = self.segment.fingerprint_blocks().all[block];
        error.at(self.segment.path()).offset(entry.offset)
    }
}

/// What follows the header of a block in the paper's code.
fn in_the_code(coded: &[u8]) -> Result<&[u8]> {
    match coded.get(HEADER_BYTES..) {
        Some(parts) if coded[0] == Codec::Huffman as u8 => Ok(parts),
        Some(_) => Err(damaged("the block is in another code than its table")),
        None => Err(damaged("the block has no header")),
    }
}

/// A page that is decoded.
struct Read<'a, F> {
    parts: Parts<'a>,
    page: usize,
    code: &'a Code<F>,
    out: &'a mut Vec<F>,
}

impl<F: Fingerprint> Multiversion for Read<'_, F> {
    type Output = Result<()>;

    #[inline(always)]
    fn run(self) -> Result<()> {
        self.parts.read(self.page, self.code, self.out)
    }
}

/// The first of `count` places in ascending order that has `key` or more, by interpolation search. Every other
/// step halves what is left, so that skewed keys take no more than twice the steps of a binary search.
fn interpolate<F: Fingerprint>(count: usize, key: F, at: impl Fn(usize) -> F) -> usize {
    let number = |it: F| it.to_u128() as f64;
    let (mut begin, mut end) = (0, count);
    let (mut low, mut high) = (0.0, number(F::MAX));
    let mut halve = false;
    while begin < end {
        let share = if halve { 0.5 } else { (number(key) - low) / (high - low) };
        // If the ends are equal as numbers of 53 bits, the share is no number, and that counts as 0.
        let place = begin + ((share * (end - begin) as f64) as usize).min(end - begin - 1);
        let found = at(place);
        if found < key {
            (begin, low) = (place + 1, number(found));
        } else {
            (end, high) = (place, number(found));
        }
        halve = !halve;
    }
    begin
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn interpolation_finds_what_halving_finds(
            mut keys in prop::collection::vec((any::<u128>(), 0_u32..128), 0..300),
            other: u128,
        ) {
            keys.sort_unstable_by_key(|&(key, shift)| key >> shift);
            let keys: Vec<u128> = keys.into_iter().map(|(key, shift)| key >> shift).collect();
            for key in keys.iter().flat_map(|&key| [key, key ^ 1]).chain([0, other, u128::MAX]) {
                let steps = std::cell::Cell::new(0);
                let found = interpolate(keys.len(), key, |at| {
                    steps.set(steps.get() + 1);
                    keys[at]
                });
                prop_assert_eq!(found, keys.partition_point(|&it| it < key));
                prop_assert!(steps.get() <= 2 * (keys.len() + 1).ilog2() + 3, "{} steps", steps.get());
            }
        }
    }
}
