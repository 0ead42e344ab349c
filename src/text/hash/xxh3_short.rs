//! XXH3 of 1 to 16 bytes, the length of words and shingles, in 64 bits and with seed 0. That of the library is not
//! inlined, and a hash is made for each word and shingle.

use std::hint::select_unpredictable;

/// Words of XXH3's default secret, by their places.
const SECRET_0: u64 = 0xbe4b_a423_396c_feb8;
const SECRET_8: u64 = 0x1cad_21f7_2c81_017c;
const SECRET_16: u64 = 0xdb97_9083_e96d_d4de;
const SECRET_24: u64 = 0x1f67_b3b7_a4a4_4072;
const SECRET_32: u64 = 0x78e5_c0cc_4ee6_79cb;
const SECRET_40: u64 = 0x2172_ffcc_7dd0_5a82;
const SECRET_48: u64 = 0x8e24_43f7_7446_08b8;

/// The hash of `bytes`; none unless there are 1 to 16 of them.
#[inline(always)]
pub(super) fn xxh3_short(bytes: &[u8]) -> Option<u64> {
    match bytes.len() {
        1..=3 => {
            let [middle, last] = [bytes.len() / 2, bytes.len() - 1];
            Some(of_3([bytes[0], bytes[middle], bytes[last]], bytes.len()))
        }
        4..=8 => {
            let first = u32::from_le_bytes(*bytes.first_chunk()?);
            Some(of_8([first, u32::from_le_bytes(*bytes.last_chunk()?)], bytes.len()))
        }
        9..=16 => {
            let first = u64::from_le_bytes(*bytes.first_chunk()?);
            Some(of_16([first, u64::from_le_bytes(*bytes.last_chunk()?)], bytes.len()))
        }
        _ => None,
    }
}

/// The hash of the bytes from `start` to `end`, where these are ASCII, 1 to 16 of them, and sixteen bytes follow the start; else none.
///
/// How long words are can hardly be foreseen. So the hashes for all lengths are made, and one of them is taken.
#[inline(always)]
pub(crate) fn xxh3_of_ascii(bytes: &[u8], start: usize, end: usize) -> Option<u64> {
    const HIGH: u128 = u128::MAX / 0xff * 0x80;
    let length = end - start;
    let sixteen = u128::from_le_bytes(*bytes[start..].first_chunk()?);
    // The last byte becomes the highest.
    let ending = sixteen << (128_usize.wrapping_sub(8 * length) % 128);
    if !(1..=16).contains(&length) || ending & HIGH != 0 {
        return None;
    }
    let middle = sixteen as u64 >> (8 * (length / 2) % 64);
    let of_3 = of_3([sixteen as u8, middle as u8, (ending >> 120) as u8], length);
    let of_8 = of_8([sixteen as u32, (ending >> 96) as u32], length);
    let of_16 = of_16([sixteen as u64, (ending >> 64) as u64], length);
    let short = select_unpredictable(length < 4, of_3, of_8);
    Some(select_unpredictable(length > 8, of_16, short))
}

/// The hash of at most three bytes: of the first, the middle and the last.
#[inline(always)]
fn of_3([first, middle, last]: [u8; 3], length: usize) -> u64 {
    let all = u64::from(first) << 16 | u64::from(middle) << 24 | u64::from(last);
    let all = all | (length as u64) << 8;
    avalanche_of_xxh64(all ^ (SECRET_0 & 0xffff_ffff ^ SECRET_0 >> 32))
}

/// The hash of four to eight bytes: of the first four and the last four.
#[inline(always)]
fn of_8([first, last]: [u32; 2], length: usize) -> u64 {
    let both = u64::from(last) | u64::from(first) << 32;
    mix(both ^ (SECRET_8 ^ SECRET_16), length as u64)
}

/// The hash of nine to sixteen bytes: of the first eight and the last eight.
#[inline(always)]
fn of_16([first, last]: [u64; 2], length: usize) -> u64 {
    let first = first ^ (SECRET_24 ^ SECRET_32);
    let last = last ^ (SECRET_40 ^ SECRET_48);
    let sum = (length as u64).wrapping_add(first.swap_bytes()).wrapping_add(last);
    avalanche(sum.wrapping_add(folded(first, last)))
}

/// The halves of a product of 128 bits, folded.
#[inline(always)]
pub(crate) fn folded(one: u64, another: u64) -> u64 {
    let product = u128::from(one) * u128::from(another);
    product as u64 ^ (product >> 64) as u64
}

#[inline(always)]
fn avalanche_of_xxh64(mut hash: u64) -> u64 {
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xc2b2_ae3d_27d4_eb4f);
    hash ^= hash >> 29;
    hash = hash.wrapping_mul(0x1656_67b1_9e37_79f9);
    hash ^ hash >> 32
}

#[inline(always)]
fn mix(mut hash: u64, length: u64) -> u64 {
    const PRIME: u64 = 0x9fb2_1c65_1e98_df25;
    hash ^= hash.rotate_left(49) ^ hash.rotate_left(24);
    hash = hash.wrapping_mul(PRIME);
    hash ^= (hash >> 35).wrapping_add(length);
    hash = hash.wrapping_mul(PRIME);
    hash ^ hash >> 28
}

#[inline(always)]
fn avalanche(mut hash: u64) -> u64 {
    hash ^= hash >> 37;
    hash = hash.wrapping_mul(0x1656_6791_9e37_79f9);
    hash ^ hash >> 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use xxhash_rust::xxh3::xxh3_64;

    proptest::proptest! {
        #[test]
        fn is_the_function_of_the_library(bytes in proptest::collection::vec(0..=255_u8, 0..20)) {
            let expected = (1..=16).contains(&bytes.len()).then(|| xxh3_64(&bytes));
            assert_eq!(xxh3_short(&bytes), expected);
        }

        #[test]
        fn of_ascii_within_a_text_is_the_function_of_the_library(
            text in "([a-z]|\\PC){0,40}", start in 0..40_usize, length in 0..20_usize,
        ) {
            let bytes = text.as_bytes();
            let start = start.min(bytes.len());
            let end = (start + length).min(bytes.len());
            let part = &bytes[start..end];
            let is_taken =
                part.is_ascii() && (1..=16).contains(&part.len()) && start + 16 <= bytes.len();
            assert_eq!(xxh3_of_ascii(bytes, start, end), is_taken.then(|| xxh3_64(part)));
        }
    }
}
