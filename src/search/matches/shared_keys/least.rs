//! The keys of short pages: of each eighth of its shingles the one with the least hash, by what its sketch has of it.

use std::mem;
use std::ops::Range;

use crate::error::Result;
use crate::fingerprint::check::{ANCHORS, Hashes};
use crate::progress::{self, Activity};
use crate::store::RowBytes;
use crate::tables::keys::KEY_BYTES;

/// The most shingles of a short page.
const SHORT: u32 = 1 << 7;

/// The place of the hash of a shingle, and its key there: the other bits of the hash, spread over those of a key.
pub(super) fn key_of(hash: u32) -> (u8, u64) {
    let place = hash % ANCHORS as u32;
    let key = u64::from(hash / ANCHORS as u32).wrapping_mul(0x9e37_79b9_7f4b);
    (place as u8, key & ((1 << (8 * KEY_BYTES)) - 1))
}

/// Calls `take` with each key of the short ones of these pages: its place, and the page. It has the least hash of the page there.
pub(super) fn each_key(
    mut sketches: RowBytes,
    shingles: &[u32],
    pages: Range<u32>,
    mut take: impl FnMut((u8, u64), u32, u64),
) -> Result<()> {
    for page in pages.filter(|&page| (1..=SHORT).contains(&shingles[page as usize])) {
        progress::tick(Activity::Working);
        let mut is_taken = [false; ANCHORS];
        for hash in Hashes::of(sketches.get(page.into())?) {
            let (place, key) = key_of(hash);
            if !mem::replace(&mut is_taken[usize::from(place)], true) {
                take((place, key), page, 0);
            }
        }
    }
    Ok(())
}
