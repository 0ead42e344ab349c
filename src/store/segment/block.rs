//! The unit of coding and checksumming of the fingerprint column: up to [`BLOCK_ROWS`] fingerprints
//! in one of the codecs.
//!
//! A block opens with 8 bytes: the number of its codec, a parameter of that codec, six zeros. A new
//! codec is a new variant of [`Codec`] and a module of its own.

use crate::error::Result;
use crate::fingerprint::{Fingerprint, Width};
use crate::store::damaged;

use super::elias_fano;

/// Fingerprints in a block; the last block of a segment may hold fewer.
pub const BLOCK_ROWS: usize = 16_384;

/// The bytes before a block's code.
pub(crate) const HEADER_BYTES: usize = 8;

/// How a block of fingerprints is coded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Codec {
    /// Elias-Fano with byte-aligned low parts: the parameter is the number of low bytes.
    #[default]
    EliasFano = 1,
}

impl Codec {
    fn of(number: u8) -> Option<Codec> {
        [Codec::EliasFano].into_iter().find(|codec| *codec as u8 == number)
    }
}

/// Makes `block` the code of `fingerprints`, which ascend and number 1 to [`BLOCK_ROWS`].
pub(crate) fn encode<F: Fingerprint>(codec: Codec, fingerprints: &[F], block: &mut Vec<u8>) {
    block.clear();
    block.resize(HEADER_BYTES, 0);
    block[0] = codec as u8;
    block[1] = match codec {
        Codec::EliasFano => elias_fano::encode(fingerprints, block) as u8,
    };
}

/// Decodes `out.len()` fingerprints, of which the first is `first`.
///
/// # Errors
/// Bytes that no encoder writes are [`crate::Kind::BadData`].
pub(crate) fn decode<F: Fingerprint>(block: &[u8], first: F, out: &mut [F]) -> Result<()> {
    let &[codec, parameter, ..] = block else {
        return Err(damaged("the block has no header"));
    };
    match Codec::of(codec) {
        Some(Codec::EliasFano) => elias_fano::decode(parameter.into(), block, first, out),
        None => Err(damaged("the block has an unknown codec").found(codec)),
    }
}

/// The most bytes that a block of `rows` fingerprints takes in any codec.
pub(crate) fn most_bytes(rows: u64, width: Width) -> u64 {
    HEADER_BYTES as u64 + rows * u64::from(width.bits() / 8) + 8 * rows.div_ceil(64)
}

/// The bytes of one fingerprint.
pub(crate) const fn bytes_of<F: Fingerprint>() -> usize {
    (F::BITS / 8) as usize
}

/// The fingerprint that little-endian `bytes`, [`bytes_of`] many, stand for.
pub(crate) fn word<F: Fingerprint>(bytes: &[u8]) -> F {
    let exact = "as many bytes as the width";
    match F::WIDTH {
        Width::W64 => F::from_u128(u64::from_le_bytes(bytes.try_into().expect(exact)).into()),
        Width::W128 => F::from_u128(u128::from_le_bytes(bytes.try_into().expect(exact))),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn round_trip<F: Fingerprint>(mut fingerprints: Vec<F>) {
        fingerprints.sort_unstable();
        let mut block = Vec::new();
        encode(Codec::EliasFano, &fingerprints, &mut block);
        assert!(block.len() as u64 <= most_bytes(fingerprints.len() as u64, F::WIDTH));
        let mut decoded = vec![F::default(); fingerprints.len()];
        decode(&block, fingerprints[0], &mut decoded).unwrap();
        assert_eq!(decoded, fingerprints);
    }

    proptest! {
        #[test]
        fn any_fingerprints_come_back(all in prop::collection::vec(any::<u64>(), 1..300)) {
            round_trip(all.clone());
            round_trip(all.iter().map(|&f| u128::from(f)).collect());
            round_trip(all.iter().map(|&f| u128::from(f) << 64 | u128::from(!f)).collect());
        }

        #[test]
        fn clustered_fingerprints_come_back(
            all in prop::collection::vec((any::<u128>(), 0u32..128), 1..300)
        ) {
            round_trip::<u128>(all.iter().map(|&(f, shift)| f >> shift).collect());
            round_trip::<u64>(all.iter().map(|&(f, shift)| (f >> shift) as u64).collect());
        }

        #[test]
        fn hostile_bytes_never_panic(
            mut block in prop::collection::vec(any::<u8>(), 0..200),
            low_bytes in 0u8..20,
            first: u64,
            rows in 0usize..100,
        ) {
            if let [codec, parameter, ..] = &mut block[..] {
                (*codec, *parameter) = (1, low_bytes);
            }
            let _ = decode(&block, first, &mut vec![0; rows]);
            let _ = decode(&block, u128::from(first) << 64, &mut vec![0; rows]);
        }
    }

    #[test]
    fn extremes_come_back() {
        round_trip(vec![0u64]);
        round_trip(vec![u64::MAX]);
        round_trip(vec![0, u64::MAX]);
        round_trip(vec![0, u128::MAX]);
        round_trip(vec![u128::MAX; 100]);
        round_trip(vec![7u64; BLOCK_ROWS]);
        round_trip((0..BLOCK_ROWS as u64).collect());
        round_trip((0..BLOCK_ROWS as u128).map(|f| f << 114).collect());
    }

    #[test]
    fn equal_fingerprints_take_a_bit_each() {
        let mut block = Vec::new();
        encode(Codec::EliasFano, &[u64::MAX; 6400], &mut block);
        assert_eq!(block.len(), HEADER_BYTES + 800);
    }
}
