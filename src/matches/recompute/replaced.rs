//! The table of replaced pages, held against what the kept pages hold.
//!
//! The pages of the batch that the table names are joined again, beside the sample. So for each row it is known which of these pages
//! holds the page of the store best, and a page of the store that a kept page of the sample holds must have a row, unless a verdict
//! names the page of the store.

use std::iter::Peekable;

use serde::{Deserialize, Serialize};

use super::inputs::{Recompute, advised};
use super::verdict_lines::VerdictLines;
use crate::error::{Error, Kind, Result};
use crate::matches::allocated::allocated;
use crate::matches::numbers::IdRank;
use crate::matches::replaced::{REPLACED, replaced_columns};
use crate::matches::standing::Standing;
use crate::results::ResultReader;
use crate::runs::{Record, SortedRecords, Sorter};
use crate::store::Day;

/// A page of the store that a kept page holds. The order is: the page of the store, how well the
/// kept page stands for that page, the id of the kept page. The first kept page in this order
/// replaces the page of the store.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Going {
    pub(crate) id: String,
    pub(crate) day: Day,
    pub(crate) standing: Standing,
    pub(crate) by: IdRank,
}

impl Record for Going {
    fn bytes(&self) -> usize {
        size_of::<Self>() + allocated(&self.id)
    }
}

/// A row of the table by the id that it names as `by`, in the order of these ids.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Named {
    by: String,
    row: Row,
}

impl Record for Named {
    fn bytes(&self) -> usize {
        allocated(&self.by) + self.row.bytes()
    }
}

/// A row of the table, in the order of the table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Row {
    id: String,
    day: Day,
    by: IdRank,
    held: String,
    line: u64,
}

impl Record for Row {
    fn bytes(&self) -> usize {
        size_of::<Self>() + allocated(&self.id) + allocated(&self.held)
    }
}

/// A page of the store that a verdict names. It stays.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Staying {
    id: String,
    day: Day,
}

impl Record for Staying {
    fn bytes(&self) -> usize {
        size_of::<Self>() + allocated(&self.id)
    }
}

/// The table and the verdicts, read.
pub(super) struct ReplacedRows<'a> {
    of: &'a Recompute<'a>,
    rows: Sorter<Row>,
    staying: Sorter<Staying>,
    /// The pages of the batch that the table names.
    pages: Vec<IdRank>,
}

impl<'a> ReplacedRows<'a> {
    /// Reads the table and the verdicts of the output.
    pub(super) fn read(of: &'a Recompute<'a>) -> Result<ReplacedRows<'a>> {
        let mut named: Peekable<SortedRecords<Named>> = read_table(of)?.sorted()?.peekable();
        let (rows, staying) = (of.space().sorter(), of.space().sorter());
        let mut read = ReplacedRows { of, rows, staying, pages: Vec::new() };
        let mut verdicts = VerdictLines::open(of.output)?;
        while let Some(verdict) = verdicts.next()? {
            let is_before = |next: &Result<Named>| {
                next.as_ref().map_or(true, |next| next.by.as_str() <= verdict.id.as_str())
            };
            while let Some(next) = named.next_if(is_before).transpose()? {
                if next.by != verdict.id || !verdict.kept {
                    return Err(read.wrong(&next.row, "the page named is none that is kept"));
                }
                read.rows.push(Row { by: verdict.rank, ..next.row })?;
                if read.pages.last() != Some(&verdict.rank) {
                    read.pages.push(verdict.rank);
                }
            }
            let [id, _, against, _] = verdict.named;
            if let (false, Ok(day)) = (verdict.kept, against.parse()) {
                read.staying.push(Staying { id, day })?;
            }
        }
        match named.next().transpose()? {
            Some(next) => Err(read.wrong(&next.row, "the page named is none that is kept")),
            None => Ok(read),
        }
    }

    /// The pages of the batch that the table names.
    pub(super) fn pages(&self) -> impl Iterator<Item = IdRank> + use<'_> {
        self.pages.iter().copied()
    }

    /// Checks the table of replaced pages. Each page of the store that is `going` and that no
    /// verdict names must have a row. The row must name the kept page that holds the page best. The
    /// table must have no further row.
    pub(super) fn check(self, going: Sorter<Going>) -> Result<()> {
        let of = self.of;
        let mut rows = self.rows.sorted()?.peekable();
        let mut staying = self.staying.sorted()?.peekable();
        let mut last: Option<(String, Day)> = None;
        for going in going.sorted()? {
            let Going { id, day, standing, by } = going?;
            let page = (id, day);
            if last.as_ref() == Some(&page) {
                continue;
            }
            while staying.next_if(|next| is_below(next, &page)).transpose()?.is_some() {}
            let stays = matches!(staying.peek(), Some(Ok(it)) if it.id == page.0 && it.day == day);
            if !stays {
                let held = standing.share().to_string();
                match rows.next().transpose()? {
                    Some(row) if (&row.id, row.day) == (&page.0, day) => {
                        if (row.by, &row.held) != (by, &held) {
                            let what = "this is not the page that holds most of the page of the store, or not the share";
                            let told = wrong(of, Some(row.line), what);
                            return Err(told.expected(held).found(row.held));
                        }
                    }
                    Some(row) if (row.id.as_str(), row.day) < (page.0.as_str(), day) => {
                        return Err(no_cause(of, &row));
                    }
                    _ => {
                        let what = "a page of the store that a kept page holds is not listed";
                        return Err(wrong(of, None, what)
                            .expected(format_args!("`{:.100}` {day}", page.0))
                            .found("no such row"));
                    }
                }
            }
            last = Some(page);
        }
        rows.next().map_or(Ok(()), |row| Err(no_cause(of, &row?)))
    }

    fn wrong(&self, row: &Row, what: &str) -> Error {
        wrong(self.of, Some(row.line), what).expected("an id of keep.txt").found("another one")
    }
}

/// The rows of the table, whose number the report has.
fn read_table(of: &Recompute<'_>) -> Result<Sorter<Named>> {
    let mut table = ResultReader::of(of.output, REPLACED)?;
    table.expect_columns(replaced_columns().iter().map(|column| column.name))?;
    let mut named = of.space().sorter();
    while let Some(row) = table.next_row()?.map(str::to_owned) {
        let mut cells = row.split('\t').map(str::to_owned);
        let mut cell = || cells.next().unwrap_or_default();
        let (id, day, by, held) = (cell(), cell(), cell(), cell());
        let Ok(day) = day.parse() else {
            return Err(table.wrong("this row names no page of a day"));
        };
        let line = table.number();
        named.push(Named { by, row: Row { id, day, by: IdRank::from(0), held, line } })?;
    }
    Ok(named)
}

fn is_below(next: &Result<Staying>, (id, day): &(String, Day)) -> bool {
    next.as_ref().map_or(true, |next| (&next.id, next.day) < (id, *day))
}

/// The error for a row that nothing explains.
fn no_cause(of: &Recompute<'_>, row: &Row) -> Error {
    let what = "no kept page holds this page of the store, or a verdict names it";
    wrong(of, Some(row.line), what)
        .expected("no such row")
        .found(format_args!("`{:.100}` {}", row.id, row.day))
}

fn wrong(of: &Recompute<'_>, line: Option<u64>, what: &str) -> Error {
    let path = match ResultReader::path_in(of.output, REPLACED) {
        Ok(path) => path,
        Err(error) => return error,
    };
    let error = advised(Error::new(Kind::BadData, what).at(path));
    line.map_or(error.clone(), |line| error.line(line))
}
