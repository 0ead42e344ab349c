//! What becomes of the pages that give way to the newest page of their key: those of the store are replaced, those of the batch are superseded.

use super::batch::Batch;
use super::by_key::{ByKey, Former, Newest, Superseded};
use super::expand::{UnnamedRow, name};
use super::match_row::MatchRow;
use super::origin::Origin;
use super::replaced::{Going, Replaced};
use super::similarity::{Confirm, Similarity};
use crate::error::Result;
use crate::fingerprint::Contained;
use crate::runs::{SortSpace, SortedRecords};
use crate::store::Segment;

/// Takes the pages of the store that pages of the batch replace, with the share of each that its successor contains.
pub(super) fn replace(
    by_key: &mut ByKey,
    (segment, confirm): (&Segment, Confirm),
    replaced: &mut Replaced<'_>,
) -> Result<()> {
    let mut sketches = confirm.signatures(segment)?;
    let mut read = None;
    let mut former_sketches = confirm.signatures(segment)?;
    for page in by_key.former.take().into_iter().flatten() {
        let Former { place: (number, row), day, id, by } = page?;
        if read.replace(number) != Some(number) {
            former_sketches = confirm.signatures(by_key.store[number as usize].segment())?;
        }
        let (former, new) = (former_sketches.get(row)?, sketches.get(u32::from(by).into())?);
        let contained = confirm.check.containment(former, new);
        let share =
            |[of, _]: [Contained; 2]| Similarity::of_share(of.shared.into(), of.all.max(1).into());
        let containment = contained.map_or(Similarity::missing_of(Similarity::WHOLE), share);
        // What was dropped for it is not contained in its successor: nothing is asked of that one for it.
        replaced.going(Going { by, id, day, containment, slack: u32::MAX })?;
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
        let (from, other) = match &newest {
            Newest::New(row) => (None, u32::from(*row).into()),
            Newest::Stored { place, .. } => (Some(place.0), place.1),
        };
        if others.0 != from {
            let of = from.map_or(segment, |number| by_key.store[number as usize].segment());
            others = (from, of.fingerprints());
        }
        let bits = own.get(u32::from(row).into())? ^ others.1.get(other)?;
        let distance = bits.count_ones() as u8;
        match newest {
            Newest::New(existing) => {
                unnamed.push(UnnamedRow { existing, new, distance, similarity })?;
            }
            Newest::Stored { day, id: existing, .. } => {
                replaced.named(&existing, day, u32::MAX)?;
                let origin = Origin::Day(day);
                rows.push(MatchRow { new, distance, existing, origin, similarity })?;
            }
        }
    }
    name(unnamed, segment, &mut rows)?;
    rows.sorted().map(Some)
}
