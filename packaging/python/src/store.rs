//! `Store`: the pages of all days, asked and changed.

mod query;

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use arrow_array::types::Date32Type;
use arrow_array::{ArrayRef, BooleanArray, Date32Array, LargeStringArray, RecordBatch};
use arrow_cast::parse::Parser;
use dupsieve::document::{IdList, check_id};
use dupsieve::error::At;
use dupsieve::matches::replacements_in;
use dupsieve::seen::{self, By, Holdings, Sought};
use dupsieve::store::{Added, Day, NewDay, Removed};
use dupsieve::{Error, Kind, Result};
use dupsieve::{index, results};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3_arrow::export::Arro3Table;

use crate::dedup::{Asked, Means, exported};
use crate::interrupt::{self, Stop, exception};
use crate::reading::Fields;
use crate::recipe;
use crate::search::each_row;
use crate::source::{Source, Strings, Table};

const LIST_BYTES: u64 = 4 << 30;

/// The pages of all days.
///
/// Args:
///     path: The folder of the store.
///     create: Make an empty store if there is none.
///
/// Raises:
///     FileNotFoundError: There is no store, and `create` does not ask for one.
#[pyclass(frozen, module = "dupsieve")]
pub(crate) struct Store {
    store: dupsieve::Store,
}

#[pymethods]
impl Store {
    #[new]
    #[pyo3(signature = (path, *, create=false))]
    fn new(py: Python<'_>, path: PathBuf, create: bool) -> PyResult<Store> {
        let store = interrupt::run(py, move |_| match create {
            true => dupsieve::Store::init(path).map(|(store, _)| store),
            false => dupsieve::Store::open(path),
        })?;
        Ok(Store { store })
    }

    /// The folder.
    #[getter]
    fn path(&self) -> PathBuf {
        self.store.path().to_path_buf()
    }

    fn __repr__(&self) -> String {
        format!("dupsieve.Store({:?})", self.store.path())
    }

