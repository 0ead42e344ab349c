//! The keys by which pages meet, of the rows of a segment.

use std::ops::Range;

use super::least;
use crate::error::Result;
use crate::fingerprint::check::{ANCHOR_BYTES, ANCHORS};
use crate::progress::{self, Activity};
use crate::store::{Column, RowBytes, Segment};
use crate::tables::keys::{KEY_BYTES, key_of};

const _: () = assert!(ANCHOR_BYTES == KEY_BYTES);

/// The bytes of the anchors of a row.
pub(super) const WIDTH: usize = ANCHORS * KEY_BYTES;

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

    pub(super) fn places(self, segment: &Segment) -> usize {
        let bytes = match self {
            Sort::Anchors | Sort::Parts => segment.anchor_bytes(),
            Sort::Bands => segment.band_bytes(),
        };
        bytes / KEY_BYTES
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
    /// Calls `take` with each key of these pages: its place, and the page. Of pages with one fingerprint and one sketch, the first one is enough.
    pub(super) fn each(self, pages: Range<u32>, take: impl FnMut(usize, u64, u32)) -> Result<()> {
        let BatchKeys { batch, sort, shingles } = self;
        let (Some(keys_of), Some(sketches)) = (sort.keys(batch), batch.checks()) else {
            return Ok(());
        };
        match sort {
            Sort::Parts => least::each_key(sketches, shingles, pages, take),
            Sort::Anchors | Sort::Bands => each_key(batch, (keys_of, sketches), pages, take),
        }
    }
}

fn each_key(
    batch: &Segment,
    (mut keys_of, mut sketches): (RowBytes, RowBytes),
    pages: Range<u32>,
    mut take: impl FnMut(usize, u64, u32),
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
            last.clear();
            last.extend_from_slice(keys);
        }
        last_sketch.clear();
        last_sketch.extend_from_slice(sketches.get(row)?);
        if pages.contains(&page) {
            let keys = keys.as_chunks().0.iter().map(key_of).enumerate();
            keys.filter(|&(_, key)| key != NONE).for_each(|(place, key)| take(place, key, page));
        }
    }
    Ok(())
}

/// The anchors of a page, each with its place.
pub fn anchors_of(anchors: &[u8]) -> impl Iterator<Item = (u8, u64)> + Clone {
    let keys = (0..).zip(anchors.as_chunks().0).map(|(place, key)| (place, key_of(key)));
    keys.filter(|&(_, key)| key != NONE)
}

#[inline]
pub(super) fn key_at(keys: &[u8], place: u8) -> u64 {
    key_of(keys[KEY_BYTES * usize::from(place)..].first_chunk().expect("a key in each place"))
}
