//! The one line of JSON that ends every job on stdout, whether it succeeded or failed.

use std::path::Path;

use dupsieve::{Error, Result};
use serde_json::{Map, Value, json};

/// What a job did: counts of what it read and wrote, and the paths of what it wrote.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    counts: Map<String, Value>,
    paths: Map<String, Value>,
    already_done: bool,
    untold: bool,
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

    /// Goes on with the next step of the same day, whose counts stand for earlier ones of their name.
    /// The whole was done already if every step was.
    pub(crate) fn then(mut self, step: Summary) -> Summary {
        self.counts.extend(step.counts);
        self.paths.extend(step.paths);
        self.already_done &= step.already_done;
        self.untold |= step.untold;
        self
    }

    /// Goes on with another day, whose counts are added.
    pub(crate) fn plus(self, mut day: Summary) -> Summary {
        for (name, count) in &self.counts {
            let sum = day.counted(name) + count.as_u64().unwrap_or(0);
            day.counts.insert(name.clone(), sum.into());
        }
        self.then(day)
    }

    /// A count that was added, 0 if none of that name was.
    pub(crate) fn counted(&self, name: &str) -> u64 {
        self.counts.get(name).and_then(Value::as_u64).unwrap_or(0)
    }

    /// Says that the output stood there already, from the same inputs and parameters.
    pub(crate) fn already_done(mut self) -> Summary {
        self.already_done = true;
        self
    }

    /// Says that this time something was done.
    pub(crate) fn changed(mut self) -> Summary {
        self.already_done = false;
        self
    }

    /// Leaves the telling to process 0, which knows what all did.
    pub(crate) fn untold(mut self) -> Summary {
        self.untold = true;
        self
    }

    /// The outcome of `job` as the line to print, if it is to be told, and the exit code.
    pub(crate) fn told(job: &str, outcome: Result<Summary>) -> (Option<String>, u8) {
        let code = outcome.as_ref().map_or_else(|error| error.kind().code(), |_| 0);
        let retryable = outcome.as_ref().is_err_and(|error| error.kind().retryable());
        let error = outcome.as_ref().err().map(Error::to_string);
        let Summary { counts, paths, already_done, untold } = outcome.unwrap_or_default();
        let line = json!({
            "job": job, "code": code, "retryable": retryable, "error": error,
            "already_done": already_done, "counts": counts, "paths": paths,
        });
        ((!untold).then(|| line.to_string()), code)
    }
}
