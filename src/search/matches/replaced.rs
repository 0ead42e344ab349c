//! Pages of the store that a kept page of the batch holds: the table `replaced`. And what pages may lack when they are replaced: the table `slack`.
//!
//! A page of the store that a kept page holds says nothing that the kept page does not say, so the store hides it
//! from its next version on. Two pages of the store stay all the same: one that a verdict of this batch names, so that no page is
//! dropped as a duplicate of a page that goes; and one that lacks more in the kept page than its [slack](crate::store::Slack), so that no page
//! that was dropped for it lacks more than a tenth in the end.
//!
//! An example: the store holds `a`, and `b` with one more chapter. The batch holds `c`, which is `a` with three more chapters, and
//! `d`, which is `b` with one more word. `c` is kept, and `a` is replaced by `c`. `d` is a duplicate of `b`, so `b` stays
//! even if `c` holds `b` too.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::listing::Named;
use super::match_row::Origin;
use super::numbers::{Number, SegmentRow};
use super::similarity::Similarity;
use crate::error::Result;
use crate::output::Staging;
use crate::results::{ResultColumn, ResultFile, ResultFormat, ResultReader, Values};
use crate::runs::{Record, SortSpace, Sorter, allocated, record};
use crate::store::{Day, Replacements, Segment};

/// The table of the pages of the store that pages of the batch hold.
pub(crate) const REPLACED: &str = "replaced";

pub(crate) fn replaced_columns() -> [ResultColumn; 4] {
    [
        ResultColumn::new("id", Values::Text).ascending(),
        ResultColumn::new("day", Values::Day),
        ResultColumn::new("by", Values::Names),
        ResultColumn::new("containment", Values::Share),
    ]
}

/// The table of the slack of pages of the batch and of the store, as far as the batch has lowered it.
pub(crate) const SLACK: &str = "slack";

pub(crate) fn slack_columns() -> [ResultColumn; 3] {
    [
        ResultColumn::new("id", Values::Text).ascending(),
        ResultColumn::new("day", Values::Names),
        ResultColumn::new("slack", Values::Count),
    ]
}

pub fn replacements_in(folder: &Path) -> Result<Replacements> {
    let replaced = replacements(ResultReader::of(folder, REPLACED)?)?;
    with_slack(replaced, ResultReader::of(folder, SLACK)?)
}

pub fn replacements_at(
    replaced: Option<&Path>,
    slack: Option<&Path>,
) -> Result<Option<Replacements>> {
    let replaced = replaced.map(|path| replacements(ResultReader::open(path)?)).transpose()?;
    let Some(path) = slack else { return Ok(replaced) };
    let replaced = replaced.unwrap_or_else(|| Replacements::new(path));
    with_slack(replaced, ResultReader::open(path)?).map(Some)
}

