//! Pages of the store that match, by their ids and days.

use serde::{Deserialize, Serialize};

use super::finding::StoreMatch;
use crate::error::Result;
use crate::matches::KeepRank;
use crate::runs::Record;
use crate::store::{Dated, Day, Ids, RowDays};

/// A page of the store that no other one is nearer to a group than. Ordered by group, then by id, then by day.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct NearestPage {
    pub(super) group: KeepRank,
    pub(super) id: String,
    pub(super) day: Day,
}

impl Record for NearestPage {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.id.len()
    }
}

/// Calls `take` with each of the `matches`, and the id and day of its page. They are looked up in the order of the disk.
pub(super) fn each_named(
    matches: impl Iterator<Item = Result<StoreMatch>>,
    store: &[Dated],
    mut take: impl FnMut(StoreMatch, &str, Day) -> Result<()>,
) -> Result<()> {
    let mut reader: Option<(u32, Ids, RowDays)> = None;
    for found in matches {
        let found = found?;
        let (_, ids, days) = match &mut reader {
            Some(reader) if reader.0 == found.segment => reader,
            other => {
                let dated = &store[found.segment as usize];
                other.insert((found.segment, dated.segment().ids(), dated.days()))
            }
        };
        take(found, ids.get(found.row)?, days.get(found.row)?)?;
    }
    Ok(())
}
