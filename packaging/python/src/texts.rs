//! `fingerprint`, `sketch` and `compare`: texts without a table.

use std::sync::Arc;

use arrow_array::{ArrayRef, BinaryArray, FixedSizeBinaryArray, UInt64Array};
use dupsieve::fingerprint::check::Contained;
use dupsieve::fingerprint::{Check, Class, TextMeasure, Width, hex};
use dupsieve::join::Preset;
use dupsieve::{Error, Kind, Recipe, Result};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3_arrow::PyArray;
use pyo3_arrow::export::Arro3Array;

use crate::columns::{Texts, column, expect_texts};
use crate::dedup::Means;
use crate::interrupt::{self, Stop};
use crate::pieces::{Piece, each_piece};
use crate::source::{ALONE, Source, Strings};

/// Makes the fingerprint of each text.
///
/// Args:
///     texts: An Arrow array or column, a Series, or a list of `str` and `None`.
///     preset: The preset whose recipe makes the fingerprints: `paper` or `balanced`.
///     recipe: The name of a recipe, in place of the preset's, such as `charikar-64`.
///     workers: Threads. By default one for each core.
///
/// Returns:
///     An array (`arro3.core.Array`) of UInt64, null where a text has no word. Fingerprints of 128 bits are binary values of 16
///     bytes, the highest first.
///
/// Raises:
///     ValueError: There is no such preset or recipe, or the recipe takes no texts.
#[pyfunction]
#[pyo3(signature = (texts, *, preset="balanced", recipe=None, workers=None))]
pub(crate) fn fingerprint(
    py: Python<'_>,
    texts: Strings,
    preset: &str,
    recipe: Option<String>,
    workers: Option<usize>,
) -> PyResult<Arro3Array> {
    let (preset, threads) = (preset.to_owned(), Means::of(workers, None).threads);
    let made = interrupt::run(py, move |stop| {
        let recipe = named(&preset, recipe.as_deref())?;
        let made = each_text(texts.0, threads, stop, || {
            let mut sketcher = recipe.sketcher()?;
            Ok(move |text: &str| sketcher.text(text))
        })?;
        written(made, recipe.width())
    })?;
    Ok(PyArray::from_array_ref(made).into())
}

/// Makes the sketch of each text: the set of its 3-word shingles, some 2.1 bytes a word.
///
/// Args:
///     texts: An Arrow array or column, a Series, or a list of `str` and `None`.
///     preset: The preset whose check makes the sketches: `balanced`.
///     workers: Threads. By default one for each core.
///
/// Returns:
///     An array (`arro3.core.Array`) of binary values, null where a text has no word.
///
/// Raises:
///     ValueError: There is no such preset, or it has no check.
#[pyfunction]
#[pyo3(signature = (texts, *, preset="balanced", workers=None))]
pub(crate) fn sketch(
    py: Python<'_>,
    texts: Strings,
    preset: &str,
    workers: Option<usize>,
) -> PyResult<Arro3Array> {
    let (preset, threads) = (preset.to_owned(), Means::of(workers, None).threads);
    let made = interrupt::run(py, move |stop| {
        let (recipe, check) = (named(&preset, None)?, check_of(&preset)?);
        let made = each_text(texts.0, threads, stop, || {
            let (mut sketcher, mut signer) = (recipe.sketcher()?, check.signer());
            Ok(move |text: &str| {
                // A text without a fingerprint has no word.
                if sketcher.text(text)?.is_none() {
                    return Ok(None);
                }
                let mut sketch = Vec::new();
                signer.sign(text, &mut sketch).map(|()| Some(sketch))
            })
        })?;
        Ok(Arc::new(BinaryArray::from_iter(made)) as ArrayRef)
    })?;
    Ok(PyArray::from_array_ref(made).into())
}

