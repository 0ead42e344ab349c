//! Rice codes of the gaps between fingerprints: within half a percent of the least possible space for
//! random fingerprints.
//!
//! Each gap is cut in two. Its low `low_bits` bits are stored as they are, packed. The rest is small; the
//! running sums of the rests grow slowly and are stored in [`unary`], apart from the lows, so that both
//! are decoded by plain loops. The encoder finds the best cut. With `low_bits` = 6:
//!
//! ```text
//! fingerprint       0102  0105  01a0  0433
//! gap                  0     3   155   659
//! low: gap mod 64      0     3    27    19    packed: 6 bits each
//! rest: gap / 64       0     0     2    10
//! sum of rests         0     0     2    12
//! bit: sum + i         0     1     4    15    bit vector
//! ```
//!
//! Rice, "Some practical universal noiseless coding techniques" (1979).
//!
//! ```text
//! block = header (8 bytes) | bit vector (64-bit words) | lows (low_bits each, the lowest bit first)
//! ```

use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::hamming::multiversion::Multiversion;
use crate::store::damage::damaged;

use super::unary;
use super::words::{HEADER_BYTES, bytes_of, plus, word};

/// Appends the code of `fingerprints`, in ascending order and at least one, to a block that has its
/// header. Returns `low_bits`, for the header.
pub(crate) fn encode<F: Fingerprint>(fingerprints: &[F], block: &mut Vec<u8>) -> usize {
    let low_bits = cheapest(fingerprints);
    let highs = gaps(fingerprints).scan(0, |sum, gap| {
        *sum += gap >> low_bits;
        Some(*sum)
    });
    let highs: Vec<u128> = highs.collect();
    unary::write(highs.iter().copied(), highs[highs.len() - 1], block);
    let mut waiting = 0;
    let mut held = 0;
    for gap in gaps(fingerprints) {
        // At most 7 bits are waiting, and at most 121 come.
        waiting |= (gap & mask(low_bits)) << held;
        held += low_bits;
        block.extend_from_slice(&waiting.to_le_bytes()[..held as usize / 8]);
        waiting = waiting.checked_shr(held / 8 * 8).unwrap_or(0);
        held %= 8;
    }
    block.extend_from_slice(&waiting.to_le_bytes()[..held.div_ceil(8) as usize]);
    low_bits as usize
}

/// Decodes `out.len()` fingerprints, the first of which is `first`, from a block.
///
/// Bytes that no encoder writes are [`crate::Kind::BadData`].
pub(crate) struct Decode<'a, F> {
    pub(crate) low_bits: usize,
    pub(crate) block: &'a [u8],
    pub(crate) first: F,
    pub(crate) out: &'a mut [F],
}

impl<F: Fingerprint> Multiversion for Decode<'_, F> {
    type Output = Result<()>;

    #[inline(always)]
    fn run(self) -> Result<()> {
        let Decode { low_bits, block, first, out } = self;
        let lows_at = out
            .len()
            .checked_mul(low_bits)
            .and_then(|bits| block.len().checked_sub(bits.div_ceil(8)))
            .filter(|_| low_bits <= most_low_bits::<F>() as usize)
            .filter(|&at| at > HEADER_BYTES && at.is_multiple_of(unary::WORD_BYTES))
            .ok_or_else(|| damaged("the length of the block does not fit its low parts"))?;
        let vector = &block[HEADER_BYTES..lows_at];
        let highs = unary::check(vector, out.len())?;
        if u128::from(highs) > F::MAX.to_u128() >> low_bits {
            return Err(damaged("the high parts exceed the width"));
        }
        unary::read(vector, out, |high| F::from_u128(high.into()) << low_bits as u32);
        add_lows(block, lows_at, low_bits, first, out);
        Ok(())
    }
}

/// Adds `first` and the running sum of the low parts to what is in `out`.
#[inline(always)]
fn add_lows<F: Fingerprint>(
    block: &[u8],
    lows_at: usize,
    low_bits: usize,
    first: F,
    out: &mut [F],
) {
    let mask = F::from_u128(mask(low_bits as u32));
    // Read the word that ends with the last byte of the low part. The first such word starts in the bit
    // vector or the header, never before the block.
    let words = &block[lows_at - bytes_of::<F>()..];
    let mut sum = first;
    let mut bit = 0;
    for slot in out {
        let end = (bit + low_bits).div_ceil(8);
        let shift = F::BITS - (8 * end - bit) as u32;
        // A low part of no bits may begin where its word ends.
        let word = word::<F>(&words[end..end + bytes_of::<F>()]) >> shift.min(F::BITS - 1);
        sum = plus(sum, word & mask);
        *slot = plus(*slot, sum);
        bit += low_bits;
    }
}

/// The gap before each fingerprint; 0 before the first.
fn gaps<F: Fingerprint>(fingerprints: &[F]) -> impl Iterator<Item = u128> {
    let before = fingerprints[..1].iter().chain(fingerprints);
    fingerprints.iter().zip(before).map(|(next, last)| next.to_u128() - last.to_u128())
}

/// The lowest `bits` bits, fewer than 128.
fn mask(bits: u32) -> u128 {
    (1 << bits) - 1
}

/// The most low bits: so many bits fit into one word, at whatever bit of a byte they begin. (The
/// sum of the rests is then less than 128.)
fn most_low_bits<F: Fingerprint>() -> u32 {
    F::BITS - 7
}

/// The number of low bits that makes the smallest block. Each further low bit costs one bit a row,
/// and saves fewer bits of the rests than the low bit before. So the function takes the last number
/// whose bit still pays.
fn cheapest<F: Fingerprint>(fingerprints: &[F]) -> u32 {
    let rows = fingerprints.len() as u128;
    let mut low = 0;
    let mut high = most_low_bits::<F>();
    while low < high {
        let middle = (low + high) / 2;
        let saved: u128 = gaps(fingerprints).map(|gap| (gap >> middle).div_ceil(2)).sum();
        if saved > rows { low = middle + 1 } else { high = middle }
    }
    low
}
