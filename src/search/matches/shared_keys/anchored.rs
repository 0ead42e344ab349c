//! A page that is asked for alone: a batch of one page. Rows are met by the same code, whether they stream past or a sorted table of the segment
//! names those that share an anchor.

use super::common_keys::CommonKeys;
use super::key_index::KeyIndex;
use super::sort::Sort;
use super::streaming::{Pages, RowAnchor, SegmentRows, Streaming};
use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::fingerprint::check::ANCHORS;
use crate::matches::numbers::FingerprintIndex;
use crate::matches::pair::{Pair, Place};
use crate::store::{Column, Dated};
use crate::tables::keys::{Keys, entry};
use crate::work::Work;

/// Rows of a store that share anchors with a page that is asked for alone. The first is the nearest one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AnchoredRows {
    /// How many anchors they do not share.
    apart: u8,
    /// The distance of their fingerprint.
    pub distance: u8,
    pub segment: u32,
    pub row: u64,
    pub rows: u64,
}

pub struct Anchored<F> {
    pages: Pages<F>,
    index: KeyIndex,
}

impl<F: Fingerprint> Anchored<F> {
    pub fn new(fingerprint: F, anchors: &[u8]) -> Anchored<F> {
        let mut places: [Vec<u64>; ANCHORS] = Default::default();
        for (place, key) in Sort::Anchors.keys_of(anchors) {
            places[usize::from(place)].push(entry(key, 0));
        }
        let places = places.map(Keys::of).into();
        let common = CommonKeys::default().into();
        let index = KeyIndex::new(Sort::Anchors, 0..1, places, common);
        let first = vec![FingerprintIndex::from(0)];
        Anchored { pages: Pages::new([fingerprint].into(), first, Vec::new(), Vec::new()), index }
    }

    /// Adds to `found` the nearest rows of segment `number`, as far as `work` goes. `sharing` has all rows that share anchors, as many whole
    /// chunks of them at a time as it likes; without it, all rows stream past.
    pub fn nearest(
        &self,
        (number, dated): (u32, &Dated),
        fingerprint_of: &mut dyn FnMut(u64) -> Result<F>,
        sharing: Option<&mut dyn Iterator<Item = Result<Vec<RowAnchor>>>>,
        found: &mut Vec<AnchoredRows>,
        work: &mut Work<'_>,
    ) -> Result<()> {
        let mut take = |pair: Pair| {
            if let Place::StoreRow { apart, segment, row, rows, .. } = pair.existing {
                found.push(AnchoredRows { apart, distance: pair.distance, segment, row, rows });
            }
        };
        let segment = dated.segment();
        let rows = SegmentRows { segment, shown: Some(dated.shown()), fingerprint_of };
        let (Some(mut anchors), Some(mut streaming)) = (
            segment.anchors(),
            Streaming::new(&self.pages, &self.index, Some(number), rows, &mut take),
        ) else {
            return Ok(());
        };
        match sharing {
            Some(sharing) => {
                for rows in sharing {
                    streaming.sharing(rows?, work)?;
                }
            }
            None => {
                for block in 0..segment.blocks_of(Column::Anchors) {
                    if !work.spend(1) {
                        break;
                    }
                    let sharing = streaming.block(&mut anchors, block)?;
                    if !work.spend(sharing) {
                        break;
                    }
                }
            }
        }
        streaming.finish();
        Ok(())
    }
}
