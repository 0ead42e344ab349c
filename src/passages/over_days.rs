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
//! Which rows share an anchor is a semi-join: a template that all pages have costs one look-up a page, and never a pair. Of the windows with one hash
//! the first one is the place that the others are repeated from: pages are in the order of their days, then of their ids, and those of B come last.
//! Windows of B that the filter met once alone are not sorted.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::anchors::each_anchor;
use super::finder::{Passage, PassageFinder, Passages};
use super::page_words::PageWords;
use super::tables::columns;
use super::window_filter::WindowFilter;
use crate::document::IdList;
use crate::error::{Error, Kind, Result};
use crate::hamming::bitmap::Bitmap;
use crate::output::{Staging, Sum};
use crate::parallel::{in_parallel, row_parts};
use crate::progress::{self, Activity};
use crate::results::{ResultFile, ResultFormat};
use crate::store::{Column, Dated, Day, RowBytes, Segment, Version};

/// The pages whose words a worker reads at once.
const PORTION: usize = 1 << 10;

/// The bytes of memory for an anchor: its number, and bits of the filter in front of it.
const ANCHOR_MEMORY: usize = 16;

/// The passages of a day that are looked for.
#[derive(Debug)]
pub struct DayPassages<'a> {
    /// The pages of the days before.
    pub store: Option<&'a Version>,
    pub batch: &'a Segment,
    /// The ids of the pages of the batch that were kept.
    pub kept: &'a IdList,
    /// The least words of a passage: those of a window.
    pub words: usize,
    /// How the table is written.
    pub format: ResultFormat,
    pub workers: usize,
    /// The memory for anchors, or for windows and their filter: half of it for windows, and at most a quarter for the filter.
    pub memory_bytes: usize,
}

/// What was found, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DayPassagesFound {
    /// How many pages have a passage that stood earlier.
    pub pages: u64,
    /// How many passages there are.
    pub passages: u64,
    /// The words of these passages.
    pub words: u64,
}

/// A page that has a passage in common with the day, or is of the day.
struct Page {
    /// None for a page of the day.
    day: Option<Day>,
    id: String,
    segment: u32,
    row: u64,
}

