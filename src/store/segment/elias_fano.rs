//! Elias-Fano with byte-aligned low parts: sorted fingerprints in close to the least space they can
//! take, decoded at memory speed.
//!
//! Every fingerprint is cut in two. The low `low_bytes` bytes are stored as they are, one after
//! another. The high parts ascend slowly, so only their growth is stored, in unary: a bit vector in
//! which fingerprint `i` of the block, whose high part exceeds that of the block's first fingerprint
//! by `g`, sets bit `g + i`. That is two bits or so a fingerprint when the cut is well chosen, and
//! it is chosen for each block by trying them all.
//!
//! Elias, "Efficient storage and retrieval by content and address of static files" (1974), and Fano,
//! "On the number of bits required to implement an associative memory" (1971), let the cut fall on
//! any bit. Falling on bytes costs some 1.5 % at 8e9 random fingerprints and makes decoding a plain
//! copy of the lows.
//!
//! ```text
//! block = header (8 bytes) | bit vector (64-bit words) | lows (low_bytes each)
//! ```

use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::store::damaged;

use super::block::{HEADER_BYTES, bytes_of, word};

/// Bytes in one word of the bit vector.
const WORD_BYTES: usize = 8;

/// Appends the code of `fingerprints`, ascending and not empty, to a block that holds its header,
/// and returns the `low_bytes` that the header must tell.
pub(crate) fn encode<F: Fingerprint>(fingerprints: &[F], block: &mut Vec<u8>) -> usize {
    let low_bytes = cheapest(fingerprints);
    let base = high(fingerprints[0], low_bytes);
    let bits_at = block.len();
    block.resize(bits_at + WORD_BYTES * words(fingerprints, low_bytes) as usize, 0);
    for (i, &fingerprint) in fingerprints.iter().enumerate() {
        let bit = (high(fingerprint, low_bytes) - base) as usize + i;
        block[bits_at + bit / 8] |= 1 << (bit % 8);
    }
    for fingerprint in fingerprints {
        block.extend_from_slice(&fingerprint.to_u128().to_le_bytes()[..low_bytes]);
    }
    low_bytes
}

/// Decodes `out.len()` fingerprints, of which the first is `first`, from a whole block.
///
/// # Errors
/// Bytes that no encoder writes are [`crate::Kind::BadData`].
pub(crate) fn decode<F: Fingerprint>(
    low_bytes: usize,
    block: &[u8],
    first: F,
    out: &mut [F],
) -> Result<()> {
    let lows_at = out
        .len()
        .checked_mul(low_bytes)
        .and_then(|lows| block.len().checked_sub(lows))
        .filter(|_| low_bytes <= bytes_of::<F>())
        .filter(|&at| at >= HEADER_BYTES + WORD_BYTES && at.is_multiple_of(WORD_BYTES))
        .ok_or_else(|| damaged("the low parts do not fit the block"))?;
    let bits = &block[HEADER_BYTES..lows_at];
    check(bits, low_bytes, first, out.len())?;
    place_highs(bits, low_bytes, first, out);
    join_lows(block, lows_at, low_bytes, out);
    match out.first() {
        Some(&decoded) if decoded != first => Err(damaged("the block does not start as it should")),
        _ => Ok(()),
    }
}

/// Whether the bit vector holds as many fingerprints as it should, none beyond the width.
fn check<F: Fingerprint>(bits: &[u8], low_bytes: usize, first: F, rows: usize) -> Result<()> {
    let ones: usize = bits_of(bits).map(|word| word.count_ones() as usize).sum();
    if ones != rows {
        return Err(damaged("the high parts are too many or too few").expected(rows).found(ones));
    }
    let trailing = bits_of(bits).next_back().map_or(0, u64::leading_zeros) as usize;
    let growth = (8 * bits.len()).saturating_sub(trailing + rows) as u128;
    match high(first, low_bytes).checked_add(growth) {
        Some(last) if last <= high(F::MAX, low_bytes) && trailing < 64 => Ok(()),
        _ => Err(damaged("the high parts exceed the width")),
    }
}

/// Fills `out` with the high parts, in place.
fn place_highs<F: Fingerprint>(bits: &[u8], low_bytes: usize, first: F, out: &mut [F]) {
    let base = high(first, low_bytes);
    // With every byte low, all high parts are zero, and no shift moves them.
    let shift = (8 * low_bytes as u32).min(F::BITS - 1);
    let mut rest = out;
    let mut written = 0;
    for (word, at) in bits_of(bits).zip((0u64..).step_by(64)) {
        let (here, later) = rest.split_at_mut(word.count_ones() as usize);
        let mut word = word;
        for slot in here {
            let growth = at + u64::from(word.trailing_zeros()) - written;
            *slot = F::from_u128(base + u128::from(growth)) << shift;
            word &= word.wrapping_sub(1);
            written += 1;
        }
        rest = later;
    }
}

/// Adds the low parts to the high parts that `out` holds.
fn join_lows<F: Fingerprint>(block: &[u8], lows_at: usize, low_bytes: usize, out: &mut [F]) {
    match low_bytes {
        0 => {}
        4 => {
            let (lows, _) = block[lows_at..].as_chunks::<4>();
            for (slot, &low) in out.iter_mut().zip(lows) {
                *slot = *slot | F::from_u128(u128::from(u32::from_le_bytes(low)));
            }
        }
        // A low part is the upper end of the word that ends where it ends. The first such word
        // starts in the bit vector or the header, so that none starts before the block.
        _ => {
            let size = bytes_of::<F>();
            let words = block[lows_at + low_bytes - size..].windows(size).step_by(low_bytes);
            let shift = F::BITS - 8 * low_bytes as u32;
            for (slot, bytes) in out.iter_mut().zip(words) {
                *slot = *slot | word::<F>(bytes) >> shift;
            }
        }
    }
}

/// The words of a bit vector.
fn bits_of(bits: &[u8]) -> impl DoubleEndedIterator<Item = u64> {
    bits.as_chunks::<WORD_BYTES>().0.iter().map(|&word| u64::from_le_bytes(word))
}

/// The bits of `fingerprint` above its low `low_bytes` bytes.
fn high<F: Fingerprint>(fingerprint: F, low_bytes: usize) -> u128 {
    fingerprint.to_u128().checked_shr(8 * low_bytes as u32).unwrap_or(0)
}

/// The 64-bit words that the high parts take.
fn words<F: Fingerprint>(fingerprints: &[F], low_bytes: usize) -> u128 {
    let (first, last) = (fingerprints[0], fingerprints[fingerprints.len() - 1]);
    let growth = high(last, low_bytes) - high(first, low_bytes);
    growth.saturating_add(fingerprints.len() as u128).div_ceil(64)
}

/// The number of low bytes that makes the smallest block.
fn cheapest<F: Fingerprint>(fingerprints: &[F]) -> usize {
    let rows = fingerprints.len() as u128;
    (0..=bytes_of::<F>())
        .min_by_key(|&low_bytes| {
            let highs = words(fingerprints, low_bytes).saturating_mul(WORD_BYTES as u128);
            highs.saturating_add(rows * low_bytes as u128)
        })
        .unwrap_or(0)
}
