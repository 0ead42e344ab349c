//! The verdicts of a join as a table, in the order of the rows.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, LargeStringArray, RecordBatch, UInt64Array};
use arrow_cast::cast;
use arrow_schema::DataType;
use dupsieve::results::ResultReader;
use dupsieve::{Error, Kind, Result};

use crate::batch::Batch;
use crate::columns::Texts;

/// What the verdicts say of a page behind its id, and as what Python gets it. The last five are there where pages have keys.
const COLUMNS: [(&str, DataType); 12] = [
    ("verdict", DataType::Utf8),
    ("of", DataType::LargeUtf8),
    ("distance", DataType::UInt8),
    ("against", DataType::Utf8),
    ("containment", DataType::Float64),
    ("copies", DataType::UInt64),
    ("hosts", DataType::UInt64),
    ("recrawl", DataType::LargeUtf8),
    ("former", DataType::LargeUtf8),
    ("former_against", DataType::LargeUtf8),
    ("former_contains", DataType::Float64),
    ("canonical", DataType::LargeUtf8),
];
const OF_KEYS: usize = 5;
const OF: usize = 1;
const AGAINST: usize = 3;
const FORMER: usize = 8;
const FORMER_AGAINST: usize = 9;

/// What the verdicts say of a row behind its id; none for a row whose id came before.
type Line = Option<Box<str>>;

fn cell(line: &Line, at: usize) -> Option<&str> {
    line.as_ref()?.split('\t').nth(at).filter(|cell| !cell.is_empty())
}

struct Ids<'a> {
    /// The columns of the table; none if the rows are known by their numbers.
    columns: &'a [Texts],
    /// The ids of the rows, if the table has a column of them.
    names: Vec<Cow<'a, str>>,
    /// The first row of each id, in which the batch has it.
    rows: HashMap<Cow<'a, str>, u64>,
}

impl<'a> Ids<'a> {
    fn of(columns: &'a [Texts], batch: &Batch) -> Result<Ids<'a>> {
        let each = columns.iter().flat_map(|texts| (0..texts.len()).map(|at| texts.get(at)));
        let name = |(row, id): (u64, Result<Option<&'a str>>)| {
            Ok(id?.map_or(Cow::Owned(row.to_string()), Cow::Borrowed))
        };
        let names = (0..).zip(each).map(name).collect::<Result<Vec<Cow<'a, str>>>>()?;
        let mut rows = HashMap::with_capacity(names.len());
        let mut bad = batch.bad.iter().map(|(row, _)| *row).peekable();
        for (row, id) in (0..).zip(&names) {
            if bad.next_if_eq(&row).is_none() {
                rows.entry(id.clone()).or_insert(row);
            }
        }
        Ok(Ids { columns, names, rows })
    }

    fn row(&self, id: &str) -> Option<u64> {
        if self.columns.is_empty() { id.parse().ok() } else { self.rows.get(id).copied() }
    }

    fn name(&self, row: u64) -> Cow<'_, str> {
        match self.names.get(row as usize) {
            Some(name) => Cow::Borrowed(name),
            None => Cow::Owned(row.to_string()),
        }
    }

    /// The row that a line names, if it is one of the batch.
    fn named_in(&self, line: &Line, of: usize, against: usize) -> Option<u64> {
        self.row(cell(line, of).filter(|_| cell(line, against) == Some("batch"))?)
    }

    /// The row of the page that stays. A row without a verdict has an id that came before: the first row with that id stands for it.
    fn kept(&self, row: u64, line: &Line) -> Option<u64> {
        match line {
            Some(_) => self.named_in(line, OF, AGAINST),
            None => self.row(&self.name(row)),
        }
    }

    fn shown<'l>(&'l self, row: u64, line: &'l Line, at: usize) -> Option<Cow<'l, str>> {
        let named = match at {
            OF => self.kept(row, line),
            FORMER => self.named_in(line, FORMER, FORMER_AGAINST),
            _ => None,
        };
        let found = if at == 0 && line.is_none() { Some("repeated") } else { cell(line, at) };
        named.map(|row| self.name(row)).or(found.map(Cow::Borrowed))
    }
}

/// The verdicts that a join wrote into `folder`, one for each row of the table that `batch` was made of.
pub(crate) fn table(folder: &Path, batch: &Batch) -> Result<RecordBatch> {
    let columns = batch.ids.iter().map(Texts::of).collect::<Result<Vec<Texts>>>()?;
    let ids = Ids::of(&columns, batch)?;
    let mut lines: Vec<Line> = vec![None; batch.rows as usize];
    for (row, _) in &batch.bad {
        lines[*row as usize] = Some("bad".into());
    }
    let mut rows = ResultReader::of(folder, "verdicts")?;
    while let Some(row) = rows.next_row()? {
        let (id, line) = row.split_once('\t').unwrap_or_default();
        let word = line.split('\t').next().unwrap_or_default();
        let is_known = ["keep", "drop", "superseded", "empty"].contains(&word);
        let row = ids.row(id).filter(|_| is_known);
        let held = row.and_then(|row| lines.get_mut(row as usize));
        *held.ok_or_else(|| unknown(folder))? = Some(line.into());
    }
    let mut table = vec![("id", texts((0..batch.rows).map(|row| Some(ids.name(row)))), false)];
    let without_keys = if batch.segment.keys().is_some() { 0 } else { OF_KEYS };
    for (at, (name, kind)) in COLUMNS.iter().enumerate().take(COLUMNS.len() - without_keys) {
        let shown = (0..).zip(&lines).map(|(row, line)| ids.shown(row, line, at));
        let column = cast(&texts(shown), kind).expect("texts become texts or numbers");
        table.push((*name, column, at > 0));
        if at == OF {
            let kept = (0..).zip(&lines).map(|(row, line)| ids.kept(row, line));
            table.push(("of_row", Arc::new(UInt64Array::from_iter(kept)), true));
        }
    }
    let made = RecordBatch::try_from_iter_with_nullable(table);
    Ok(made.expect("the columns are of one length"))
}

fn texts<'a>(texts: impl Iterator<Item = Option<Cow<'a, str>>>) -> ArrayRef {
    Arc::new(LargeStringArray::from_iter(texts))
}

fn unknown(folder: &Path) -> Error {
    Error::new(Kind::Internal, "a verdict is not one of this table").at(folder)
}
