//! Tables and arrays that Python hands over, by the Arrow PyCapsule interface, as batches of rows.

use std::sync::Arc;

use arrow_array::builder::LargeStringBuilder;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use dupsieve::{Error, Kind, Result};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;
use pyo3_arrow::input::{AnyArray, AnyRecordBatch};

/// The column of an array that was handed over by itself.
pub(crate) const ALONE: &str = "texts";

type Batches = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>;

pub(crate) struct Source {
    pub(crate) schema: SchemaRef,
    batches: Batches,
}

impl Iterator for Source {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Result<RecordBatch>> {
        Some(self.batches.next()?.map_err(|error| unread(&error)))
    }
}

fn unread(error: &ArrowError) -> Error {
    Error::new(Kind::BadData, format!("the table cannot be read: {error}"))
}

/// A table: anything with `__arrow_c_stream__` or `__arrow_c_array__`, or a Hugging Face dataset.
pub(crate) struct Table(pub(crate) Source);

impl<'py> FromPyObject<'_, 'py> for Table {
    type Error = PyErr;

    fn extract(table: Borrowed<'_, 'py, PyAny>) -> PyResult<Table> {
        let table = table.py().import("dupsieve.tables")?.call_method1("stream", (&table,))?;
        let reader = table.extract::<AnyRecordBatch>()?.into_reader()?;
        Ok(Table(Source { schema: reader.schema(), batches: Box::new(reader) }))
    }
}

/// Texts or ids: any Arrow array or column, or a list of `str` and `None`.
pub(crate) struct Strings(pub(crate) Source);

impl<'py> FromPyObject<'_, 'py> for Strings {
    type Error = PyErr;

    fn extract(texts: Borrowed<'_, 'py, PyAny>) -> PyResult<Strings> {
        let is_arrow = |name| texts.hasattr(name);
        if is_arrow("__arrow_c_stream__")? || is_arrow("__arrow_c_array__")? {
            let reader = texts.extract::<AnyArray>()?.into_reader()?;
            let field = reader.field().as_ref().clone().with_name(ALONE).with_nullable(true);
            return Ok(Strings(Source::of(field, reader)));
        }
        if texts.is_instance_of::<PyString>() {
            return Err(PyTypeError::new_err("expected a list or an array of str, found one str"));
        }
        let mut held = LargeStringBuilder::new();
        for text in texts.try_iter()? {
            held.append_option(text?.extract::<Option<String>>()?);
        }
        let array: ArrayRef = Arc::new(held.finish());
        let field = Field::new(ALONE, array.data_type().clone(), true);
        Ok(Strings(Source::of(field, std::iter::once(Ok(array)))))
    }
}

impl Source {
    pub(crate) fn columns(self, places: Vec<usize>) -> Source {
        let schema = self.schema.project(&places).expect("the table has these columns");
        let batches = self.batches.map(move |batch| batch?.project(&places));
        Source { schema: Arc::new(schema), batches: Box::new(batches) }
    }

    fn of(
        field: Field,
        arrays: impl Iterator<Item = Result<ArrayRef, ArrowError>> + Send + 'static,
    ) -> Source {
        let schema = Arc::new(Schema::new(vec![field]));
        let of = Arc::clone(&schema);
        let batches = arrays.map(move |array| RecordBatch::try_new(Arc::clone(&of), vec![array?]));
        Source { schema, batches: Box::new(batches) }
    }
}
