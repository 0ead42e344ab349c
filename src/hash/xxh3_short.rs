//! XXH3 of 4 to 16 bytes, in 64 bits and with seed 0: a shingle's length. The library's function is
//! the same for every length, but it is not inlined, and a hash is made for each shingle.

/// Words of XXH3's default secret, by their places.
const SECRET_8: u64 = 0x1cad_21f7_2c81_017c;
const SECRET_16: u64 = 0xdb97_9083_e96d_d4de;
const SECRET_24: u64 = 0x1f67_b3b7_a4a4_4072;
const SECRET_32: u64 = 0x78e5_c0cc_4ee6_79cb;
const SECRET_40: u64 = 0x2172_ffcc_7dd0_5a82;
const SECRET_48: u64 = 0x8e24_43f7_7446_08b8;

/// The hash of `bytes`; none unless there are 4 to 16 of them.
#[inline(always)]
pub(super) fn xxh3_short(bytes: &[u8]) -> Option<u64> {
    let length = bytes.len() as u64;
    match bytes.len() {
        4..=8 => {
            let first = u32::from_le_bytes(*bytes.first_chunk()?);
            let last = u32::from_le_bytes(*bytes.last_chunk()?);
            let both = u64::from(last) | u64::from(first) << 32;
            Some(mix(both ^ (SECRET_8 ^ SECRET_16), length))
        }
        9..=16 => {
            let first = u64::from_le_bytes(*bytes.first_chunk()?) ^ (SECRET_24 ^ SECRET_32);
            let last = u64::from_le_bytes(*bytes.last_chunk()?) ^ (SECRET_40 ^ SECRET_48);
            let product = u128::from(first) * u128::from(last);
            let folded = product as u64 ^ (product >> 64) as u64;
            let sum = length.wrapping_add(first.swap_bytes()).wrapping_add(last);
            Some(avalanche(sum.wrapping_add(folded)))
        }
        _ => None,
    }
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
            let expected = (4..=16).contains(&bytes.len()).then(|| xxh3_64(&bytes));
            assert_eq!(xxh3_short(&bytes), expected);
        }
    }
}
