//! The passages of a day that stood earlier: in pages of earlier days, or in pages of the day that come before.
//!
//! ```text
//! B  kept pages of the day   anchors in memory --+          windows in a filter --+
//!                                                |                                |
//! F  pages of the store      anchors, all -------+-> rows that share one -> words -> windows --+
//!                                                                                              +-> sorted by hash
//! B  kept pages of the day   words -> windows -------------------------------------------------+   and place
//! ```
//!
//! Of several processes each takes a range of the ids of B. Pages of B with lower ids are then found by their anchors, as those of F.
//!
//! Which rows share an anchor is a semi-join: a template that all pages have costs one look-up a page, and never a pair. These pages are sorted on disk,
//! and known by their numbers from then on. Of the windows with one hash
//! the first one is the place that the others are repeated from: pages are in the order of their days, then of their ids, and those of B come last.
//! Windows of B that the filter met once alone are not sorted.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use roaring::RoaringTreemap;
use serde::{Deserialize, Serialize};

use super::anchors::each_anchor;
use super::cost::Memory;
use super::finder::{PassageFinder, Passages};
use super::naming::{self, Name, NamedPassage};
use super::page_words::PageWords;
use super::window_filter::WindowFilter;
use crate::document::IdList;
use crate::error::{Error, Kind, Result};
use crate::hamming::bitmap::Bitmap;
use crate::output::{Staging, Sum};
use crate::parallel::{in_parallel, lock, row_parts};
use crate::progress::{self, Activity};
use crate::results::ResultFormat;
use crate::runs::{Record, SortSpace, SortedRecords, Sorter, Spool, record};
use crate::store::{Column, Dated, Day, RowBytes, Segment, Version};

/// The pages whose words all workers read at once.
const AT_ONCE: usize = 1 << 16;

/// The pages whose words a worker reads at once.
const PORTION: usize = 1 << 10;

/// The passages of a day that are looked for: those of a range of its kept pages.
#[derive(Debug)]
pub struct DayPassages {
    pub store: Option<Version>,
    pub batch: Segment,
    pub kept: KeptPages,
    /// The least words of a passage: those of a window.
    pub words: usize,
    pub folder: PathBuf,
    pub workers: usize,
    /// The memory: first half of it for anchors, and a quarter for pages; then half for windows, at most a quarter for their filter, and the rest for ids.
    pub memory_bytes: usize,
}

/// The kept pages of a day from a first one to a last one, and those before them.
#[derive(Debug)]
pub struct KeptPages {
    /// The ids up to the last one.
    ids: IdList,
    /// The first id, byte by byte.
    first: String,
    count: usize,
}

impl KeptPages {
    /// Those of these `numbers` in a list that is sorted, in at most `memory_bytes`.
    pub fn read(path: &Path, numbers: &Range<u64>, memory_bytes: u64) -> Result<KeptPages> {
        let (mut number, mut first) = (0, String::new());
        let ids = IdList::read_some(path, memory_bytes, |id| {
            if number == numbers.start {
                id.clone_into(&mut first);
            }
            number += 1;
            number <= numbers.end
        })?;
        let count = ids.len().saturating_sub(numbers.start as usize);
        Ok(KeptPages { ids, first, count })
    }

    /// Whether a page is among them or before them; none if it is after them, or was not kept.
    fn origin(&self, id: &str) -> Option<Origin> {
        let is_own = self.count > 0 && *id >= *self.first;
        self.ids.place(id).map(|_| if is_own { Origin::Own } else { Origin::Batch })
    }
}

/// Where a page comes from, in the order of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Origin {
    Store,
    /// The batch, before the pages whose passages are looked for.
    Batch,
    /// These pages.
    Own,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DayPassagesFound {
    /// How many pages have a passage that stood earlier.
    pub pages: u64,
    pub passages: u64,
    pub words: u64,
}

impl DayPassagesFound {
    pub fn write(
        passages: SortedRecords<NamedPassage>,
        format: ResultFormat,
        staging: &Staging,
    ) -> Result<(DayPassagesFound, (String, Sum))> {
        let mut found = DayPassagesFound::default();
        let mut last = String::new();
        let counted = passages.inspect(|row| {
            if let Ok(NamedPassage { id, passage, .. }) = row {
                found.passages += 1;
                found.words += u64::from(passage.words);
                found.pages += u64::from(found.passages == 1 || last != *id);
                last.clone_from(id);
            }
        });
        let file = naming::write_table(counted, format, staging)?;
        Ok((found, file))
    }
}

/// A page whose passages are looked for, or an earlier one that shares an anchor with one, in their order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Page {
    origin: Origin,
    /// None for a page of the day.
    day: Option<Day>,
    id: String,
    segment: u32,
    row: u64,
}

