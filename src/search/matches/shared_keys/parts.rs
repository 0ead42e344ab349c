//! Short pages of a batch that stand in much longer ones.
//!
//! Of each eighth of its shingles a page has the least one as an anchor. A short page in one of a hundred times its length most likely
//! shares no anchor with it: but its own least shingles are all among those of the longer page. So within a batch the whole sketch of each
//! page streams past the least shingles of the short ones. If three in four are there, the short page may be a part of the longer one.
//!
//! From the store only anchors are read, a tenth of what sketches would be: a part of a page of another day is found by these, or not. In a
//! batch without short pages nothing is done.

use std::collections::HashMap;
use std::ops::Range;

use super::key_index::KeyIndex;
use super::sort::key_of_hash;
use super::streaming::{MOST_MET, Pages, Shared, nearest_and_first};
use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::fingerprint::check::{ANCHORS, Hashes};
use crate::matches::pair::{Pair, Place};
use crate::progress::{self, Activity};
use crate::store::{SCANNED_ROWS, Segment};
use crate::tables::keys::number_of;

/// How many times as long a page is that a short one is sought in.
const TIMES_AS_LONG: u64 = 2;

/// Gives `take` the pages of the index that stand in the pages of these blocks, each with the longer ones that have most of its least shingles,
/// and with those that come first in keep order.
pub(super) fn stream<F: Fingerprint>(
    pages: &Pages<F>,
    index: &KeyIndex,
    batch: &Segment,
    blocks: Range<usize>,
    take: &mut dyn FnMut(Pair),
) -> Result<()> {
    let Some(mut sketches) = batch.checks().filter(|_| !index.keys_of_page.is_empty()) else {
        return Ok(());
    };
    let mut shared = Vec::new();
    let mut longer: HashMap<u32, Vec<(Shared, u32)>> = HashMap::new();
    let shingles_of = |page: u32| u64::from(pages.shingles[page as usize]);
    let order = |&(_, page): &(Shared, u32)| pages.order[page as usize];
    let [start, end] = [blocks.start, blocks.end].map(|it| (it * SCANNED_ROWS) as u64);
    for page in start as u32..end.min(batch.rows()) as u32 {
        progress::tick(Activity::Working);
        if shingles_of(page) == 0 {
            continue;
        }
        shared.clear();
        for hash in Hashes::of(sketches.get(page.into())?) {
            let (place, key) = key_of_hash(hash);
            let keys = &index.places[usize::from(place)];
            if keys.may_have(key) && index.common.get(place, key).is_none() {
                shared.extend(keys.with(key).iter().map(|&entry| number_of(entry)));
            }
        }
        shared.sort_unstable();
        for same in shared.chunk_by(|one, other| one == other) {
            let part = index.pages.start + same[0];
            let keys = usize::from(index.keys_of_page[same[0] as usize]);
            let is_longer = TIMES_AS_LONG * shingles_of(part) <= shingles_of(page);
            if 4 * same.len() < 3 * keys || !is_longer || !pages.is_before(page, part) {
                continue;
            }
            let apart = ((keys - same.len()) * ANCHORS / keys) as u8;
            let longer = longer.entry(part).or_default();
            longer.push((Shared { apart, distance: pages.distance(part, page) }, page));
            if longer.len() >= 4 * MOST_MET {
                nearest_and_first(longer, |it| it.0.apart, order);
            }
        }
    }
    let mut longer: Vec<_> = longer.into_iter().collect();
    longer.sort_unstable_by_key(|it| it.0);
    for (part, mut longer) in longer {
        nearest_and_first(&mut longer, |it| it.0.apart, order);
        for (Shared { apart, distance }, page) in longer {
            let existing = Place::BatchRow { page: part, apart, row: page };
            take(Pair { new: pages.index_of(part), existing, distance });
        }
    }
    Ok(())
}
