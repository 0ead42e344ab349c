//! What a job did, and how it is told: as one line of JSON for programs, in sentences for people.

use std::path::Path;

use dupsieve::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What a job did: counts of what it read and wrote, the paths of what it wrote, and the same in
/// sentences.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    counts: Map<String, Value>,
    paths: Map<String, Value>,
    already_done: bool,
    sentences: Vec<String>,
}

/// An outcome, ready to be told. Its JSON is the summary line.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(crate) struct Told {
    already_done: bool,
    pub(crate) code: u8,
    counts: Map<String, Value>,
    error: Option<String>,
    job: String,
    paths: Map<String, Value>,
    retryable: bool,
    /// The outcome in sentences, for a person. They are in no line but the one that a supervised
    /// process gives its supervisor.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) sentences: Vec<String>,
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

    /// Names what was moved by its new place: `to` stands in its path for `from`.
    pub(crate) fn moved(mut self, from: &str, to: &str) -> Summary {
        for path in self.paths.values_mut() {
            if let Value::String(path) = path {
                *path = path.replace(from, to);
            }
        }
        self
    }

    /// Adds a path under `name`.
    pub(crate) fn path(mut self, name: &str, path: &Path) -> Summary {
        self.paths.insert(name.into(), path.display().to_string().into());
        self
    }

    /// Adds a sentence that tells a person what was done, or what to do next.
    pub(crate) fn say(mut self, sentence: impl Into<String>) -> Summary {
        self.sentences.push(sentence.into());
        self
    }

    /// Goes on with the next step of the same day, whose counts stand for earlier ones of their name.
    /// The whole was done already if every step was.
    pub(crate) fn then(mut self, step: Summary) -> Summary {
        self.counts.extend(step.counts);
        self.paths.extend(step.paths);
        self.already_done &= step.already_done;
        self.sentences.extend(step.sentences);
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

    /// Whether all of it was done already.
    pub(crate) fn is_already_done(&self) -> bool {
        self.already_done
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

    /// The summary of a command whose answer stands on stdout already: nothing more is told.
    pub(crate) fn answered() -> Summary {
        Summary::new()
    }
}

impl Told {
    /// The outcome of `job`.
    pub(crate) fn of(job: &str, outcome: Result<Summary>) -> Told {
        let code = outcome.as_ref().map_or_else(|error| error.kind().code(), |_| 0);
        let retryable = outcome.as_ref().is_err_and(|error| error.kind().retryable());
        let error = outcome.as_ref().err().map(Error::to_string);
        let Summary { counts, paths, already_done, sentences } = outcome.unwrap_or_default();
        let job = job.to_owned();
        Told { already_done, code, counts, error, job, paths, retryable, sentences }
    }

    /// The outcome that a line tells, if the line is a summary.
    pub(crate) fn read(line: &str) -> Option<Told> {
        serde_json::from_str(line).ok()
    }

    /// The summary line.
    pub(crate) fn line(&self) -> String {
        serde_json::to_string(self).expect("a summary is plain data")
    }

    /// Takes the sentences out. A job that has none of its own is told by its counts and paths.
    pub(crate) fn take_sentences(&mut self) -> Vec<String> {
        let sentences = std::mem::take(&mut self.sentences);
        if !sentences.is_empty() || self.code > 0 {
            return sentences;
        }
        let done = if self.already_done { "this was done already" } else { "done" };
        let counts = self.counts.iter().map(|(name, count)| format!("{name}: {count}"));
        let paths = self
            .paths
            .iter()
            .map(|(name, path)| format!("{name}: {}", path.as_str().unwrap_or_default()));
        let first = format!("{}: {done}", self.job);
        std::iter::once(first).chain(counts).chain(paths).collect()
    }
}
