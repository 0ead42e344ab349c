//! Passages of pages that are known by their numbers, as rows of the table with the ids of these pages; and these rows, read back.
//!
//! The ids are joined twice, in the order of the pages that have passages and of those where these stood first:
//!
//! ```text
//! passages by page -> ids -> by first page -> ids of these -> by id -> table
//! ```

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::finder::{Passage, Passages};
use crate::document::Position;
use crate::error::{Error, Kind, Result};
use crate::output::{Staging, Sum};
use crate::results::{ResultColumn, ResultFile, ResultFormat, ResultReader, Values};
use crate::runs::{SortSpace, SortedRecords, record};
use crate::store::Day;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Name {
    pub(super) page: u32,
    pub(super) id: String,
    /// Where the page is in a corpus: pages of one id are in this order.
    pub(super) position: Option<Position>,
    /// The day under which a store has the page.
    pub(super) day: Option<Day>,
}

record!(Name, id);

/// A passage and the name of its page, in the order of where it stood first.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Copied {
    of: u32,
    of_word: u32,
    page: u32,
    passage: Passage,
    name: Name,
}

record!(Copied, name.id);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct NamedPassage {
    pub(super) id: String,
    position: Option<Position>,
    pub(super) passage: Passage,
    of: String,
    against: Option<Day>,
}

record!(NamedPassage, id, of);

/// Gives passages the names of their pages. Each of `names` is all names in the order of their numbers. `each` gets the passages with the names of their
/// pages, and `each_copied` gets them in the order of where they stood first, with both ids.
pub(super) fn named(
    passages: Passages,
    [names, first_names]: [impl Iterator<Item = Result<Name>>; 2],
    space: SortSpace<'_>,
    mut each: impl FnMut(&Passage, &Name),
    mut each_copied: impl FnMut(&Passage, &str, &str),
) -> Result<SortedRecords<NamedPassage>> {
    let mut names = Names { sorted: names, last: None };
    let mut copied = space.sorter();
    for passage in passages {
        let passage = passage?;
        let Passage { page, of, of_word, .. } = passage;
        let name = names.of(page)?;
        each(&passage, name);
        copied.push(Copied { of, of_word, page, passage, name: name.clone() })?;
    }
    let mut names = Names { sorted: first_names, last: None };
    let mut rows = space.sorter();
    for copied in copied.sorted()? {
        let Copied { passage, name: Name { id, position, .. }, .. } = copied?;
        let Name { id: of, day, .. } = names.of(passage.of)?;
        each_copied(&passage, &id, of);
        rows.push(NamedPassage { id, position, passage, of: of.clone(), against: *day })?;
    }
    rows.sorted()
}

pub(super) fn write_table(
    rows: impl Iterator<Item = Result<NamedPassage>>,
    format: ResultFormat,
    staging: &Staging,
) -> Result<(String, Sum)> {
    let mut table = ResultFile::create(staging, format, "passages", &columns())?;
    for row in rows {
        let NamedPassage {
            id,
            passage: Passage { begin, end, words, of_begin, .. },
            of,
            against,
            ..
        } = row?;
        let against = against.map_or("batch".to_owned(), |day| day.to_string());
        table.row(format_args!("{id}\t{begin}\t{end}\t{words}\t{of}\t{of_begin}\t{against}"))?;
    }
    table.finish()
}

fn columns() -> [ResultColumn; 7] {
    [
        ResultColumn::new("id", Values::Text).ascending(),
        ResultColumn::new("begin", Values::Count),
        ResultColumn::new("end", Values::Count),
        ResultColumn::new("words", Values::Count),
        ResultColumn::new("of", Values::Names),
        ResultColumn::new("of_begin", Values::Count),
        ResultColumn::new("against", Values::Names),
    ]
}

/// A passage of a page, and where it stood first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PassageRow {
    pub id: String,
    /// Where it begins in the text of the page, in bytes.
    pub begin: u32,
    pub end: u32,
    pub words: u32,
    /// The page where its first window stood first.
    pub of: String,
    /// Where in the text of that page.
    pub of_begin: u32,
    /// The day of that page, or `batch`.
    pub against: String,
}

pub struct PassageRows(ResultReader);

impl PassageRows {
    pub fn of(folder: &Path) -> Result<PassageRows> {
        let reader = ResultReader::of(folder, "passages")?;
        reader.expect_columns(columns().iter().map(|column| column.name))?;
        Ok(PassageRows(reader))
    }
}

impl Iterator for PassageRows {
    type Item = Result<PassageRow>;

    fn next(&mut self) -> Option<Result<PassageRow>> {
        let row = match self.0.next_row() {
            Ok(row) => row?,
            Err(error) => return Some(Err(error)),
        };
        let read = PassageRow::read(row);
        Some(read.ok_or_else(|| self.0.wrong("not a passage")))
    }
}

impl PassageRow {
    fn read(row: &str) -> Option<PassageRow> {
        let values: Vec<&str> = row.split('\t').collect();
        let [id, begin, end, words, of, of_begin, against] = values[..] else { return None };
        let number = |value: &str| value.parse::<u32>().ok();
        Some(PassageRow {
            id: id.to_owned(),
            begin: number(begin)?,
            end: number(end)?,
            words: number(words)?,
            of: of.to_owned(),
            of_begin: number(of_begin)?,
            against: against.to_owned(),
        })
    }
}

/// Names, which are asked for in the order of their numbers.
struct Names<I> {
    sorted: I,
    last: Option<Name>,
}

impl<I: Iterator<Item = Result<Name>>> Names<I> {
    fn of(&mut self, page: u32) -> Result<&Name> {
        while self.last.as_ref().is_none_or(|last| last.page < page) {
            let lost = || Error::new(Kind::Internal, "a page has no name");
            self.last = Some(self.sorted.next().ok_or_else(lost)??);
        }
        Ok(self.last.as_ref().expect("it was just found"))
    }
}
