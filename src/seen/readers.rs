//! What a store says about the rows of a segment.

use super::by::{By, Sought};
use crate::error::Result;
use crate::store::{Column, Dated, DetailLookup, Details, Ids, RowDays, Shown, TextDigests};

/// What a store has of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeldPage {
    /// Its fingerprint.
    pub fingerprint: u128,
    /// What takes time to compute from its text; nothing else is known.
    pub details: Details,
}

/// The columns of what takes time to compute from a text.
const COMPUTED: [Column; 4] = [Column::Classes, Column::Checks, Column::Bands, Column::Anchors];

/// What is read about the rows of a segment.
pub(super) struct Readers {
    pub(super) days: RowDays,
    pub(super) ids: Ids,
    shown: Shown,
    digests: Option<TextDigests>,
    computed: DetailLookup,
}

impl Readers {
    pub(super) fn of(dated: &Dated) -> Readers {
        let segment = dated.segment();
        Readers {
            days: dated.days(),
            ids: segment.ids(),
            shown: dated.shown(),
            digests: segment.digests(),
            computed: DetailLookup::some(segment, |column| COMPUTED.contains(&column)),
        }
    }

    /// The hash by which the page in `row` is known; none if it has no digest.
    pub(super) fn hash(&mut self, by: By, row: u64) -> Result<Option<u64>> {
        Ok(match by {
            By::Ids => Some(Sought::Id(self.ids.get(row)?).hash()),
            By::Texts => self.digest(row)?.map(|digest| Sought::Text(digest).hash()),
        })
    }

    /// Whether the page in `row` is what is sought, and is shown.
    pub(super) fn is(&mut self, sought: Sought<'_>, row: u64) -> Result<bool> {
        let is = match sought {
            Sought::Id(id) => self.ids.get(row)? == id,
            Sought::Text(digest) => self.digest(row)? == Some(digest),
        };
        Ok(is && self.shown.get(row)?)
    }

    /// The digest of the text in `row`; zero if the digest is not known.
    fn digest(&mut self, row: u64) -> Result<Option<u128>> {
        let digest = self.digests.as_mut().map(|digests| digests.get(row)).transpose()?;
        Ok(digest.filter(|&digest| digest != 0))
    }

    /// What the segment has of the page in `row`.
    pub(super) fn page(&mut self, row: u64, fingerprint: u128) -> Result<HeldPage> {
        Ok(HeldPage { fingerprint, details: self.computed.get(row)?.clone() })
    }
}
