//! `dedup`: which rows of a table are near-duplicates of each other, or of pages in a store?

use std::path::{Path, PathBuf};
use std::thread;

use arrow_array::RecordBatch;
use dupsieve::budget::Budget;
use dupsieve::document::PageKey;
use dupsieve::error::At;
use dupsieve::join;
use dupsieve::matches::{Confirm, KeepOrder};
use dupsieve::store::{Day, Version};
use dupsieve::{Error, Join, Kind, Result, Segment, Store};
use pyo3::prelude::*;
use pyo3_arrow::PyTable;
use pyo3_arrow::export::Arro3Table;

use crate::batch::{Batch, Making};
use crate::interrupt::{self, Stop};
use crate::reading::Fields;
use crate::recipe;
use crate::source::{Source, Table};
use crate::verdicts;

/// Finds the near-duplicates among the rows of a table, and in a store.
///
/// The verdicts are those of the command `dupsieve dedup` on the same documents.
///
/// Args:
///     table: Anything with `__arrow_c_stream__` or `__arrow_c_array__`: a table of pyarrow, a frame of Polars or pandas, a
///         relation of DuckDB, a dataset of Hugging Face. A stream is read batch by batch and may be larger than the memory.
///     id: The column of the ids: texts or whole numbers. Without it, or where it is null, the number of the row, from 0, is the id.
///     text: The column of the texts. A null is a text without words.
///     time: The column of the times: timestamps, dates, or what the program reads as a time. Of documents that contain each other, the
///         oldest is kept.
///     store: The folder of a store. The rows are compared with its pages too; the store does not change.
///     preset: `paper` or `balanced` (the default): the recipe of the fingerprints, the distance and the check. By default
///         that of the store, if there is one.
///     distance: The largest number of bits in which near fingerprints differ, in place of the preset's.
///     containment: Drop a document only if a kept one contains at least this share of it, from 0 to 1, in place of the preset's 0.9.
///     keep: Which of several near documents to keep: `oldest`, `newest`, `first-id`, `longest`, or a column, `COLUMN:max` or
///         `COLUMN:min`. The default is `oldest` with `time`, else `first-id`.
///     key: Keep a key of each row, by which it is known as a later version of another one: `url` (the id as it is), `surt`, or the value of a
///         column, `field:COLUMN` or `surt:COLUMN`. By default that of the store.
///     drop_parameters: Parameters of queries that are no part of the key, such as session ids, with `surt`.
///     recrawled: Which rows of one key stay: those that no document contains (`rule`, the default), the `newest`, which is meant by
///         keep="newest" too, or all (`keep`).
///     workers: Threads. By default one for each core.
///     memory: Bytes for tables and sorts, beyond which these use the temporary folder.
///
/// Returns:
///     A table (`arro3.core.Table`) with a row for each row of `table`, in order: `id`, `verdict` (`keep`, `drop`, `superseded`, `empty`,
///     `repeated` or `bad`), `of` (the id of the kept document), `of_row` (its row, from 0; null if it is a page of the store), `distance`,
///     `against` (`batch`, or the day of the store), `containment` (the share of it that the kept document contains), `copies` and `hosts`.
///     With keys also `recrawl`, `former`, `former_against`, `former_contains` and `canonical`, as in verdicts.tsv.
///
/// Raises:
///     ValueError: A column is missing or of another type, a setting is wrong, more than one row in a hundred cannot be read,
///         or more than half of the ids are repeated.
///     FileNotFoundError: There is no store.
#[pyfunction]
#[pyo3(signature = (table, *, id=None, text="text", time=None, store=None, preset=None, distance=None,
    containment=None, keep=None, key=None, drop_parameters=None, recrawled=None, workers=None, memory=None))]