fn with_slack(mut replacements: Replacements, mut table: ResultReader) -> Result<Replacements> {
    table.expect_columns(slack_columns().iter().map(|column| column.name))?;
    while let Some(row) = table.next_row()?.map(str::to_owned) {
        let mut cells = row.split('\t');
        let cells = (cells.next(), cells.next().map(str::parse), cells.next().map(str::parse));
        let (Some(id), Some(Ok(origin)), Some(Ok(slack))) = cells else {
            return Err(table.wrong("this row names no page of a day or the batch, and its slack"));
        };
        let day = if let Origin::Day(day) = origin { Some(day) } else { None };
        replacements.push_slack(id, day, slack);
    }
    Ok(replacements)
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

/// Calls `each` with the pages in the table in `folder`: the id, the day, the page that replaces it, and the share of it that this holds.
pub fn each_replaced(
    folder: &Path,
    mut each: impl FnMut(&str, Day, &str, f64) -> Result<()>,
) -> Result<()> {
    let mut table = ResultReader::of(folder, REPLACED)?;
    table.expect_columns(replaced_columns().iter().map(|column| column.name))?;
    while let Some(row) = table.next_row()?.map(str::to_owned) {
        let [id, day, by, containment] = row.split('\t').collect::<Vec<_>>()[..] else {
            return Err(table.wrong("too few columns"));
        };
        let (Ok(day), Ok(containment)) = (day.parse(), containment.parse()) else {
            return Err(table.wrong("not a day, or not a share"));
        };
        each(id, day, by, containment)?;
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
    pub(super) containment: Similarity,
    /// The slack that it leaves to the other one.
    pub(super) slack: u32,
}

record!(Going, id);

/// A page of the store, and what becomes of it: a verdict names it, or a page replaces it. Verdicts come first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Fate {
    id: String,
    day: Day,
    /// The page that replaces it, with the share that this page holds; none if a verdict names the page of the store.
    by: Option<(String, Similarity, SegmentRow)>,
    /// The slack that is left to the page that stays.
    slack: u32,
}

impl Record for Fate {
    fn bytes(&self) -> usize {
        size_of::<Self>() + allocated(&self.id) + self.by.as_ref().map_or(0, |by| allocated(&by.0))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct SlackRow {
    id: String,
    of: Origin,
    slack: u32,
}

record!(SlackRow, id);

/// The pages of the store that may go, and the slack of those that stay, while they are collected.
pub(super) struct Replaced<'a> {
    space: SortSpace<'a>,
    /// The pages that kept pages hold, each once.
    pub(super) going: Sorter<Going>,
    fates: Sorter<Fate>,
    /// By row of the batch's segment; the greatest number if no page lowers it.
    slack: Vec<u32>,
}

impl Replaced<'_> {
    pub(super) fn new(space: SortSpace<'_>, rows: u32) -> Replaced<'_> {
        let slack = vec![u32::MAX; rows as usize];
        Replaced { space, going: space.sorter(), fates: space.sorter(), slack }
    }

    /// Takes a page that a verdict names, and the slack that the dropped page leaves to it.
    pub(super) fn named(&mut self, id: &str, day: Day, slack: u32) -> Result<()> {
        self.fates.push(Fate { id: id.to_owned(), day, by: None, slack })
    }

    /// Takes the slack that a page leaves to the page of the batch that is kept for it.
    pub(super) fn kept(&mut self, row: SegmentRow, slack: u32) {
        let least = &mut self.slack[row.index()];
        *least = slack.min(*least);
    }

    /// Writes the tables of the pages that go and of slack, and gives the number of the pages that go too.
    pub(super) fn write(
        self,
        segment: &Segment,
        staging: &Staging,
        format: ResultFormat,
    ) -> Result<([Named; 2], u64)> {
        let Replaced { space, going, mut fates, mut slack } = self;
        let mut ids = segment.ids();
        for going in going.sorted()? {
            let Going { by: row, id, day, containment, slack } = going?;
            let by = ids.get(u32::from(row).into())?.to_owned();
            fates.push(Fate { id, day, by: Some((by, containment, row)), slack })?;
        }
        let mut rows = space.sorter();
        let mut table = ResultFile::create(staging, format, REPLACED, &replaced_columns())?;
        let mut count = 0;
        let mut last: Option<(String, Day)> = None;
        for fate in fates.sorted()? {
            let Fate { id, day, by, slack: left } = fate?;
            let stays = last.as_ref().is_some_and(|last| last.0 == id && last.1 == day);
            match by {
                Some((by, containment, row)) if !stays => {
                    table.row(format_args!("{id}\t{day}\t{by}\t{containment}"))?;
                    count += 1;
                    slack[row.index()] = left.min(slack[row.index()]);
                }
                Some(_) => {}
                // The least comes first.
                None if !stays => {
                    last = Some((id.clone(), day));
                    // Copies alone leave it as it is.
                    if left < u32::MAX {
                        rows.push(SlackRow { id, of: Origin::Day(day), slack: left })?;
                    }
                }
                None => {}
            }
        }
        for (row, slack) in (0..).zip(slack).filter(|(_, slack)| *slack < u32::MAX) {
            let id = ids.get(row)?.to_owned();
            rows.push(SlackRow { id, of: Origin::Batch, slack })?;
        }
        let mut slack = ResultFile::create(staging, format, SLACK, &slack_columns())?;
        for row in rows.sorted()? {
            let SlackRow { id, of, slack: left } = row?;
            slack.row(format_args!("{id}\t{of}\t{left}"))?;
        }
        Ok(([table.finish()?, slack.finish()?], count))
    }
}
