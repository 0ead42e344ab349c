//! What becomes of the pages that give way to the newest page of their key: those of the store are replaced, those of the batch are superseded.

use super::batch::Batch;
use super::by_key::{ByKey, Former, Superseded};
use super::expand::{UnnamedRow, name};
use super::match_row::{MatchRow, Origin};
use super::recrawl::{Sibling, Sketches, StoredPage, share};
use super::replaced::{Going, Replaced};
use super::similarity::{Confirm, Similarity};
use crate::error::Result;
use crate::runs::{SortSpace, SortedRecords};
use crate::store::Segment;

/// Takes the pages of the store that pages of the batch replace, with the share of each that its successor contains.
pub(super) fn replace(
    by_key: &mut ByKey,
    (segment, confirm): (&Segment, Confirm),
    replaced: &mut Replaced<'_>,
) -> Result<()> {
    let former = by_key.former.take();
    let mut sketches = Sketches::of(segment, &by_key.store, confirm)?;
    for page in former.into_iter().flatten() {
        let Former { page: StoredPage { place: (segment, row), day, id }, by } = page?;
        let contained = sketches.contained(by, (Some(segment), row))?;
        let none = Similarity::missing_of(Similarity::WHOLE);
        let containment = contained.map_or(none, |[_, of_former]| share(of_former));
        // What was dropped for it is not contained in its successor: nothing is asked of that one for it.
        replaced.going.push(Going { by, id, day, containment, slack: u32::MAX })?;
    }
    Ok(())
}

/// The pages of the batch that are superseded, with the newest page of each key, in the order of ids; none if keys do not decide that. No page of
/// the store that is named so is replaced.
pub(super) fn superseded(
    by_key: &mut ByKey,
    (segment, batch): (&Segment, &Batch),
    replaced: &mut Replaced<'_>,
    space: SortSpace<'_>,
) -> Result<Option<SortedRecords<MatchRow>>> {
    let Some(pages) = by_key.superseded.take() else { return Ok(None) };
    let (mut rows, mut unnamed) = (space.sorter(), space.sorter());
    let mut own = segment.fingerprints();
    let mut others = (None, segment.fingerprints());
    let similarity = None;
    for page in pages {
        let Superseded { newest, row } = page?;
        let new = batch.rank_in_segment(row);
        let (from, other) = newest.place();
        if others.0 != from {
            let of = from.map_or(segment, |number| by_key.store[number as usize].segment());
            others = (from, of.fingerprints());
        }
        let bits = own.get(u32::from(row).into())? ^ others.1.get(other)?;
        let distance = bits.count_ones() as u8;
        match newest {
            Sibling::Batch(existing) => {
                unnamed.push(UnnamedRow { existing, new, distance, similarity })?;
            }
            Sibling::Store(StoredPage { day, id: existing, .. }) => {
                replaced.named(&existing, day, u32::MAX)?;
                let origin = Origin::Day(day);
                rows.push(MatchRow { new, distance, existing, origin, similarity })?;
            }
        }
    }
    name(unnamed, segment, &mut rows)?;
    rows.sorted().map(Some)
}
