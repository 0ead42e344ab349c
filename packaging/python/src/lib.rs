//! dupsieve for Python, over Arrow: the library called from the interpreter, without its lock while it works.
//!
//! - `interrupt`: work that Ctrl-C ends, and errors as exceptions.
//! - `source`, `columns`: tables that come in, and their columns. `pieces`: their rows shared among threads.
//! - `reading`: rows to documents with fingerprints. `recipe`: which fingerprints.
//! - `batch`: the documents as a segment. `verdicts`: the verdicts of its join as a table.
//! - `dedup`, `texts`, `search`, `store`: what Python calls.

mod batch;
mod columns;
mod dedup;
mod interrupt;
mod pieces;
mod reading;
mod recipe;
mod search;
mod source;
mod store;
mod texts;
mod verdicts;

use pyo3::prelude::*;

/// Near-duplicate detection for web crawls and corpora.
#[pymodule(gil_used = false)]
fn _dupsieve(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(dedup::dedup, module)?)?;
    module.add_function(wrap_pyfunction!(texts::fingerprint, module)?)?;
    module.add_function(wrap_pyfunction!(texts::sketch, module)?)?;
    module.add_function(wrap_pyfunction!(texts::compare, module)?)?;
    module.add_function(wrap_pyfunction!(search::passages, module)?)?;
    module.add_function(wrap_pyfunction!(search::contains, module)?)?;
    module.add_class::<store::Store>()
}
