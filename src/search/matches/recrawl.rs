//! Recrawls: pages of the batch whose key a page had before, and what became of their text.
//!
//! Each page is compared with the latest earlier page of its key, which the store shows or the batch has. The keys of the batch are sorted, those of the
//! store are read once and sieved, and what is left of them is merged with the batch in the order of key and time:
//!
//! ```text
//! store    2026-11-20  http://a.example/x       key example,a)/x     09:00    text 1
//! batch                https://a.example/x/                          08:00    text 1    new
//!                      http://www.a.example/x                        10:00    text 2    changed since the page of the store
//!                      http://a.example/x?                           11:00    text 2    unchanged since http://www.a.example/x
//! ```
//!
//! A page without a time counts as crawled at the beginning of its day. Of one time, the page of the later day is later, and pages of one day are in the order
//! of their ids. A batch of which no day is known comes after all days.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::batch::Batch;
use super::match_row::Origin;
use super::numbers::{IdRank, SegmentRow};
use super::similarity::{Confirm, Similarity};
use crate::document::{Declared, IdSieve};
use crate::error::{Result, named};
use crate::fingerprint::Contained;
use crate::progress::{self, Activity};
use crate::runs::{Record, SortSpace, SortedRecords, Sorter, allocated, next_if, record};
use crate::store::{Dated, Day, DeclaredRows, RowBytes, Segment, TextDigests, Times};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recrawls {
    /// Pages of a key that no page had before.
    pub new: u64,
    /// Pages with the text of the latest earlier page of their key, letter by letter, and no other digest of the payload.
    pub unchanged: u64,
    /// Other pages with the same text, or with the same words: each has all shingles of the other.
    pub same_text: u64,
    pub changed: u64,
}

/// What became of a page since the latest earlier page of its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Change {
    New,
    Unchanged,
    SameText,
    Changed,
}

/// A page of the batch, and the latest earlier page of its key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Recrawl {
    pub(super) new: IdRank,
    change: Change,
    former: Option<(String, Origin)>,
    /// The share of the page that the former one contains, where both are compared.
    contained: Option<Similarity>,
    /// The address that the page names as canonical, if it is another one.
    canonical: Option<String>,
}

impl Record for Recrawl {
    fn bytes(&self) -> usize {
        let former = self.former.as_ref().map_or(0, |former| allocated(&former.0));
        size_of::<Self>() + former + self.canonical.as_deref().map_or(0, allocated)
    }
}

impl fmt::Display for Recrawl {
    /// Its columns in verdicts.tsv.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.change.name())?;
        match &self.former {
            Some((id, origin)) => write!(f, "\t{id}\t{origin}\t")?,
            None => f.write_str("\t\t\t")?,
        }
        self.contained.map_or(Ok(()), |contained| contained.fmt(f))?;
        write!(f, "\t{}", self.canonical.as_deref().unwrap_or_default())
    }
}

named!(Change { New = "new", Unchanged = "unchanged", SameText = "same text", Changed = "changed" });

impl Recrawls {
    fn count(&mut self, change: Change) {
        *match change {
            Change::New => &mut self.new,
            Change::Unchanged => &mut self.unchanged,
            Change::SameText => &mut self.same_text,
            Change::Changed => &mut self.changed,
        } += 1;
    }
}

/// When a page was crawled, in seconds, and the number of its day.
pub(super) type At = (i64, u64);

/// The digests of a page, 0 if they are not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Digests {
    text: u128,
    payload: u128,
}

/// What two pages of one key have in common by their digests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Same {
    Payload,
    Text,
    Nothing,
}

impl Digests {
    /// Payloads are the same too where nothing is known of one of them. A digest that an archive declares is believed against no text.
    fn same(self, other: Digests) -> Same {
        let are_known = self.payload != 0 && other.payload != 0;
        match self.text == other.text {
            true if are_known && self.payload != other.payload => Same::Text,
            true => Same::Payload,
            false => Same::Nothing,
        }
    }
}

/// Looks up the keys of the pages of a segment, their digests, and when they were crawled.
pub(super) struct KeyReader {
    pub(super) keys: TextDigests,
    digests: TextDigests,
    declared: Option<DeclaredRows>,
    times: Option<Times>,
}

impl KeyReader {
    pub(super) fn of(segment: &Segment) -> Option<KeyReader> {
        let times = segment.times().filter(|_| segment.order().is_none());
        let (keys, digests) = (segment.keys()?, segment.digests()?);
        Some(KeyReader { keys, digests, declared: segment.declared(), times })
    }

