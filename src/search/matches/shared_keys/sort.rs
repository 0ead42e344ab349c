//! The keys by which pages meet, of the rows of a segment.

use std::mem;
use std::ops::Range;

use crate::error::Result;
use crate::fingerprint::check::{ANCHOR_BYTES, ANCHORS, Hashes};
use crate::progress::{self, Activity};
use crate::store::{Column, RowBytes, Segment};
use crate::tables::keys::{KEY_BYTES, key_of};

const _: () = assert!(ANCHOR_BYTES == KEY_BYTES);

/// The key of a page that has none in this place.
pub(super) const NONE: u64 = (1 << (8 * KEY_BYTES)) - 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    Anchors,
    Bands,
    /// The least shingles of short pages, by which these are found in much longer ones.
    Parts,
}

impl Sort {
    pub(super) fn column(self) -> Column {
        match self {
            Sort::Anchors | Sort::Parts => Column::Anchors,
            Sort::Bands => Column::Bands,
        }
    }

    pub(super) fn keys(self, segment: &Segment) -> Option<RowBytes> {
        match self {
            Sort::Anchors => segment.anchors(),
            Sort::Bands => segment.bands(),
            Sort::Parts => segment.checks(),
        }
    }

    /// How many places there are; none if the segment has no such keys.
    pub(super) fn places(self, segment: &Segment) -> usize {
        match self {
            Sort::Anchors | Sort::Parts => segment.anchors().map_or(0, |_| ANCHORS),
            Sort::Bands => segment.row_bytes(Column::Bands) / KEY_BYTES,
        }
    }

    /// The place of a key, which has this number in its row. A long page has several anchors in each place.
    #[inline]
    pub(super) fn place_of(self, number: usize, key: u64) -> u8 {
        match self {
            Sort::Anchors | Sort::Parts => (key % ANCHORS as u64) as u8,
            Sort::Bands => number as u8,
        }
    }

    /// The keys of a row, each with its place.
    pub(super) fn keys_of(self, row: &[u8]) -> impl Iterator<Item = (u8, u64)> + Clone {
        let keys = row.as_chunks().0.iter().map(key_of).enumerate();
        keys.filter(|&(_, key)| key != NONE).map(move |(at, key)| (self.place_of(at, key), key))
    }

    /// A byte of each of the eight anchors of a page, that of the first place the highest. Other keys have no such bytes.
    pub(super) fn bytes_of(self, row: &[u8]) -> u64 {
        let keys = match self {
            Sort::Anchors => row.as_chunks().0.first_chunk::<ANCHORS>().map_or(&[][..], |it| it),
            Sort::Bands | Sort::Parts => &[],
        };
        // The lowest bits of an anchor name its place.
        keys.iter().fold(0, |bytes, key| bytes << 8 | (key_of(key) >> 3 & 0xff))
    }

    /// These bytes, that of the next place the highest.
    pub(super) fn behind(bytes: u64, place: u8) -> u64 {
        bytes.rotate_left(8 * (u32::from(place) + 1))
    }

    pub(super) fn keys_of_page(self, segment: &Segment) -> usize {
        match self {
            Sort::Parts => ANCHORS,
            Sort::Anchors | Sort::Bands => segment.mean_row_bytes(self.column()) / KEY_BYTES,
        }
    }
}

/// The keys of one sort that a batch has.
#[derive(Clone, Copy, Debug)]
pub(super) struct BatchKeys<'a> {
    pub(super) batch: &'a Segment,
    pub(super) sort: Sort,
    /// How many shingles each page has; none of one like another page.
    pub(super) shingles: &'a [u32],
}

impl BatchKeys<'_> {
    /// Calls `take` with each key of these pages and its place, the page, and the [bytes](Sort::bytes_of) of its keys. Of pages with one
    /// fingerprint and one sketch, the first one is enough.
    pub(super) fn each(
        self,
        pages: Range<u32>,
        take: impl FnMut((u8, u64), u32, u64),
    ) -> Result<()> {
        let BatchKeys { batch, sort, shingles } = self;
        let (Some(keys_of), Some(sketches)) = (sort.keys(batch), batch.checks()) else {
            return Ok(());
        };
        match sort {
            Sort::Parts => each_least_key(sketches, shingles, pages, take),
            Sort::Anchors | Sort::Bands => each_key(sort, batch, (keys_of, sketches), pages, take),
        }
    }
}

fn each_key(
    sort: Sort,
    batch: &Segment,
    (mut keys_of, mut sketches): (RowBytes, RowBytes),
    pages: Range<u32>,
    mut take: impl FnMut((u8, u64), u32, u64),
) -> Result<()> {
    let mut fingerprints = batch.fingerprints();
    let (mut last, mut last_sketch) = (Vec::new(), Vec::new());
    // From the row before them on, of which the first one may be a copy.
    for page in pages.start.saturating_sub(1)..pages.end {
        progress::tick(Activity::Working);
        let row = u64::from(page);
        let keys = keys_of.get(row)?;
        let is_like_last = last == keys;
        if is_like_last && fingerprints.get(row)? == fingerprints.get(row - 1)? {
            let is_copy = last_sketch == sketches.get(row)?;
            if is_copy {
                continue;
            }
        }
        if !is_like_last {
            keys.clone_into(&mut last);
        }
        sketches.get(row)?.clone_into(&mut last_sketch);
        if pages.contains(&page) {
            let bytes = sort.bytes_of(keys);
            sort.keys_of(keys).for_each(|key| take(key, page, bytes));
        }
    }
    Ok(())
}

/// The most shingles of a short page.
const SHORT: u32 = 1 << 7;

/// The place of the hash of a shingle, and its key there: the other bits of the hash, spread over those of a key.
pub(super) fn key_of_hash(hash: u32) -> (u8, u64) {
    let place = hash % ANCHORS as u32;
    let key = u64::from(hash / ANCHORS as u32).wrapping_mul(0x9e37_79b9_7f4b);
    (place as u8, key & ((1 << (8 * KEY_BYTES)) - 1))
}

/// Calls `take` with each key of the short ones of these pages: its place, and the page. It has the least hash of the page there.
fn each_least_key(
    mut sketches: RowBytes,
    shingles: &[u32],
    pages: Range<u32>,
    mut take: impl FnMut((u8, u64), u32, u64),
) -> Result<()> {
    for page in pages.filter(|&page| (1..=SHORT).contains(&shingles[page as usize])) {
        progress::tick(Activity::Working);
        let mut is_taken = [false; ANCHORS];
        for hash in Hashes::of(sketches.get(page.into())?) {
            let (place, key) = key_of_hash(hash);
            if !mem::replace(&mut is_taken[usize::from(place)], true) {
                take((place, key), page, 0);
            }
        }
    }
    Ok(())
}

pub fn anchors_of(anchors: &[u8]) -> impl Iterator<Item = u64> + Clone {
    Sort::Anchors.keys_of(anchors).map(|(_, key)| key)
}

/// The key with this number in a row.
#[inline]
pub(super) fn key_at(keys: &[u8], number: usize) -> u64 {
    key_of(keys[KEY_BYTES * number..].first_chunk().expect("a row of whole keys"))
}
