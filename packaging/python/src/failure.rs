//! Errors of the library as exceptions. `dupsieve/errors.py` has the classes.

use std::error::Error as _;
use std::io;

use dupsieve::Error;
use pyo3::prelude::*;
use pyo3::types::IntoPyDict;

/// The exception for an error: its class fits the kind, and its text is the sentence that the program prints.
pub(crate) fn exception(py: Python<'_>, error: &Error) -> PyErr {
    let cause = error.source().and_then(|cause| cause.downcast_ref::<io::Error>());
    let is_memory = cause.is_some_and(|cause| cause.kind() == io::ErrorKind::OutOfMemory);
    let made = py.import("dupsieve.errors").and_then(|errors| {
        let is_memory = [("is_memory", is_memory)].into_py_dict(py)?;
        let facts = (error.kind().code(), error.to_string(), error.name(), error.advice());
        errors.call_method("of", facts, Some(&is_memory))
    });
    made.map_or_else(|failure| failure, PyErr::from_value)
}