/// Compares two texts.
///
/// Args:
///     one: A text.
///     another: Another text.
///     preset: The preset whose recipe and check compare them: `paper` or `balanced`.
///
/// Returns:
///     A dictionary: `recipe`, `distance` (bits in which the fingerprints differ), `fingerprints` (of both), `classes` (`Full` or
///     `Short`), `jaccard` (the share of the 3-word shingles that both have), and, if the preset has a check, `check` and `containment`: the share of `one` that `another` contains, and the share of
///     `another` that `one` contains.
///
/// Raises:
///     ValueError: There is no such preset, or a text has no word.
#[pyfunction]
#[pyo3(signature = (one, another, *, preset="balanced"))]
pub(crate) fn compare<'py>(
    py: Python<'py>,
    one: String,
    another: String,
    preset: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let preset = preset.to_owned();
    let (recipe, pages, jaccard) = interrupt::run(py, move |_| {
        let recipe = named(&preset, None)?;
        let mut sketcher = recipe.sketcher()?;
        let mut page = |text: &str| -> Result<(u128, Class, Vec<u8>)> {
            let lacking = || Error::new(Kind::BadData, "the document has no feature");
            let (fingerprint, class) = sketcher.page(text)?.ok_or_else(lacking)?;
            let mut sketch = Vec::new();
            recipe.check().map_or(Ok(()), |check| check.signer().sign(text, &mut sketch))?;
            Ok((fingerprint, class, sketch))
        };
        let pages = [page(&one)?, page(&another)?];
        let jaccard = TextMeasure::Jaccard.similarity([&one, &another])?;
        Ok((recipe, pages, jaccard))
    })?;
    let [first, second] = &pages;
    let told = PyDict::new(py);
    told.set_item("recipe", recipe.name())?;
    told.set_item("distance", (first.0 ^ second.0).count_ones())?;
    told.set_item("fingerprints", [first, second].map(|it| hex(it.0, recipe.width())))?;
    let class = |class| if class == Class::Short { "short" } else { "full" };
    told.set_item("classes", [first, second].map(|it| class(it.1)))?;
    told.set_item("jaccard", jaccard)?;
    let containment = recipe.check().map(|check| (check, check.containment(&first.2, &second.2)));
    if let Some((check, Some(both))) = containment {
        told.set_item("check", check.to_string())?;
        told.set_item("containment", both.map(Contained::share))?;
    }
    Ok(told)
}

fn named(preset: &str, recipe: Option<&str>) -> Result<Recipe> {
    match recipe {
        Some(name) => Recipe::named(name, None),
        None => preset.parse::<Preset>()?.recipe(None),
    }
}

fn check_of(preset: &str) -> Result<Check> {
    let check = preset.parse::<Preset>()?.check().map(|confirm| confirm.check);
    check.ok_or_else(|| {
        Error::new(Kind::Usage, format!("the preset {preset} has no check, so no sketches"))
            .expected("balanced")
    })
}

/// What is made of each text; none for null.
pub(crate) fn each_text<T: Send, M: FnMut(&str) -> Result<Option<T>>>(
    source: Source,
    threads: usize,
    stop: &Stop,
    maker: impl Fn() -> Result<M> + Sync,
) -> Result<Vec<Option<T>>> {
    expect_texts(&source.schema, ALONE, false)?;
    let handler = || {
        let mut make = maker()?;
        Ok(move |piece: &Piece| {
            let texts = Texts::of(column(&piece.rows, ALONE)?)?;
            let mut each = |at| {
                stop.check()?;
                texts.get(at)?.map_or(Ok(None), &mut make)
            };
            (0..texts.len()).map(&mut each).collect::<Result<Vec<_>>>()
        })
    };
    let made = each_piece(source, threads, stop, handler, |_, _| Ok(()))?;
    Ok(made.into_iter().flatten().collect())
}

fn written(fingerprints: Vec<Option<u128>>, width: Width) -> Result<ArrayRef> {
    match width {
        Width::W64 => {
            let numbers = fingerprints.into_iter().map(|it| it.map(|it| it as u64));
            Ok(Arc::new(UInt64Array::from_iter(numbers)))
        }
        Width::W128 => {
            let bytes = fingerprints.into_iter().map(|it| it.map(u128::to_be_bytes));
            let size = size_of::<u128>() as i32;
            let array = FixedSizeBinaryArray::try_from_sparse_iter_with_size(bytes, size);
            let array = array.map_err(|error| Error::new(Kind::Internal, error.to_string()))?;
            Ok(Arc::new(array))
        }
    }
}