record!(Page, id);

/// Where a page is on the disk, by its number.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Place {
    segment: u32,
    row: u64,
    page: u32,
}

impl Record for Place {}

struct Numbered {
    /// In the order of the disk.
    places: Spool<Place>,
    names: Spool<Name>,
    first_own: u32,
}

impl DayPassages {
    /// The memory of a sort of what is found.
    pub fn sort_bytes(&self) -> usize {
        self.memory_bytes / 12
    }

    /// Finds the passages, in the order of the ids of their pages.
    pub fn find(&self) -> Result<SortedRecords<NamedPassage>> {
        let dated = self.store.as_ref().map(Version::dated).transpose()?.unwrap_or_default();
        let space = SortSpace { folder: &self.folder, memory_bytes: self.sort_bytes() };
        let pages = self.numbered(&dated, space)?;
        let mut segments: Vec<&Segment> = dated.iter().map(Dated::segment).collect();
        segments.push(&self.batch);
        let passages = self.passages(&segments, &pages)?;
        let names = [pages.names.all()?, pages.names.all()?];
        naming::named(passages, names, space, |_, _| (), |_, _, _| ())
    }

    /// The pages whose passages are looked for, and those before that share an anchor with one.
    fn numbered(&self, store: &[Dated], space: SortSpace<'_>) -> Result<Numbered> {
        let mut pages = Sorter::new(space.folder, Memory(self.memory_bytes).pages());
        let (mut own, mut before) = (RoaringTreemap::new(), RoaringTreemap::new());
        let segment = store.len() as u32;
        self.batch.ids().each(0..self.batch.rows(), |row, id| {
            match self.kept.origin(id) {
                Some(origin @ Origin::Own) => {
                    own.insert(row);
                    pages.push(Page { origin, day: None, id: id.to_owned(), segment, row })?;
                }
                Some(_) => drop(before.insert(row)),
                None => {}
            }
            Ok(())
        })?;
        let pages = Mutex::new(pages);
        self.pages_that_share(store, [&own, &before], &pages)?;
        let pages = pages.into_inner().expect("no worker has panicked");
        // A page can share anchors of several passes.
        let distinct = pages.sorted()?.distinct();
        let mut places = space.sorter();
        let mut first_own = 0;
        let names = (0_u64..).zip(distinct).map(|(page, found)| {
            let Page { origin, day, id, segment, row } = found?;
            let next = u32::try_from(page + 1).map_err(|_| too_many())?;
            let page = next - 1;
            first_own = if origin == Origin::Own { first_own } else { next };
            places.push(Place { segment, row, page })?;
            Ok(Name { page, id, position: None, day })
        });
        let names = Spool::write(space.folder, names)?;
        let places = Spool::write(space.folder, places.sorted()?)?;
        Ok(Numbered { places, names, first_own })
    }

    /// Adds the pages of the store, and of the rows of the batch `before`, that share an anchor with one of its `own` rows, some of them more than once.
    fn pages_that_share(
        &self,
        store: &[Dated],
        [own, before]: [&RoaringTreemap; 2],
        pages: &Mutex<Sorter<Page>>,
    ) -> Result<()> {
        let mut anchors_of = column(&self.batch, Segment::passage_anchors)?;
        let mut count = 0;
        for row in own {
            count += each_anchor(anchors_of.get(row)?).count() as u64;
        }
        let passes = Memory(self.memory_bytes).passes(count);
        for pass in 0..passes {
            let mut anchors = Vec::new();
            for row in own {
                let of_row = each_anchor(anchors_of.get(row)?);
                anchors.extend(of_row.filter(|anchor| anchor % passes == pass));
            }
            let anchors = AnchorSet::of(anchors);
            for (segment, dated) in (0..).zip(store) {
                self.pages_of_segment(segment, dated, &anchors, pages)?;
            }
            let mut ids = self.batch.ids();
            for row in before {
                progress::tick(Activity::Working);
                if each_anchor(anchors_of.get(row)?).any(|anchor| anchors.has(anchor)) {
                    let (origin, id) = (Origin::Batch, ids.get(row)?.to_owned());
                    let segment = store.len() as u32;
                    lock(pages).push(Page { origin, day: None, id, segment, row })?;
                }
            }
        }
        Ok(())
    }

