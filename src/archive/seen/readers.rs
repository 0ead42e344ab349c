//! What a store says about the rows of a segment.

use super::by::{By, Sought};
use crate::error::Result;
use crate::store::{Column, Dated, DetailLookup, Details, Ids, RowDays, Shown, TextDigests};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeldPage {
    pub fingerprint: u128,
    /// What takes time to compute from its text; nothing else is known.
    pub details: Details,
}

const COMPUTED: [Column; 6] = [
    Column::Classes,
    Column::Checks,
    Column::Bands,
    Column::Anchors,
    Column::Words,
    Column::PassageAnchors,
];

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

    pub(super) fn hash(&mut self, by: By, row: u64) -> Result<Option<u64>> {
        Ok(match by {
            By::Ids => Some(Sought::Id(self.ids.get(row)?).hash()),
            By::Texts => self.digest(row)?.map(|digest| Sought::Text(digest).hash()),
        })
    }

    pub(super) fn is(&mut self, sought: Sought<'_>, row: u64) -> Result<bool> {
        let is = match sought {
            Sought::Id(id) => self.ids.get(row)? == id,
            Sought::Text(digest) => self.digest(row)? == Some(digest),
        };
        Ok(is && self.shown.get(row)?)
    }

    fn digest(&mut self, row: u64) -> Result<Option<u128>> {
        let digest = self.digests.as_mut().map(|digests| digests.get(row)).transpose()?;
        Ok(digest.filter(|&digest| digest != 0))
    }

    pub(super) fn page(&mut self, row: u64, fingerprint: u128) -> Result<HeldPage> {
        Ok(HeldPage { fingerprint, details: self.computed.get(row)?.clone() })
    }
}