    /// What each version changed, the oldest first: dictionaries with `version`, `change`, `days`, `rows` and `replaced`, as
    /// `dupsieve store log --json` prints them. The last one is the newest version.
    #[getter]
    fn versions<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let store = self.store.clone();
        let history = interrupt::run(py, move |_| store.history())?;
        let told = history.into_iter().map(|revision| {
            let told = PyDict::new(py);
            told.set_item("version", revision.version)?;
            told.set_item("change", revision.change.to_string())?;
            told.set_item("days", revision.days)?;
            told.set_item("rows", revision.rows)?;
            told.set_item("replaced", revision.replaced)?;
            Ok(told)
        });
        told.collect()
    }

    /// Asks which pages of the store are near to the rows of a table, one by one.
    ///
    /// Args:
    ///     table: Anything with `__arrow_c_stream__` or `__arrow_c_array__`.
    ///     id: The column of the ids. Without it the numbers of the rows, from 0, are the ids.
    ///     text: The column of the texts.
    ///     distance: The largest number of bits in which near fingerprints differ, in place of that of the store's preset.
    ///     limit: The most near pages that an answer names.
    ///     version: The version that is asked. By default the newest.
    ///     workers: Threads. By default one for each core.
    ///
    /// Returns:
    ///     A table (`arro3.core.Table`) with a row for each row of `table`, in order: `id`, `verdict` (`keep`, `drop`, `empty`, or `bad`
    ///     for an id that cannot be one), `near` (a list of `id`, `day`, `distance` and `similarity`, the nearest first) and `more` (how many
    ///     near pages are not named).
    #[pyo3(signature = (table, *, id=None, text="text", distance=None, limit=1000, version=None, workers=None))]
    #[expect(clippy::too_many_arguments, reason = "they are the keywords of a call in Python")]
    fn query(
        &self,
        py: Python<'_>,
        table: Table,
        id: Option<String>,
        text: &str,
        distance: Option<u32>,
        limit: usize,
        version: Option<u64>,
        workers: Option<usize>,
    ) -> PyResult<Arro3Table> {
        let fields = Fields { id, text: text.to_owned(), order: None, key: None };
        let threads = Means::of(workers, None).threads;
        let asked = query::Asked { fields, distance, limit, version, threads };
        let store = self.store.clone();
        exported(interrupt::run(py, move |stop| asked.answer(&store, table.0, stop))?)
    }

    /// Asks which ids the store holds.
    ///
    /// Args:
    ///     ids: An Arrow array or column, a Series, or a list of `str`.
    ///     version: The version that is asked. By default the newest.
    ///     workers: Threads. By default one for each core.
    ///
    /// Returns:
    ///     A table (`arro3.core.Table`) with a row for each id, in order: `id`, `held`, and `day`, the newest day under which the store
    ///     holds the id.
    #[pyo3(signature = (ids, *, version=None, workers=None))]
    fn seen(
        &self,
        py: Python<'_>,
        ids: Strings,
        version: Option<u64>,
        workers: Option<usize>,
    ) -> PyResult<Arro3Table> {
        let (store, threads) = (self.store.clone(), Means::of(workers, None).threads);
        exported(interrupt::run(py, move |stop| {
            let ids = read_ids(ids.0, stop)?;
            let holdings = Holdings::open(&store, store.at(version)?)?;
            let sought: Vec<Sought<'_>> = ids.iter().map(|id| Sought::Id(id)).collect();
            let days = holdings.newest_days(By::Ids, &sought, threads)?;
            Ok(seen_table(&ids, &days))
        })?)
    }

    /// Adds the rows of a table to the store, as a day.
    ///
    /// The rows are joined with the store as it was before that day, and with each other, as `dedup` does. Adding the same rows as the
    /// same day again changes nothing.
    ///
    /// Args:
    ///     table: Anything with `__arrow_c_stream__` or `__arrow_c_array__`.
    ///     day: The day: a `datetime.date`, or a text such as `2026-11-20`.
    ///     id: The column of the ids.
    ///     text: The column of the texts.
    ///     time: The column of the times.
    ///     only: What enters the store: `kept`, the rows that are kept, which hide the pages of the store that they contain; or `all`.
    ///     preset: For the first day of a store: `paper` or `balanced` (the default).
    ///     distance, containment, keep, key, drop_parameters, recrawled, workers, memory: As in `dedup`.
    ///
    /// Returns:
    ///     The verdicts, as `dedup` gives them.
    ///
    /// Raises:
    ///     FileExistsError: The store has other pages of this day.
    ///     ValueError: As `dedup`; or the store was made with another preset.
    #[pyo3(signature = (table, *, day, id, text="text", time=None, only="kept", preset=None, distance=None,
        containment=None, keep=None, key=None, drop_parameters=None, recrawled=None, workers=None, memory=None))]
    #[expect(clippy::too_many_arguments, reason = "they are the keywords of a call in Python")]
    fn add(
        &self,
        py: Python<'_>,
        table: Table,
        day: &Bound<'_, PyAny>,
        id: String,
        text: &str,
        time: Option<String>,
        only: &str,
        preset: Option<String>,
        distance: Option<u32>,
        containment: Option<f64>,
        keep: Option<String>,
        key: Option<String>,
        drop_parameters: Option<Vec<String>>,
        recrawled: Option<String>,
        workers: Option<usize>,
        memory: Option<u64>,
    ) -> PyResult<Arro3Table> {
        let added = day_of(day)?;
        let [text, only] = [text, only].map(str::to_owned);
        let means = Means::of(workers, memory);
        let store = self.store.clone();
        exported(interrupt::run(py, move |stop| {
            let only_kept = is_kept(&only)?;
            let fields = Fields::new(Some(id), text, time, keep.as_deref())?;
            let key = recipe::key(key.as_deref(), drop_parameters)?;
            let day = Some(added);
            let asked =
                Asked { fields, preset, key, distance, containment, keep, recrawled, day, means };
            let folder = tempfile::tempdir().at(std::env::temp_dir())?;
            let before = store.before(added)?;
            let after = before.digest();
            let (batch, verdicts) = asked.join(table.0, Some(before), folder.path(), stop)?;
            let found = folder.path().join("found");
            let kept = found.join("keep.txt");
            let holds = found.join(results::ResultFormat::Tsv.file_name("replaced")).exists();
            let replaces = (only_kept && holds).then(|| replacements_in(&found)).transpose()?;
            let new = NewDay {
                segment: batch.segment.path(),
                day: added,
                only: only_kept.then_some(&kept),
                replaces: replaces.as_ref(),
            };
            if let Added::New(_) = store.add(&new, Some(after))? {
                keep_up(&store, means)?;
            }
            Ok(verdicts)
        })?)
    }

    /// Takes pages out of all versions of the store, by their ids. They stay out of segments of days up to `until` that are added later.
    ///
    /// Args:
    ///     ids: An Arrow array or column, a Series, or a list of `str`.
    ///     until: A `datetime.date`, or a text such as `2026-11-20`. By default the newest day of the store.
    ///     workers: Threads. By default one for each core.
    ///
    /// Returns:
    ///     A dictionary: `listed` (different ids), `held` (those that the store had) and `rows` (what is left out from now on).
    #[pyo3(signature = (ids, *, until=None, workers=None))]
    fn remove<'py>(
        &self,
        py: Python<'py>,
        ids: Strings,
        until: Option<&Bound<'_, PyAny>>,
        workers: Option<usize>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let until = until.map(day_of).transpose()?;
        let (store, threads) = (self.store.clone(), Means::of(workers, None).threads);
        let Removed { listed, held, rows, .. } = interrupt::run(py, move |stop| {
            let ids = read_ids(ids.0, stop)?;
            let mut list = tempfile::NamedTempFile::new().at(std::env::temp_dir())?;
            let written = ids.iter().try_for_each(|id| writeln!(list, "{id}"));
            written.and_then(|()| list.flush()).at(list.path())?;
            let list = IdList::read(list.path(), LIST_BYTES)?;
            stop.check()?;
            store.removal(list, until)?.run(threads, &AtomicU64::new(0))
        })?;
        let told = PyDict::new(py);
        told.set_item("listed", listed)?;
        told.set_item("held", held)?;
        told.set_item("rows", rows)?;
        Ok(told)
    }
}