    /// Adds the pages of a segment that are shown and have one of the anchors.
    fn pages_of_segment(
        &self,
        number: u32,
        dated: &Dated,
        anchors: &AnchorSet,
        pages: &Mutex<Sorter<Page>>,
    ) -> Result<()> {
        let segment = dated.segment();
        let parts = row_parts(segment.rows(), self.workers);
        let done = in_parallel(self.workers, &parts, |part: &Range<u64>| {
            let mut anchors_of = column(segment, Segment::passage_anchors)?;
            let (mut shown, mut ids, mut days) = (dated.shown(), segment.ids(), dated.days());
            for row in part.clone() {
                progress::tick(Activity::Working);
                let mut of_row = each_anchor(anchors_of.get(row)?);
                if of_row.any(|anchor| anchors.has(anchor)) && shown.get(row)? {
                    let (day, id) = (Some(days.get(row)?), ids.get(row)?.to_owned());
                    let page = Page { origin: Origin::Store, day, id, segment: number, row };
                    lock(pages).push(page)?;
                }
            }
            Ok(())
        });
        done.into_iter().collect()
    }

    fn passages(&self, segments: &[&Segment], pages: &Numbered) -> Result<Passages> {
        let (first_own, memory_bytes) = (pages.first_own, Memory(self.memory_bytes).windows());
        let finder =
            PassageFinder::new(self.words, first_own, &self.folder, memory_bytes, self.workers);
        let filter = self.filter();
        let (before, own) = (0..first_own, first_own..u32::MAX);
        self.each_page(segments, pages, &own, |_, words| {
            finder.windows().of(&words.hashes).for_each(|(_, hash)| filter.meet(hash));
            Ok(())
        })?;
        self.each_page(segments, pages, &before, |page, words| {
            finder.take_some(page, words, |hash| {
                let is_wanted = filter.was_met(hash);
                if is_wanted {
                    filter.meet(hash);
                }
                is_wanted
            })
        })?;
        self.each_page(segments, pages, &own, |page, words| {
            finder.take_some(page, words, |hash| filter.was_met_twice(hash))
        })?;
        drop(filter);
        finder.finish()
    }

    fn filter(&self) -> WindowFilter {
        let bytes = self.batch.mean_row_bytes(Column::Words) * self.kept.count;
        WindowFilter::new(bytes as u64, Memory(self.memory_bytes).filter())
    }

    /// Calls `take` with each page whose number is among these and its words, on all workers.
    fn each_page(
        &self,
        segments: &[&Segment],
        pages: &Numbered,
        numbers: &Range<u32>,
        take: impl Fn(u32, &PageWords) -> Result<()> + Sync,
    ) -> Result<()> {
        let is_among = |place: &Result<Place>| {
            place.as_ref().map_or(true, |place| numbers.contains(&place.page))
        };
        let mut places = pages.places.all()?.filter(is_among);
        loop {
            let some: Vec<Place> = places.by_ref().take(AT_ONCE).collect::<Result<_>>()?;
            if some.is_empty() {
                return Ok(());
            }
            let portions: Vec<&[Place]> = some.chunks(PORTION).collect();
            let done = in_parallel(self.workers, &portions, |portion| {
                let mut words = PageWords::default();
                for of_segment in portion.chunk_by(|one, other| one.segment == other.segment) {
                    let segment = segments[of_segment[0].segment as usize];
                    let mut words_of = column(segment, Segment::words)?;
                    for &Place { row, page, .. } in of_segment {
                        progress::tick(Activity::Working);
                        words.read(words_of.get(row)?)?;
                        take(page, &words)?;
                    }
                }
                Ok(())
            });
            done.into_iter().collect::<Result<()>>()?;
        }
    }
}

fn too_many() -> Error {
    Error::new(
        Kind::BadData,
        "too many pages of the store may have a passage in common with the day",
    )
    .expected("less than 4,294,967,295 pages")
    .help("let old days expire, or leave [passages] out")
}

/// Looks up a column that a segment with words has.
fn column(segment: &Segment, look_up: fn(&Segment) -> Option<RowBytes>) -> Result<RowBytes> {
    look_up(segment).ok_or_else(|| {
        Error::new(Kind::BadData, "the segment lacks the words that its stamp names")
            .at(segment.path())
    })
}

/// Anchors, behind a filter.
struct AnchorSet {
    sorted: Vec<u64>,
    filter: Bitmap,
}

impl AnchorSet {
    fn of(mut anchors: Vec<u64>) -> AnchorSet {
        anchors.sort_unstable();
        anchors.dedup();
        let mut filter = Bitmap::default();
        filter.reset((16 * anchors.len()).clamp(1 << 10, 1 << 31));
        anchors.iter().for_each(|&anchor| filter.insert(anchor as u32));
        AnchorSet { sorted: anchors, filter }
    }

    fn has(&self, anchor: u64) -> bool {
        self.filter.contains(anchor as u32) && self.sorted.binary_search(&anchor).is_ok()
    }
}
