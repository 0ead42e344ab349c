//! `passages` and `contains`: what is repeated inside texts, and which items of a reference set stand in them.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, UInt64Array};
use dupsieve::budget::Budget;
use dupsieve::error::At;
use dupsieve::fingerprint::PageTime;
use dupsieve::items::{Finder, ItemFound, Items};
use dupsieve::passages::{PageWords, PassageFinder};
use dupsieve::{Error, Kind, Result};
use pyo3::prelude::*;
use pyo3_arrow::export::Arro3Table;

use crate::columns::{Texts, column, expect_texts};
use crate::dedup::{Means, exported};
use crate::interrupt::{self, Stop};
use crate::source::{ALONE, Source, Strings};
use crate::texts::each_text;

/// Finds what is repeated inside texts: every passage that stood before, in an earlier text or earlier in the same one.
///
/// The passages are those of the command `dupsieve passages`, with the texts in the order of their rows.
///
/// Args:
///     texts: An Arrow array or column, a Series, or a list of `str` and `None`.
///     words: The least words of a passage.
///     memory: Bytes for sorts, beyond which these use the temporary folder.
///
/// Returns:
///     A table (`arro3.core.Table`) with a row for each passage: `row` (the text, from 0), `begin` and `end` (bytes of it in UTF-8), `words`, `of`
///     (the row of the text where its first words stood first) and `of_begin` (where in that text).
///
/// Raises:
///     ValueError: A passage has no word, or a text is of another type or too long.
#[pyfunction]
#[pyo3(signature = (texts, *, words=50, memory=None))]
pub(crate) fn passages(
    py: Python<'_>,
    texts: Strings,
    words: usize,
    memory: Option<u64>,
) -> PyResult<Arro3Table> {
    let budget = Means::of(None, memory).budget;
    exported(interrupt::run(py, move |stop| repeated(texts.0, words, budget, stop))?)
}

/// Finds which items of a reference set, such as test questions, stand in texts.
///
/// An item stands in a text if a stretch of the text, of at most one and a half times the words of the item, has enough of its 3-word shingles:
/// however it is wrapped, cased or punctuated there.
///
/// Args:
///     texts: An Arrow array or column, a Series, or a list of `str` and `None`.
///     items: The items, as texts.
///     share: The share of the shingles of an item by which it is found, above 0, at most 1.
///     workers: Threads. By default one for each core.
///
/// Returns:
///     A table (`arro3.core.Table`) with a row for each item in each text: `row` (the text, from 0), `item` (its number, from 0), `share` (of its
///     shingles), and `begin` and `end` of the best stretch (bytes of the text in UTF-8).
///
/// Raises:
///     ValueError: No item has a word, the share is none, or texts or items are of another type.
#[pyfunction]
#[pyo3(signature = (texts, items, *, share=0.8, workers=None))]
pub(crate) fn contains(
    py: Python<'_>,
    texts: Strings,
    items: Strings,
    share: f64,
    workers: Option<usize>,
) -> PyResult<Arro3Table> {
    let threads = Means::of(workers, None).threads;
    exported(interrupt::run(py, move |stop| {
        let mut named = Vec::new();
        each_row(items.0, false, stop, |row, text| {
            // So many digits that the items sort as the rows do.
            named.push((format!("{row:010}"), text.unwrap_or_default().to_owned()));
            Ok(())
        })?;
        let items = Arc::new(Items::new(named, share)?);
        let found = each_text(texts.0, threads, stop, || {
            let mut finder = Finder::new(Arc::clone(&items), PageTime::default());
            Ok(move |text: &str| finder.find(text).map(Some))
        })?;
        let found = (0..)
            .zip(found)
            .flat_map(|(row, found)| found.into_iter().flatten().map(move |item| (row, item)));
        Ok(written(&found.collect::<Vec<_>>()))
    })?)
}

fn written(found: &[(u64, ItemFound)]) -> RecordBatch {
    let share = |(_, item): &(u64, ItemFound)| f64::from(item.shared) / f64::from(item.shingles);
    table([
        ("row", numbers(found, |it| it.0)),
        ("item", numbers(found, |it| it.1.item.into())),
        ("share", Arc::new(Float64Array::from_iter_values(found.iter().map(share)))),
        ("begin", numbers(found, |it| it.1.place.start as u64)),
        ("end", numbers(found, |it| it.1.place.end as u64)),
    ])
}

fn repeated(texts: Source, words: usize, budget: Budget, stop: &Stop) -> Result<RecordBatch> {
    if words == 0 {
        return Err(Error::new(Kind::Usage, "a passage has no word").expected("1 word or more"));
    }
    let folder = tempfile::tempdir().at(std::env::temp_dir())?;
    let finder = PassageFinder::new(words, 0, folder.path(), budget.passages(), 1);
    let mut page = PageWords::default();
    each_row(texts, false, stop, |row, text| {
        page.take(text.unwrap_or_default())?;
        finder.take(row, &page)
    })?;
    let mut found = Vec::new();
    for passage in finder.finish()? {
        stop.check()?;
        found.push(passage?);
    }
    Ok(table([
        ("row", numbers(&found, |it| it.page.into())),
        ("begin", numbers(&found, |it| it.begin.into())),
        ("end", numbers(&found, |it| it.end.into())),
        ("words", numbers(&found, |it| it.words.into())),
        ("of", numbers(&found, |it| it.of.into())),
        ("of_begin", numbers(&found, |it| it.of_begin.into())),
    ]))
}

/// Calls `take` with the number of each row and its text, for which a whole number may stand if there may be `numbers`.
pub(crate) fn each_row(
    source: Source,
    numbers: bool,
    stop: &Stop,
    mut take: impl FnMut(u32, Option<&str>) -> Result<()>,
) -> Result<()> {
    expect_texts(&source.schema, ALONE, numbers)?;
    let mut row = 0_u32;
    for batch in source {
        let texts = Texts::of(column(&batch?, ALONE)?)?;
        for at in 0..texts.len() {
            stop.check()?;
            take(row, texts.get(at)?)?;
            let next = row.checked_add(1);
            row = next.ok_or_else(|| Error::new(Kind::Usage, "there are more than 2^32 texts"))?;
        }
    }
    Ok(())
}

fn numbers<T>(found: &[T], number: impl Fn(&T) -> u64) -> ArrayRef {
    Arc::new(UInt64Array::from_iter_values(found.iter().map(number)))
}

fn table<const N: usize>(columns: [(&str, ArrayRef); N]) -> RecordBatch {
    RecordBatch::try_from_iter(columns).expect("the columns are of one length")
}
