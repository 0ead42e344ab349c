//! Numbers that grow slowly, as a bit vector: number `i`, with the value `g`, sets bit `g + i`. This takes
//! one bit for each number and one for each step upwards.
//!
//! ```text
//! numbers 0 0 0 3     set bits 0+0, 0+1, 0+2, 3+3     vector, lowest bit first: 1110001
//! ```
//!
//! To read number 3, take the position of the fourth one, 6, and subtract 3.

use crate::error::Result;
use crate::store::damage::damaged;

pub(crate) const WORD_BYTES: usize = 8;

/// Numbers that are decoded between two checks whether the word has more.
const STRIDE: usize = 16;

pub(crate) fn bytes(rows: usize, last: u128) -> u128 {
    last.saturating_add(rows as u128).div_ceil(64).saturating_mul(WORD_BYTES as u128)
}

pub(crate) fn write(numbers: impl ExactSizeIterator<Item = u128>, last: u128, out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + bytes(numbers.len(), last) as usize, 0);
    for (i, number) in numbers.enumerate() {
        let bit = number as usize + i;
        out[start + bit / 8] |= 1 << (bit % 8);
    }
}

#[inline(always)]
pub(crate) fn check(vector: &[u8], rows: usize) -> Result<u64> {
    let ones: usize = words(vector).map(|word| word.count_ones() as usize).sum();
    if ones != rows {
        let error = damaged("the number of high parts is wrong");
        return Err(error.expected(rows).found(ones));
    }
    match words(vector).next_back().map_or(0, u64::leading_zeros) {
        64 => Err(damaged("the bit vector is longer than its high parts")),
        trailing => Ok(8 * vector.len() as u64 - u64::from(trailing) - rows as u64),
    }
}

/// Fills `out` with `make` of each number. `vector` was [checked](check) to have as many.
#[inline(always)]
pub(crate) fn read<T>(vector: &[u8], out: &mut [T], make: impl Fn(u64) -> T) {
    let mut rest = out;
    // The first bit of the word minus the numbers before it.
    let mut base = 0u64;
    for word in words(vector) {
        let ones = word.count_ones() as usize;
        match rest.first_chunk_mut::<64>() {
            Some(slots) => place_in_strides(word, base, ones, slots, &make),
            None => {
                place(word, base, &mut rest[..ones], &make);
            }
        }
        rest = &mut rest[ones..];
        base += 64 - ones as u64;
    }
}

/// Writes the numbers of one word. To save branches, the function may write a few slots too many.
/// The next words overwrite these slots.
#[inline(always)]
fn place_in_strides<T>(
    mut word: u64,
    base: u64,
    ones: usize,
    slots: &mut [T; 64],
    make: &impl Fn(u64) -> T,
) {
    let strides = slots.as_chunks_mut::<STRIDE>().0.iter_mut().take(ones.div_ceil(STRIDE));
    for (placed, stride) in (0..).step_by(STRIDE).zip(strides) {
        word = place(word, base.wrapping_sub(placed), stride, make);
    }
}

/// Writes as many numbers of a word as there are slots, and returns the bits that are left. Slots
/// after the last number get any value.
#[inline(always)]
fn place<T>(mut word: u64, base: u64, slots: &mut [T], make: &impl Fn(u64) -> T) -> u64 {
    for (i, slot) in (0..).zip(slots) {
        *slot = make(base.wrapping_add(word.trailing_zeros().into()).wrapping_sub(i));
        word &= word.wrapping_sub(1);
    }
    word
}

pub(super) fn words(vector: &[u8]) -> impl DoubleEndedIterator<Item = u64> {
    vector.as_chunks::<WORD_BYTES>().0.iter().map(|&word| u64::from_le_bytes(word))
}