impl DayPassages<'_> {
    /// Writes the table `passages`, and gives what was found.
    ///
    /// # Errors
    /// Those of the disk; [`Kind::BadData`] for damage, and if a segment has no words.
    pub fn write(&self, staging: &Staging) -> Result<(DayPassagesFound, (String, Sum))> {
        let dated = self.store.map(Version::dated).transpose()?.unwrap_or_default();
        let new = self.kept_pages(dated.len() as u32)?;
        let mut pages = self.pages_that_share(&dated, &new)?;
        let first_new = pages.len() as u32;
        pages.extend(new);
        let mut segments: Vec<&Segment> = dated.iter().map(Dated::segment).collect();
        segments.push(self.batch);
        let passages = self.find(&segments, &pages, first_new, staging)?;
        self.write_table(passages, &pages, staging)
    }

    /// The kept pages of the day, in the order of their ids. Their segment has this number.
    fn kept_pages(&self, segment: u32) -> Result<Vec<Page>> {
        let mut pages = Vec::with_capacity(self.kept.len());
        self.batch.ids().each(0..self.batch.rows(), |row, id| {
            if self.kept.place(id).is_some() {
                pages.push(Page { day: None, id: id.to_owned(), segment, row });
            }
            Ok(())
        })?;
        pages.sort_unstable_by(|one, other| one.id.cmp(&other.id));
        Ok(pages)
    }

    /// The pages of the store that share an anchor with a page of the day, in the order of their days and ids.
    fn pages_that_share(&self, store: &[Dated], new: &[Page]) -> Result<Vec<Page>> {
        let mut rows: Vec<Vec<u64>> = vec![Vec::new(); store.len()];
        let mut new: Vec<u64> = new.iter().map(|page| page.row).collect();
        new.sort_unstable();
        let mut anchors_of = column(self.batch, Segment::passage_anchors)?;
        let mut count = 0;
        for &row in &new {
            count += each_anchor(anchors_of.get(row)?).count();
        }
        let passes = (ANCHOR_MEMORY * count).div_ceil(self.memory_bytes.max(1)) as u64;
        for pass in 0..passes {
            let mut anchors = Vec::new();
            for &row in &new {
                let of_row = each_anchor(anchors_of.get(row)?);
                anchors.extend(of_row.filter(|anchor| anchor % passes == pass));
            }
            let anchors = AnchorSet::of(anchors);
            for (dated, rows) in store.iter().zip(&mut rows) {
                self.rows_that_share(dated, &anchors, rows)?;
            }
        }
        let mut pages = Vec::new();
        for (segment, (dated, mut rows)) in (0..).zip(store.iter().zip(rows)) {
            rows.sort_unstable();
            rows.dedup();
            let (mut ids, mut days) = (dated.segment().ids(), dated.days());
            for row in rows {
                let (day, id) = (Some(days.get(row)?), ids.get(row)?.to_owned());
                pages.push(Page { day, id, segment, row });
            }
        }
        pages.sort_unstable_by(|one, other| (one.day, &one.id).cmp(&(other.day, &other.id)));
        Ok(pages)
    }

    /// Adds the rows of a segment that are shown and have one of the anchors.
    fn rows_that_share(
        &self,
        dated: &Dated,
        anchors: &AnchorSet,
        into: &mut Vec<u64>,
    ) -> Result<()> {
        let segment = dated.segment();
        let parts = row_parts(segment.rows(), self.workers);
        let found = in_parallel(self.workers, &parts, |part: &Range<u64>| {
            let mut anchors_of = column(segment, Segment::passage_anchors)?;
            let mut shown = dated.shown();
            let mut rows = Vec::new();
            for row in part.clone() {
                progress::tick(Activity::Working);
                let mut of_row = each_anchor(anchors_of.get(row)?);
                if of_row.any(|anchor| anchors.has(anchor)) && shown.get(row)? {
                    rows.push(row);
                }
            }
            Ok(rows)
        });
        for rows in found {
            into.extend(rows?);
        }
        Ok(())
    }

    /// The passages of the day. Its pages are those from `first_new` on.
    fn find(
        &self,
        segments: &[&Segment],
        pages: &[Page],
        first_new: u32,
        staging: &Staging,
    ) -> Result<Passages> {
        let (folder, workers) = (staging.folder(), self.workers);
        let finder =
            PassageFinder::new(self.words, first_new, folder, self.memory_bytes / 2, workers);
        let (old, new) = pages.split_at(first_new as usize);
        let filter = self.filter();
        self.each_page(segments, new, |_, words| {
            finder.windows().of(&words.hashes).for_each(|(_, hash)| filter.meet(hash));
            Ok(())
        })?;
        self.each_page(segments, old, |at, words| {
            finder.take_some(at, words, |hash| {
                let is_wanted = filter.was_met(hash);
                if is_wanted {
                    filter.meet(hash);
                }
                is_wanted
            })
        })?;
        self.each_page(segments, new, |at, words| {
            finder.take_some(first_new + at, words, |hash| filter.was_met_twice(hash))
        })?;
        drop(filter);
        finder.finish()
    }

    /// A filter for the windows of the day.
    fn filter(&self) -> WindowFilter {
        let bytes = self.batch.mean_row_bytes(Column::Words) * self.kept.len();
        WindowFilter::new(bytes as u64, self.memory_bytes / 4)
    }

    /// Calls `take` with the place of each of the pages and its words, on all workers.
    fn each_page(
        &self,
        segments: &[&Segment],
        pages: &[Page],
        take: impl Fn(u32, &PageWords) -> Result<()> + Sync,
    ) -> Result<()> {
        // In the order of the disk.
        let mut order: Vec<u32> = (0..pages.len() as u32).collect();
        order.sort_unstable_by_key(|&at| (pages[at as usize].segment, pages[at as usize].row));
        let portions: Vec<&[u32]> = order.chunks(PORTION).collect();
        let done = in_parallel(self.workers, &portions, |portion| {
            let mut words = PageWords::default();
            let segment_of = |at: &u32| pages[*at as usize].segment;
            for of_segment in portion.chunk_by(|one, other| segment_of(one) == segment_of(other)) {
                let segment = segments[segment_of(&of_segment[0]) as usize];
                let mut words_of = column(segment, Segment::words)?;
                for &at in of_segment {
                    progress::tick(Activity::Working);
                    words.read(words_of.get(pages[at as usize].row)?)?;
                    take(at, &words)?;
                }
            }
            Ok(())
        });
        done.into_iter().collect()
    }

    fn write_table(
        &self,
        passages: Passages,
        pages: &[Page],
        staging: &Staging,
    ) -> Result<(DayPassagesFound, (String, Sum))> {
        let mut table = ResultFile::create(staging, self.format, "passages", &columns())?;
        let mut found = DayPassagesFound::default();
        let mut last_page = None;
        for passage in passages {
            let Passage { page, words, begin, end, of, of_begin, .. } = passage?;
            found.passages += 1;
            found.words += u64::from(words);
            found.pages += u64::from(last_page.replace(page) != Some(page));
            let [Page { id, .. }, of] = [page, of].map(|page| &pages[page as usize]);
            let against = of.day.map_or("batch".to_owned(), |day| day.to_string());
            let of = &of.id;
            table
                .row(format_args!("{id}\t{begin}\t{end}\t{words}\t{of}\t{of_begin}\t{against}"))?;
        }
        Ok((found, table.finish()?))
    }
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