/// Merges segments if a merge is due, and makes the index and the filters of what is new if the store keeps them.
fn keep_up(store: &dupsieve::Store, means: Means) -> Result<()> {
    let count = AtomicU64::new(0);
    let space = (means.budget.rows(), means.threads);
    store.compact_tiers(&count)?;
    index::keep(store, space, &count)?;
    seen::keep(store, space, &count).map(drop)
}

fn is_kept(only: &str) -> Result<bool> {
    match only {
        "kept" => Ok(true),
        "all" => Ok(false),
        other => Err(Error::new(Kind::Usage, "there is no such choice of pages")
            .expected("kept or all")
            .found(other)),
    }
}

fn day_of(day: &Bound<'_, PyAny>) -> PyResult<Day> {
    let text = day.str()?;
    text.to_str()?.parse::<Day>().map_err(|error| exception(day.py(), &error))
}

fn days_since_1970(day: Day) -> i32 {
    Date32Type::parse(&day.to_string()).expect("a day is a date of the calendar")
}

fn read_ids(source: Source, stop: &Stop) -> Result<Vec<String>> {
    let mut ids = Vec::new();
    each_row(source, true, stop, |row, id| {
        let id = id.unwrap_or_default();
        check_id(id).map_err(|reason| {
            Error::new(Kind::Usage, format!("{reason}"))
                .found(format_args!("id {row} of the array"))
        })?;
        ids.push(id.to_owned());
        Ok(())
    })?;
    Ok(ids)
}

fn seen_table(ids: &[String], days: &[Option<Day>]) -> RecordBatch {
    let held = days.iter().map(|newest| Some(newest.is_some()));
    let newest = days.iter().map(|newest| newest.map(days_since_1970));
    table([
        ("id", Arc::new(LargeStringArray::from_iter_values(ids)), false),
        ("held", Arc::new(BooleanArray::from_iter(held)), false),
        ("day", Arc::new(Date32Array::from_iter(newest)), true),
    ])
}

/// Each column with whether it has nulls.
fn table<const N: usize>(columns: [(&str, ArrayRef, bool); N]) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns).expect("the columns are of one length")
}
