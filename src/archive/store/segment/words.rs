//! Fingerprints as little-endian bytes: what the codecs of a block share.

use crate::fingerprint::{Fingerprint, Width};

pub(crate) const HEADER_BYTES: usize = 8;

/// The sum of two fingerprints as numbers, modulo the width.
#[inline]
pub(crate) fn plus<F: Fingerprint>(a: F, b: F) -> F {
    F::from_u128(a.to_u128().wrapping_add(b.to_u128()))
}

pub(crate) fn bytes<F: Fingerprint>(fingerprint: F) -> impl Iterator<Item = u8> {
    fingerprint.to_u128().to_le_bytes().into_iter().take(bytes_of::<F>())
}

pub(crate) const fn bytes_of<F: Fingerprint>() -> usize {
    (F::BITS / 8) as usize
}

pub(crate) fn word<F: Fingerprint>(bytes: &[u8]) -> F {
    let exact = "as many bytes as the width";
    match F::WIDTH {
        Width::W64 => F::from_u128(u64::from_le_bytes(bytes.try_into().expect(exact)).into()),
        Width::W128 => F::from_u128(u128::from_le_bytes(bytes.try_into().expect(exact))),
    }
}
