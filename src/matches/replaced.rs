//! Pages of the store that a kept page of the batch holds: the table `replaced`.
//!
//! A page of the store that a kept page holds says nothing that the kept page does not say, so the store hides it
//! from its next version on. One page of the store stays all the same: one that a verdict of this batch names. So no page is
//! dropped in favour of a page that goes.
//!
//! An example: the store holds `a`, and `b` with one more chapter. The batch holds `c`, which is `a` with three more chapters, and
//! `d`, which is `b` with one more word. `c` is kept, and `a` is replaced by `c`. `d` is dropped in favour of `b`, so `b` stays
//! even if `c` holds `b` too.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::allocated::allocated;
use super::listing::Named;
use super::numbers::SegmentRow;
use super::similarity::Similarity;
use crate::error::Result;
use crate::output::Staging;
use crate::results::{ResultColumn, ResultFile, ResultFormat, ResultReader, Values};
use crate::runs::{Record, Sorter, Space};
use crate::store::{Day, Replacements, Segment};

/// The table of the pages of the store that pages of the batch hold.
pub(crate) const REPLACED: &str = "replaced";

/// Its columns.
pub(crate) fn replaced_columns() -> [ResultColumn; 4] {
    [
        ResultColumn::new("id", Values::Text).ascending(),
        ResultColumn::new("day", Values::Day),
        ResultColumn::new("by", Values::Names),
        ResultColumn::new("held", Values::Share),
    ]
}

/// The pages in the table of the output in `folder`.
///
/// # Errors
/// [`Kind::Missing`](crate::Kind::Missing) if it is not there, [`Kind::BadData`](crate::Kind::BadData) if it is damaged.
pub fn replacements_in(folder: &Path) -> Result<Replacements> {
    replacements(ResultReader::of(folder, REPLACED)?)
}

/// The pages in the table at `path`.
///
/// # Errors
/// As [`replacements_in`].
pub fn replacements_at(path: &Path) -> Result<Replacements> {
    replacements(ResultReader::open(path)?)
}

fn replacements(mut table: ResultReader) -> Result<Replacements> {
    table.expect_columns(replaced_columns().iter().map(|column| column.name))?;
    let mut replacements = Replacements::new(table.path());
    while let Some(row) = table.next_row()?.map(str::to_owned) {
        let mut cells = row.split('\t');
        let cells = (cells.next(), cells.next(), cells.next());
        let (Some(id), Some(Ok(day)), Some(by)) = (cells.0, cells.1.map(str::parse), cells.2)
        else {
            return Err(
                table.wrong("this row names no page of a day, and no page that replaces it")
            );
        };
        replacements.push(id, day, by, table.number());
    }
    Ok(replacements.sorted())
}

/// Calls `each` with the pages in the table of the output in `folder`: the id, the day, the page that replaces it, and the share of it that this
/// page holds.
///
/// # Errors
/// As [`replacements_in`].
pub fn each_replaced(folder: &Path, mut each: impl FnMut(&str, &str, &str, f64)) -> Result<()> {
    let mut table = ResultReader::of(folder, REPLACED)?;
    table.expect_columns(replaced_columns().iter().map(|column| column.name))?;
    while let Some(row) = table.next_row()?.map(str::to_owned) {
        let [id, day, by, held] = row.split('\t').collect::<Vec<_>>()[..] else {
            return Err(table.wrong("too few columns"));
        };
        let Ok(held) = held.parse() else { return Err(table.wrong("not a share")) };
        each(id, day, by, held);
    }
    Ok(())
}

/// A page of the store that goes. Ordered by the row of the page that replaces it, so that ids are read in the order of the disk.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Going {
    pub(super) by: SegmentRow,
    pub(super) id: String,
    pub(super) day: Day,
    /// The share of the page that the other one holds.
    pub(super) held: Similarity,
}

impl Record for Going {
    fn bytes(&self) -> usize {
        size_of::<Self>() + allocated(&self.id)
    }
}

/// A page of the store, and what becomes of it: a verdict names it, or a page replaces it. Verdicts come first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Fate {
    id: String,
    day: Day,
    /// The page that replaces it, with the share that this page holds; none if a verdict names the page of the store.
    by: Option<(String, Similarity)>,
}

impl Record for Fate {
    fn bytes(&self) -> usize {
        size_of::<Self>() + allocated(&self.id) + self.by.as_ref().map_or(0, |by| allocated(&by.0))
    }
}

/// The pages of the store that may go, while they are collected.
pub(super) struct Replaced {
    going: Sorter<Going>,
    fates: Sorter<Fate>,
}

impl Replaced {
    /// None so far.
    pub(super) fn new(space: Space<'_>) -> Replaced {
        Replaced { going: space.sorter(), fates: space.sorter() }
    }

    /// Takes a page that a kept page holds. Each page is taken once.
    pub(super) fn going(&mut self, going: Going) -> Result<()> {
        self.going.push(going)
    }

    /// Takes a page that a verdict names.
    pub(super) fn named(&mut self, id: &str, day: Day) -> Result<()> {
        self.fates.push(Fate { id: id.to_owned(), day, by: None })
    }

    /// Writes the table of the pages that go, and gives their number too.
    pub(super) fn write(
        mut self,
        segment: &Segment,
        staging: &Staging,
        format: ResultFormat,
    ) -> Result<(Named, u64)> {
        let mut ids = segment.ids();
        for going in self.going.sorted()? {
            let Going { by, id, day, held } = going?;
            let by = ids.get(u32::from(by).into())?.to_owned();
            self.fates.push(Fate { id, day, by: Some((by, held)) })?;
        }
        let mut table = ResultFile::create(staging, format, REPLACED, &replaced_columns())?;
        let mut count = 0;
        let mut last: Option<(String, Day)> = None;
        for fate in self.fates.sorted()? {
            let Fate { id, day, by } = fate?;
            let stays = last.as_ref().is_some_and(|last| last.0 == id && last.1 == day);
            match by {
                Some((by, held)) if !stays => {
                    table.row(format_args!("{id}\t{day}\t{by}\t{held}"))?;
                    count += 1;
                }
                Some(_) => {}
                None => last = Some((id, day)),
            }
        }
        Ok((table.finish()?, count))
    }
}