#[expect(clippy::too_many_arguments, reason = "they are the keywords of a call in Python")]
pub(crate) fn dedup(
    py: Python<'_>,
    table: Table,
    id: Option<String>,
    text: &str,
    time: Option<String>,
    store: Option<PathBuf>,
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
    let text = text.to_owned();
    let means = Means::of(workers, memory);
    let verdicts = interrupt::run(py, move |stop| {
        let fields = Fields::new(id, text, time, keep.as_deref())?;
        let key = recipe::key(key.as_deref(), drop_parameters)?;
        let store = store.map(|path| Store::open(path)?.at(None)).transpose()?;
        let day = None;
        let asked =
            Asked { fields, preset, key, distance, containment, keep, recrawled, day, means };
        let folder = tempfile::tempdir().at(std::env::temp_dir())?;
        asked.join(table.0, store, folder.path(), stop).map(|(_, verdicts)| verdicts)
    })?;
    exported(verdicts)
}

pub(crate) fn exported(table: RecordBatch) -> PyResult<Arro3Table> {
    let schema = table.schema();
    Ok(PyTable::try_new(vec![table], schema)?.into())
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Means {
    pub(crate) threads: usize,
    pub(crate) budget: Budget,
}

impl Means {
    pub(crate) fn of(workers: Option<usize>, memory: Option<u64>) -> Means {
        let cores = || thread::available_parallelism().map_or(1, Into::into);
        let threads = workers.filter(|workers| *workers > 0).unwrap_or_else(cores);
        Means { threads, budget: memory.map_or(Budget::default(), Budget::of) }
    }
}

/// What a table is joined by.
pub(crate) struct Asked {
    pub(crate) fields: Fields,
    pub(crate) preset: Option<String>,
    pub(crate) key: Option<PageKey>,
    pub(crate) distance: Option<u32>,
    /// The share of a page that a kept page has to contain.
    pub(crate) containment: Option<f64>,
    pub(crate) keep: Option<String>,
    /// Which pages of one key stay.
    pub(crate) recrawled: Option<String>,
    /// The day as which the rows are added, if they are.
    pub(crate) day: Option<Day>,
    pub(crate) means: Means,
}

impl Asked {
    /// Joins a table with itself and a version of a store. The batch and the output stand in `folder`, as `batch.seg` and `found`.
    pub(crate) fn join(
        &self,
        table: Source,
        store: Option<Version>,
        folder: &Path,
        stop: &Stop,
    ) -> Result<(Batch, RecordBatch)> {
        let recipe = recipe::chosen(self.preset.as_deref(), self.key.clone(), store.as_ref())?;
        let key = recipe.key().and_then(PageKey::field).map(str::to_owned);
        let fields = Fields { key, ..self.fields.clone() };
        let Means { threads, budget } = self.means;
        let batch = Making { fields, recipe, threads, budget }.make(table, folder, stop)?;
        let join = self.of_batch(batch.segment.clone(), store)?;
        let found = folder.join("found");
        join.run(&mut stop.processes(threads)?, &found)?;
        stop.check()?;
        let verdicts = verdicts::table(&found, &batch)?;
        Ok((batch, verdicts))
    }

    fn of_batch(&self, batch: Segment, store: Option<Version>) -> Result<Join> {
        let by_column = self.fields.order.as_ref().is_some_and(|field| !field.is_time());
        let keep = match &self.keep {
            Some(name) if !by_column => Some(name.parse::<KeepOrder>()?),
            _ => None,
        };
        let recrawled = self.recrawled.as_deref().map(str::parse).transpose()?;
        let order = KeepOrder::for_segment(keep, &batch)?;
        let mut join = Join::new(batch, store)?;
        join.distance = self.distance.unwrap_or(join.distance);
        join.check = self.check(join.check)?;
        join.keep = order;
        join.recrawled = join::recrawled(recrawled, keep, join.check, join.batch.stamp());
        join.day = self.day;
        join.budget = self.means.budget;
        join::check_signatures(join.check, join.batch.stamp())?;
        Ok(join)
    }

    fn check(&self, usual: Option<Confirm>) -> Result<Option<Confirm>> {
        let Some(least) = self.containment else { return Ok(usual) };
        if !(0.0..=1.0).contains(&least) {
            return Err(Error::new(Kind::Usage, "not a share")
                .expected("containment from 0 to 1")
                .found(least));
        }
        match usual {
            Some(check) if check.has_direction() => Ok(Some(Confirm::new(check.check, least))),
            _ => Err(Error::new(
                Kind::Usage,
                "this preset does not say how much of a page another one contains",
            )
            .expected("the preset balanced, if containment is given")),
        }
    }
}