    /// The digests of a page, and the address that it names as canonical.
    fn digests(&mut self, row: u64) -> Result<(Digests, Option<String>)> {
        let declared = self.declared.as_mut().map(|declared| declared.get(row)).transpose()?;
        let Declared { payload, canonical } = declared.unwrap_or_default();
        Ok((Digests { text: self.digests.get(row)?, payload }, canonical))
    }

    /// When a page was crawled that is of this day, if its day is known.
    pub(super) fn at(&mut self, row: u64, day: Option<Day>) -> Result<At> {
        let time = self.times.as_mut().map(|times| times.get(row)).transpose()?.flatten();
        let time = time.or(day.map(Day::begins)).unwrap_or(i64::MAX);
        Ok((time, day.map_or(u64::MAX, Day::number)))
    }
}

/// A page of the batch in the order of key and time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Keyed {
    key: u128,
    at: At,
    rank: IdRank,
    row: SegmentRow,
    digests: Digests,
    canonical: Option<String>,
}

impl Record for Keyed {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.canonical.as_deref().map_or(0, allocated)
    }
}

/// A page of the store in the order of key and time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct KeyedStored {
    pub(super) key: u128,
    pub(super) at: At,
    pub(super) day: Day,
    pub(super) id: String,
    /// Its segment and row.
    pub(super) place: (u32, u64),
    digests: Digests,
}

record!(KeyedStored, id);

/// A page of the store, as it lies on disk.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct StoredPage {
    /// Its segment and row.
    pub(super) place: (u32, u64),
    pub(super) day: Day,
    pub(super) id: String,
}

/// Another page of a key, as it lies on disk.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Sibling {
    Batch(SegmentRow),
    Store(StoredPage),
}

impl Sibling {
    /// Its segment, if that is one of the store, and its row.
    pub(super) fn place(&self) -> (Option<u32>, u64) {
        match self {
            Sibling::Batch(row) => (None, u32::from(*row).into()),
            Sibling::Store(StoredPage { place: (segment, row), .. }) => (Some(*segment), *row),
        }
    }

    pub(super) fn outside_bytes(&self) -> usize {
        if let Sibling::Store(page) = self { allocated(&page.id) } else { 0 }
    }
}

/// Compares sketches of the batch with those of other pages, which come in the order of the disk.
pub(super) struct Sketches<'a> {
    confirm: Confirm,
    segment: &'a Segment,
    store: &'a [Dated],
    own: RowBytes,
    others: (Option<u32>, RowBytes),
}

impl<'a> Sketches<'a> {
    pub(super) fn of(
        segment: &'a Segment,
        store: &'a [Dated],
        confirm: Confirm,
    ) -> Result<Sketches<'a>> {
        let (own, others) = (confirm.signatures(segment)?, (None, confirm.signatures(segment)?));
        Ok(Sketches { confirm, segment, store, own, others })
    }

    /// How much of a row of the batch another page contains, and how much of that page the row contains.
    pub(super) fn contained(
        &mut self,
        row: SegmentRow,
        (from, other): (Option<u32>, u64),
    ) -> Result<Option<[Contained; 2]>> {
        if self.others.0 != from {
            let of = from.map_or(self.segment, |number| self.store[number as usize].segment());
            self.others = (from, self.confirm.signatures(of)?);
        }
        let (own, other) = (self.own.get(u32::from(row).into())?, self.others.1.get(other)?);
        Ok(self.confirm.check.containment(own, other))
    }
}

pub(super) fn share(it: Contained) -> Similarity {
    Similarity::of_share(it.shared.into(), it.all.max(1).into())
}

/// A page of the batch whose key a page had before, in the order in which the former pages lie on disk.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct CameAgain {
    former: Sibling,
    row: SegmentRow,
    rank: IdRank,
    same: Same,
    canonical: Option<String>,
}

impl Record for CameAgain {
    fn bytes(&self) -> usize {
        size_of::<Self>()
            + self.former.outside_bytes()
            + self.canonical.as_deref().map_or(0, allocated)
    }
}

