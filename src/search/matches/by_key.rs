//! Pages of one key, where not only their texts decide which of them stay.
//!
//! With `newest` the newest page of a key stays, of those that the store shows and the batch has. The others are out before texts are compared: those of the
//! store are hidden, and those of the batch are superseded. A page of the batch for which pages of the store go takes their place, whatever other pages contain of it,
//! so a key that the store has keeps a page. All others are judged as ever.
//!
//! ```text
//! store    key 1   09:00  a      hidden, replaced by c
//!          key 2   09:00  b
//! batch    key 1   10:00  c      kept
//!          key 1   08:00  d      superseded by c
//!          key 2   08:00  e      superseded by b
//!          key 3   08:00  f      judged by its text
//! ```
//!
//! With `keep` a page is kept that would be dropped as a duplicate of a page of its own key, and no page replaces one of its own key.

use std::cmp::Reverse;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::keep_order::Precedence;
use super::numbers::{Number, SegmentRow};
use super::recrawl::{At, KeyReader, KeyedStored, Sibling, StoredPage, each_stored};
use crate::document::IdSieve;
use crate::error::{Result, named};
use crate::progress::{self, Activity};
use crate::runs::{Record, SortSpace, SortedRecords, allocated, record};
use crate::store::{Dated, Day, Segment, TextDigests};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Recrawled {
    /// Those that no other page contains: the key decides nothing.
    #[default]
    Rule,
    /// The newest, whatever its text.
    Newest,
    /// All of them, as far as pages of other keys let them.
    Keep,
}

named!(pub Recrawled { Rule = "rule", Newest = "newest", Keep = "keep" }
    or "there is no such rule for pages of one key");

#[derive(Default)]
pub struct ByKey {
    /// Of each row of the batch's segment; none if all are usual.
    pub(super) precedence: Arc<[Precedence]>,
    /// The key of each row of the batch's segment, where pages of one key are not dropped for each other.
    keys: Vec<u128>,
    pub(super) day: Option<Day>,
    /// The store before pages were hidden.
    pub(super) store: Vec<Dated>,
    /// The superseded pages, where the newest is kept.
    pub(super) superseded: Option<SortedRecords<Superseded>>,
    /// The hidden pages, likewise.
    pub(super) former: Option<SortedRecords<Former>>,
}

/// A page of a key. Of one time, pages of the store are older than those of the batch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum PageOfKey {
    Stored { day: Day, id: String, place: (u32, u64) },
    New { id: String, row: SegmentRow },
}

/// A page of the batch, and the newest page of its key. Ordered by that one, as it lies on disk.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Superseded {
    pub(super) newest: Sibling,
    pub(super) row: SegmentRow,
}

/// A page of the store, and the page of the batch that replaces it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Former {
    pub(super) page: StoredPage,
    pub(super) by: SegmentRow,
}

/// A page of a key. Of a key, the newest comes first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct NewestFirst {
    key: u128,
    page: Reverse<(At, PageOfKey)>,
}

impl Record for NewestFirst {
    fn bytes(&self) -> usize {
        let (PageOfKey::Stored { id, .. } | PageOfKey::New { id, .. }) = &self.page.0.1;
        size_of::<Self>() + allocated(id)
    }
}

impl Record for Superseded {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.newest.outside_bytes()
    }
}

record!(Former, page.id);

impl ByKey {
    /// What is decided of a batch of this day, and what is left of the store for it to be joined with.
    pub fn of(
        (segment, day): (&Segment, Option<Day>),
        store: Vec<Dated>,
        recrawled: Recrawled,
        space: SortSpace<'_>,
    ) -> Result<(ByKey, Vec<Dated>)> {
        let by_key = ByKey { day, store: store.clone(), ..ByKey::default() };
        let reader = KeyReader::of(segment).filter(|_| recrawled != Recrawled::Rule);
        let Some(mut reader) = reader else { return Ok((by_key, store)) };
        if recrawled == Recrawled::Keep {
            let keys =
                (0..segment.rows()).map(|row| reader.keys.get(row)).collect::<Result<_>>()?;
            return Ok((ByKey { keys, ..by_key }, store));
        }
        let mut versions = space.sorter();
        let (mut ids, mut sieve) = (segment.ids(), IdSieve::with_room(segment.rows()));
        for row in 0..segment.rows() {
            let key = reader.keys.get(row)?;
            sieve.insert(key);
            let (at, id) = (reader.at(row, day)?, ids.get(row)?.to_owned());
            let row = SegmentRow::from(row as u32);
            let page = Reverse((at, PageOfKey::New { id, row }));
            versions.push(NewestFirst { key, page })?;
        }
        each_stored(&store, &sieve, |page| {
            let KeyedStored { key, at, day, id, place, .. } = page;
            let page = Reverse((at, PageOfKey::Stored { day, id, place }));
            versions.push(NewestFirst { key, page })
        })?;
        by_key.newest(versions.sorted()?, segment.rows() as usize, space)
    }

    fn newest(
        self,
        versions: SortedRecords<NewestFirst>,
        rows: usize,
        space: SortSpace<'_>,
    ) -> Result<(ByKey, Vec<Dated>)> {
        let mut precedence = vec![Precedence::Usual; rows];
        let (mut superseded, mut former) = (space.sorter(), space.sorter());
        let mut hidden = vec![Vec::new(); self.store.len()];
        let mut newest: Option<(u128, PageOfKey)> = None;
        for version in versions {
            progress::tick(Activity::Working);
            let NewestFirst { key, page: Reverse((_, page)) } = version?;
            let of_key = newest.as_ref().filter(|newest| newest.0 == key);
            match (of_key, page) {
                (None, page) => newest = Some((key, page)),
                // Both were there before.
                (Some((_, PageOfKey::Stored { .. })), PageOfKey::Stored { .. }) => {}
                (
                    Some((_, PageOfKey::New { row: by, .. })),
                    PageOfKey::Stored { day, id, place },
                ) => {
                    precedence[by.index()] = Precedence::Replaces;
                    hidden[place.0 as usize].push((place.1, day));
                    former.push(Former { page: StoredPage { place, day, id }, by: *by })?;
                }
                (Some((_, newest)), PageOfKey::New { row, .. }) => {
                    precedence[row.index()] = Precedence::Superseded;
                    let newest = match newest {
                        PageOfKey::New { row, .. } => Sibling::Batch(*row),
                        &PageOfKey::Stored { day, ref id, place } => {
                            Sibling::Store(StoredPage { place, day, id: id.clone() })
                        }
                    };
                    superseded.push(Superseded { newest, row })?;
                }
            }
        }
        let shown = self.store.iter().cloned().zip(hidden);
        let shown = shown.map(|(dated, rows)| dated.without(rows.into_iter())).collect();
        let (superseded, former) = (Some(superseded.sorted()?), Some(former.sorted()?));
        Ok((ByKey { precedence: precedence.into(), superseded, former, ..self }, shown))
    }

    /// Looks up the keys of a segment of the store, where pages of one key do not drop each other.
    pub(super) fn keys_of(&self, dated: &Dated) -> Option<TextDigests> {
        dated.segment().keys().filter(|_| !self.keys.is_empty())
    }

    pub(super) fn key(&self, row: SegmentRow) -> Option<u128> {
        self.keys.get(row.index()).copied()
    }

    pub(super) fn is_of_key(&self, row: SegmentRow, key: Option<u128>) -> bool {
        key.is_some() && self.key(row) == key
    }
}
