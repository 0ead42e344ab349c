//! The verdicts of a join as a table, in the order of the rows.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{
    Float64Builder, LargeStringBuilder, StringBuilder, UInt8Builder, UInt64Builder,
};
use arrow_array::{ArrayRef, Float64Array, LargeStringArray, RecordBatch};
use dupsieve::rooms::results::ResultReader;
use dupsieve::{Error, Kind, Result};

use crate::batch::Batch;
use crate::columns::Texts;

#[derive(Clone, Debug, Default)]
struct Verdict {
    /// None for a row whose id came before.
    word: Option<&'static str>,
    /// The id of the page that stays.
    of: Option<Box<str>>,
    /// Its row, unless it is a page of the store.
    of_row: Option<u64>,
    distance: Option<u8>,
    against: Option<Box<str>>,
    containment: Option<f64>,
    copies: Option<u64>,
    hosts: Option<u64>,
    recrawl: Recrawl,
}

/// What became of a page since the former one of its key.
#[derive(Clone, Debug, Default)]
struct Recrawl {
    change: Option<Box<str>>,
    /// The id of the former page, as Python sees it.
    former: Option<Box<str>>,
    against: Option<Box<str>>,
    containment: Option<f64>,
    canonical: Option<Box<str>>,
}

/// The ids of a batch, as Python sees them and as the segment has them.
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
}

/// The verdicts that a join wrote into `folder`, one for each row of the table that `batch` was made of.
pub(crate) fn table(folder: &Path, batch: &Batch) -> Result<RecordBatch> {
    let columns = batch.ids.iter().map(Texts::of).collect::<Result<Vec<Texts>>>()?;
    let ids = Ids::of(&columns, batch)?;
    let mut verdicts = vec![Verdict::default(); batch.rows as usize];
    for (row, _) in &batch.bad {
        verdicts[*row as usize].word = Some("bad");
    }
    let mut rows = ResultReader::of(folder, "verdicts")?;
    while let Some(line) = rows.next_row()? {
        let read =
            line.split_once('\t').and_then(|(id, rest)| Some((ids.row(id)?, verdict(rest, &ids)?)));
        let (row, verdict) = read.ok_or_else(|| unknown(folder))?;
        *verdicts.get_mut(row as usize).ok_or_else(|| unknown(folder))? = verdict;
    }
    let columns = written(&ids, &verdicts);
    let keyed = batch.segment.keys().is_some().then(|| recrawls(&verdicts));
    let columns = columns.into_iter().chain(keyed.into_iter().flatten());
    let made = RecordBatch::try_from_iter_with_nullable(columns);
    Ok(made.expect("the columns are of one length"))
}

fn unknown(folder: &Path) -> Error {
    Error::new(Kind::Internal, "a verdict is not one of this table").at(folder)
}

fn verdict(row: &str, ids: &Ids<'_>) -> Option<Verdict> {
    let mut cells = row.split('\t').map(|cell| Some(cell).filter(|cell| !cell.is_empty()));
    let word = cells.next()??;
    let word = ["keep", "drop", "superseded", "empty"].into_iter().find(|known| *known == word)?;
    let [of, distance, against, containment, copies, hosts] =
        std::array::from_fn(|_| cells.next().flatten());
    let [change, former, former_against, former_contains, canonical] =
        std::array::from_fn(|_| cells.next().flatten());
    let former_row = former.filter(|_| former_against == Some("batch")).and_then(|id| ids.row(id));
    let former_name = former_row.map(|row| ids.name(row)).or(former.map(Cow::Borrowed));
    let of_row = of.filter(|_| against == Some("batch")).and_then(|id| ids.row(id));
    Some(Verdict {
        word: Some(word),
        of: of.filter(|_| of_row.is_none()).map(Box::from),
        of_row,
        distance: distance.and_then(|it| it.parse().ok()),
        against: against.map(Box::from),
        containment: containment.and_then(|it| it.parse().ok()),
        copies: copies.and_then(|it| it.parse().ok()),
        hosts: hosts.and_then(|it| it.parse().ok()),
        recrawl: Recrawl {
            change: change.map(Box::from),
            former: former_name.as_deref().map(Box::from),
            against: former_against.map(Box::from),
            containment: former_contains.and_then(|it| it.parse().ok()),
            canonical: canonical.map(Box::from),
        },
    })
}

/// A column, and whether it has nulls.
type Column = (&'static str, ArrayRef, bool);

fn written(ids: &Ids<'_>, verdicts: &[Verdict]) -> [Column; 9] {
    let (mut id, mut word, mut of) =
        (LargeStringBuilder::new(), StringBuilder::new(), LargeStringBuilder::new());
    let (mut of_row, mut distance) = (UInt64Builder::new(), UInt8Builder::new());
    let (mut against, mut containment) = (StringBuilder::new(), Float64Builder::new());
    let (mut copies, mut hosts) = (UInt64Builder::new(), UInt64Builder::new());
    for (row, verdict) in (0..).zip(verdicts) {
        let name = ids.name(row);
        // A row without a verdict has an id that came before: the first row with that id stands for it.
        let first = verdict.word.is_none().then(|| ids.row(&name)).flatten();
        let row_of = verdict.of_row.or(first);
        word.append_value(verdict.word.unwrap_or("repeated"));
        match (&verdict.of, row_of) {
            (Some(of_store), _) => of.append_value(of_store),
            (None, Some(row)) => of.append_value(ids.name(row)),
            (None, None) => of.append_null(),
        }
        id.append_value(name);
        of_row.append_option(row_of);
        distance.append_option(verdict.distance);
        against.append_option(verdict.against.as_deref());
        containment.append_option(verdict.containment);
        copies.append_option(verdict.copies);
        hosts.append_option(verdict.hosts);
    }
    [
        ("id", Arc::new(id.finish()), false),
        ("verdict", Arc::new(word.finish()), false),
        ("of", Arc::new(of.finish()), true),
        ("of_row", Arc::new(of_row.finish()), true),
        ("distance", Arc::new(distance.finish()), true),
        ("against", Arc::new(against.finish()), true),
        ("containment", Arc::new(containment.finish()), true),
        ("copies", Arc::new(copies.finish()), true),
        ("hosts", Arc::new(hosts.finish()), true),
    ]
}

/// The columns that there are where pages have keys.
fn recrawls(verdicts: &[Verdict]) -> [Column; 5] {
    let texts = |text: fn(&Recrawl) -> &Option<Box<str>>| -> ArrayRef {
        let texts = verdicts.iter().map(|verdict| text(&verdict.recrawl).as_deref());
        Arc::new(LargeStringArray::from_iter(texts))
    };
    let contained = verdicts.iter().map(|verdict| verdict.recrawl.containment);
    [
        ("recrawl", texts(|it| &it.change), true),
        ("former", texts(|it| &it.former), true),
        ("former_against", texts(|it| &it.against), true),
        ("former_contains", Arc::new(Float64Array::from_iter(contained)), true),
        ("canonical", texts(|it| &it.canonical), true),
    ]
}