/// What came again, in the order of the ids, and how many pages did; none if the segment of the batch has no keys.
pub(super) fn recrawls(
    (segment, batch, day): (&Segment, &Batch, Option<Day>),
    store: &[Dated],
    confirm: Option<Confirm>,
    space: SortSpace<'_>,
) -> Result<Option<(SortedRecords<Recrawl>, Recrawls)>> {
    let Some((sieve, pages)) = of_batch(segment, batch, day, space)? else { return Ok(None) };
    let mut stored = space.sorter();
    each_stored(store, &sieve, |page| stored.push(page))?;
    let mut stored = stored.sorted()?.peekable();
    let mut recrawls = space.sorter();
    let mut came_again = space.sorter();
    let mut counted = Recrawls::default();
    let mut latest: Option<(u128, Digests, Sibling)> = None;
    for page in pages.sorted()? {
        let Keyed { key, at, rank, row, digests, canonical } = page?;
        latest = latest.filter(|latest| latest.0 == key);
        while let Some(earlier) = next_if(&mut stored, |it| (it.key, it.at) <= (key, at))? {
            let KeyedStored { key: of, digests, place, day, id, .. } = earlier;
            if of == key {
                latest = Some((key, digests, Sibling::Store(StoredPage { place, day, id })));
            }
        }
        match latest.replace((key, digests, Sibling::Batch(row))) {
            None => {
                let change = Change::New;
                counted.count(change);
                let (former, contained) = (None, None);
                recrawls.push(Recrawl { new: rank, change, former, contained, canonical })?;
            }
            Some((_, before, former)) => {
                let same = before.same(digests);
                came_again.push(CameAgain { former, row, rank, same, canonical })?;
            }
        }
    }
    compare((segment, store), confirm, came_again.sorted()?, |recrawl| {
        counted.count(recrawl.change);
        recrawls.push(recrawl)
    })?;
    Ok(Some((recrawls.sorted()?, counted)))
}

fn of_batch(
    segment: &Segment,
    batch: &Batch,
    day: Option<Day>,
    space: SortSpace<'_>,
) -> Result<Option<(IdSieve, Sorter<Keyed>)>> {
    let Some(mut keys) = KeyReader::of(segment) else { return Ok(None) };
    let mut pages = space.sorter();
    let mut sieve = IdSieve::with_room(segment.rows());
    for number in 0..segment.rows() {
        let row = SegmentRow::from(number as u32);
        let key = keys.keys.get(number)?;
        sieve.insert(key);
        let (digests, canonical) = keys.digests(number)?;
        let (at, rank) = (keys.at(number, day)?, batch.rank_in_segment(row));
        pages.push(Keyed { key, at, rank, row, digests, canonical })?;
    }
    Ok(Some((sieve, pages)))
}

/// Calls `each` with the pages that the store shows and whose keys may be among those of the batch.
pub(super) fn each_stored(
    store: &[Dated],
    sieve: &IdSieve,
    mut each: impl FnMut(KeyedStored) -> Result<()>,
) -> Result<()> {
    for (number, dated) in (0..).zip(store) {
        let segment = dated.segment();
        let Some(mut keys) = KeyReader::of(segment) else { continue };
        let (mut ids, mut days, mut shown) = (segment.ids(), dated.days(), dated.shown());
        for row in 0..segment.rows() {
            progress::tick(Activity::Working);
            let key = keys.keys.get(row)?;
            if !sieve.may_have(key) || !shown.get(row)? {
                continue;
            }
            let day = days.get(row)?;
            each(KeyedStored {
                key,
                at: keys.at(row, Some(day))?,
                day,
                id: ids.get(row)?.to_owned(),
                place: (number, row),
                digests: keys.digests(row)?.0,
            })?;
        }
    }
    Ok(())
}

/// Calls `each` with the pages that came again, with their former pages and how much of each changed page these contain.
fn compare(
    (segment, store): (&Segment, &[Dated]),
    confirm: Option<Confirm>,
    came_again: SortedRecords<CameAgain>,
    mut each: impl FnMut(Recrawl) -> Result<()>,
) -> Result<()> {
    let confirm = confirm.filter(Confirm::has_direction);
    let mut sketches = confirm.map(|it| Sketches::of(segment, store, it)).transpose()?;
    let mut ids = segment.ids();
    for page in came_again {
        let CameAgain { former, row, rank, same, canonical } = page?;
        let contained = match &mut sketches {
            Some(sketches) if same != Same::Payload => sketches.contained(row, former.place())?,
            _ => None,
        };
        let former = match former {
            Sibling::Batch(row) => (ids.get(u32::from(row).into())?.to_owned(), Origin::Batch),
            Sibling::Store(page) => (page.id, Origin::Day(page.day)),
        };
        let is_whole = |it: Contained| it.all > 0 && it.shared == it.all;
        let change = match contained {
            _ if same == Same::Payload => Change::Unchanged,
            _ if same == Same::Text => Change::SameText,
            Some(both) if both.into_iter().all(is_whole) => Change::SameText,
            _ => Change::Changed,
        };
        let contained = contained.map(|[it, _]| share(it));
        each(Recrawl { new: rank, change, former: Some(former), contained, canonical })?;
    }
    Ok(())
}
