//! Elias-Fano with whole low bytes: sorted fingerprints in little more than the least possible space,
//! decoded at memory speed.
//!
//! Each fingerprint is cut in two. The low `low_bytes` bytes are stored as they are, one after another.
//! The high parts grow slowly, so only their growth since the first fingerprint of the block is stored,
//! in [`unary`]. With a good cut this takes about two bits a fingerprint. The encoder tries every cut.
//!
//! Four fingerprints of 16 bits (to keep the example short), with `low_bytes` = 1:
//!
//! ```text
//! fingerprint    0102  0105  01a0  0433
//! high part        01    01    01    04
//! growth            0     0     0     3
//! bit: growth + i   0     1     2     6      bit vector, lowest bit first: 1110001
//! low part         02    05    a0    33      stored as four bytes
//! ```
//!
//! To decode fingerprint 3: the fourth one in the vector is bit 6, so its growth is 6 - 3 = 3; the high
//! part is 01 + 3 = 04; the low part is byte 3, 33. In a real block of 16384 fingerprints the vector has
//! about 2 bits for each.
//!
//! ```text
//! block = header (8 bytes) | bit vector (64-bit words) | lows (low_bytes each)
//! ```
//!
//! Elias, "Efficient storage and retrieval by content and address of static files" (1974), and Fano,
//! "On the number of bits required to implement an associative memory" (1971), cut at any bit. Cutting
//! at bytes costs about 1.5 % at 8e9 random fingerprints and makes decoding the lows a plain copy.

use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::hamming::multiversion::Multiversion;
use crate::store::damage::damaged;

use super::unary;
use super::words::{HEADER_BYTES, bytes_of, plus, word};

/// Appends the code of `fingerprints`, in ascending order and at least one, to a block that has its
/// header. Returns `low_bytes`, for the header.
pub(crate) fn encode<F: Fingerprint>(fingerprints: &[F], block: &mut Vec<u8>) -> usize {
    let low_bytes = cheapest(fingerprints);
    let base = high(fingerprints[0], low_bytes);
    let growths = fingerprints.iter().map(|&fingerprint| high(fingerprint, low_bytes) - base);
    unary::write(growths, growth(fingerprints, low_bytes), block);
    for fingerprint in fingerprints {
        block.extend_from_slice(&fingerprint.to_u128().to_le_bytes()[..low_bytes]);
    }
    low_bytes
}

pub(crate) struct Decode<'a, F> {
    pub(crate) low_bytes: usize,
    pub block: &'a [u8],
    pub first: F,
    pub out: &'a mut [F],
}

impl<F: Fingerprint> Multiversion for Decode<'_, F> {
    type Output = Result<()>;

    #[inline(always)]
    fn run(self) -> Result<()> {
        let Decode { low_bytes, block, first, out } = self;
        let Parts { lows_at, base, .. } = Parts::of(block, low_bytes, out.len(), first)?;
        let vector = &block[HEADER_BYTES..lows_at];
        // If all bytes are low, all high parts are zero and the shift does not matter.
        let base = F::from_u128(base);
        let shift = (8 * low_bytes as u32).min(F::BITS - 1);
        unary::read(vector, out, |growth| plus(base, F::from_u128(growth.into())) << shift);
        join_lows(block, lows_at, low_bytes, out);
        Ok(())
    }
}

pub(crate) struct Parts {
    /// The first byte after the bit vector.
    pub(crate) lows_at: usize,
    /// The high part of the first fingerprint.
    pub base: u128,
    /// How far the high parts grow.
    pub(crate) growth: u64,
}

impl Parts {
    #[inline(always)]
    pub(crate) fn of<F: Fingerprint>(
        block: &[u8],
        low_bytes: usize,
        rows: usize,
        first: F,
    ) -> Result<Parts> {
        let lows_at = rows
            .checked_mul(low_bytes)
            .and_then(|lows| block.len().checked_sub(lows))
            .filter(|_| low_bytes <= bytes_of::<F>())
            .filter(|&at| at > HEADER_BYTES && at.is_multiple_of(unary::WORD_BYTES))
            .ok_or_else(|| damaged("the length of the block does not fit its low parts"))?;
        let base = high(first, low_bytes);
        let growth = unary::check(&block[HEADER_BYTES..lows_at], rows)?;
        match base.checked_add(growth.into()) {
            Some(last) if last <= high(F::MAX, low_bytes) => Ok(Parts { lows_at, base, growth }),
            _ => Err(damaged("the high parts exceed the width")),
        }
    }
}

#[inline(always)]
fn join_lows<F: Fingerprint>(block: &[u8], lows_at: usize, size: usize, out: &mut [F]) {
    match size {
        0 => {}
        2 => {
            let (lows, _) = block[lows_at..].as_chunks::<2>();
            for (slot, &low) in out.iter_mut().zip(lows) {
                *slot = *slot | F::from_u128(u16::from_le_bytes(low).into());
            }
        }
        4 => {
            let (lows, _) = block[lows_at..].as_chunks::<4>();
            for (slot, &low) in out.iter_mut().zip(lows) {
                *slot = *slot | F::from_u128(u32::from_le_bytes(low).into());
            }
        }
        // Read the word that ends with the low part, and drop its lower bytes. The first such word
        // starts in the bit vector or the header, never before the block.
        _ => {
            let words = block[lows_at + size - bytes_of::<F>()..].windows(bytes_of::<F>());
            let drop = F::BITS - 8 * size as u32;
            for (slot, bytes) in out.iter_mut().zip(words.step_by(size)) {
                *slot = *slot | word::<F>(bytes) >> drop;
            }
        }
    }
}

fn high<F: Fingerprint>(fingerprint: F, low_bytes: usize) -> u128 {
    fingerprint.to_u128().checked_shr(8 * low_bytes as u32).unwrap_or(0)
}

fn growth<F: Fingerprint>(fingerprints: &[F], low_bytes: usize) -> u128 {
    let first = fingerprints[0];
    let last = fingerprints[fingerprints.len() - 1];
    high(last, low_bytes) - high(first, low_bytes)
}

fn cheapest<F: Fingerprint>(fingerprints: &[F]) -> usize {
    let rows = fingerprints.len();
    (0..=bytes_of::<F>())
        .min_by_key(|&low_bytes| {
            let highs = unary::bytes(rows, growth(fingerprints, low_bytes));
            highs.saturating_add((rows * low_bytes) as u128)
        })
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn low_parts_wider_than_a_fingerprint_are_damage() {
        let of = |low_bytes: usize| {
            let mut block = vec![0; HEADER_BYTES + unary::WORD_BYTES + low_bytes];
            block[HEADER_BYTES] = 1;
            Parts::of(&block, low_bytes, 1, 0_u64).is_ok()
        };
        assert_eq!([8, 9].map(of), [true, false]);
    }
}
