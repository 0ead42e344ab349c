//! A block of fingerprints: up to [`BLOCK_ROWS`] of them, coded and checksummed together.
//!
//! A block begins with 8 bytes: the number of its codec, a parameter of the codec, six zeros. To add a
//! codec, add a variant to [`Codec`] and a file like `elias_fano`.

use crate::error::{Error, Result, named};
use crate::fingerprint::{Fingerprint, Width};
use crate::hamming::multiversion::widest;
use crate::store::damage::damaged;

use super::words::HEADER_BYTES;
use super::{elias_fano, huffman};

pub const BLOCK_ROWS: usize = 16_384;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Codec {
    /// Elias-Fano with whole low bytes, the fastest to decode. The parameter is the number of low bytes.
    #[default]
    EliasFano = 1,
    /// Huffman codes of the first bit that differs from the fingerprint before, in pages of 1024 bytes, as
    /// in the paper. No parameter.
    Huffman = 2,
}

named!(pub Codec {
    EliasFano = "elias-fano",
    Huffman = "huffman",
} or "there is no such codec");

impl Codec {
    pub fn of(number: u8) -> Option<Codec> {
        Codec::ALL.into_iter().find(|codec| *codec as u8 == number)
    }
}

/// Codes `fingerprints`, 1 to [`BLOCK_ROWS`] in ascending order, into `block`.
pub(crate) fn encode<F: Fingerprint>(codec: Codec, fingerprints: &[F], block: &mut Vec<u8>) {
    block.clear();
    block.resize(HEADER_BYTES, 0);
    block[0] = codec as u8;
    let parameter = match codec {
        Codec::EliasFano => elias_fano::encode(fingerprints, block),
        Codec::Huffman => huffman::encode(fingerprints, block),
    };
    block[1] = parameter as u8;
}

pub(crate) fn decode<F: Fingerprint>(block: &[u8], first: F, out: &mut [F]) -> Result<()> {
    let Some((&[codec, parameter, ..], code)) = block.split_first_chunk::<HEADER_BYTES>() else {
        return Err(damaged("the block has no header"));
    };
    let codec = Codec::of(codec).ok_or_else(|| unknown(codec))?;
    let low_bytes = usize::from(parameter);
    match codec {
        Codec::EliasFano => widest(elias_fano::Decode { low_bytes, block, first, out: &mut *out }),
        Codec::Huffman => huffman::decode(code, out),
    }?;
    match out.first() {
        Some(&decoded) if decoded != first => Err(other_first()),
        _ => Ok(()),
    }
}

pub(super) fn other_first() -> Error {
    damaged("the block has another first fingerprint than the directory says")
}

pub(crate) fn unknown(codec: u8) -> Error {
    damaged("the block has an unknown codec").found(codec)
}

pub(crate) fn most_bytes(rows: u64, width: Width) -> u64 {
    1024 + 2 * rows * u64::from(width.bits() / 8)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn round_trip<F: Fingerprint>(mut fingerprints: Vec<F>) {
        fingerprints.sort_unstable();
        for codec in Codec::ALL {
            let mut block = Vec::new();
            encode(codec, &fingerprints, &mut block);
            let bytes = block.len() as u64;
            let rows = fingerprints.len() as u64;
            assert!(bytes <= most_bytes(rows, F::WIDTH), "{codec}: {rows} rows in {bytes} bytes");
            let mut decoded = vec![F::default(); fingerprints.len()];
            decode(&block, fingerprints[0], &mut decoded).unwrap();
            assert!(decoded == fingerprints, "{codec}");
        }
    }

    proptest! {
        #[test]
        fn clustered_fingerprints_come_back(
            all in prop::collection::vec((any::<u128>(), 0u32..128), 1..300)
        ) {
            round_trip::<u128>(all.iter().map(|&(f, shift)| f >> shift).collect());
            round_trip::<u64>(all.iter().map(|&(f, shift)| (f >> shift) as u64).collect());
        }

        #[test]
        fn damaged_blocks_never_panic(
            all in prop::collection::btree_set(any::<u64>(), 1..500),
            flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
            head in (0u8..5, 0u8..130),
            cut: prop::sample::Index,
            rows in 0usize..600,
        ) {
            let all: Vec<u64> = all.into_iter().collect();
            for codec in Codec::ALL {
                let mut block = Vec::new();
                encode(codec, &all, &mut block);
                for (place, flip) in &flips {
                    let place = place.index(block.len());
                    block[place] ^= flip;
                }
                let _ = decode(&block, all[0], &mut vec![0; all.len()]);
                let _ = decode(&block, all[0], &mut vec![0; rows]);
                let _ = decode(&block[..cut.index(block.len())], all[0], &mut vec![0; all.len()]);
                (block[0], block[1]) = head;
                let _ = decode(&block, all[0], &mut vec![0; all.len()]);
                let _ = decode(&block, u128::from(all[0]) << 64, &mut vec![0; rows]);
            }
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
        // Every bit is the first that differs, some of them very often.
        round_trip((0..64).map(|bit| 1u64 << bit).collect());
        round_trip((0..128).map(|bit| 1u128 << bit).chain(0..16_000).collect());
    }

    #[test]
    fn equal_fingerprints_take_a_bit_each() {
        let mut block = Vec::new();
        encode(Codec::EliasFano, &[u64::MAX; 6400], &mut block);
        assert_eq!(block.len(), HEADER_BYTES + 800);
    }
}
