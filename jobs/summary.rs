//! The one line of JSON that ends every job on stdout, whether it succeeded or failed.

use std::path::Path;
use std::process::ExitCode;

use dupsieve::{Error, Result};
use serde_json::{Map, Value, json};

/// What a job did: counts of what it read and wrote, and the paths of what it wrote.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    counts: Map<String, Value>,
    paths: Map<String, Value>,
    already_done: bool,
}

impl Summary {
    /// A summary without counts and paths yet.
    pub(crate) fn new() -> Summary {
        Summary::default()
    }

    /// Adds a count under `name`.
    pub(crate) fn count(mut self, name: &str, count: u64) -> Summary {
        self.counts.insert(name.into(), count.into());
        self
    }

    /// Adds a path under `name`.
    pub(crate) fn path(mut self, name: &str, path: &Path) -> Summary {
        self.paths.insert(name.into(), path.display().to_string().into());
        self
    }

    /// Says that the output stood there already, from the same inputs and parameters.
    pub(crate) fn already_done(mut self) -> Summary {
        self.already_done = true;
        self
    }

    /// Prints the outcome of `job` as one line and gives the exit code that goes with it.
    pub(crate) fn print(job: &str, outcome: Result<Summary>) -> ExitCode {
        let code = outcome.as_ref().map_or_else(|error| error.kind().code(), |_| 0);
        let retryable = outcome.as_ref().is_err_and(|error| error.kind().retryable());
        let error = outcome.as_ref().err().map(Error::to_string);
        let Summary { counts, paths, already_done } = outcome.unwrap_or_default();
        println!(
            "{}",
            json!({
                "job": job, "code": code, "retryable": retryable, "error": error,
                "already_done": already_done, "counts": counts, "paths": paths,
            })
        );
        ExitCode::from(code)
    }
}
