//! What a job did, as one line of JSON for programs and as sentences for people.

use std::path::Path;

use dupsieve::Result;
use dupsieve::document::Skipped;
use dupsieve::error::Named;
use dupsieve::report::Report;
use dupsieve::store::RecordCounts;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::account::{self, Account};
use super::failure;

/// So many of `what`, in which `(s)` is an s unless there is one.
pub(crate) fn counted(count: u64, what: &str) -> String {
    format!("{count} {}", what.replace("(s)", if count == 1 { "" } else { "s" }))
}

/// How many of `what`, and what became of them, without zeros: `132 pages: 61 kept, 69 duplicates`.
pub(crate) fn tally(all: u64, what: &str, parts: &[(u64, &str)]) -> String {
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts.map(|&(count, part)| counted(count, part)).collect();
    match parts.is_empty() {
        true => counted(all, what),
        false => format!("{}: {}", counted(all, what), parts.join(", ")),
    }
}

/// What a job did: counts of what it read and wrote, the paths of what it wrote, and sentences about it.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    counts: Map<String, Value>,
    paths: Map<String, Value>,
    already_done: bool,
    sentences: Vec<String>,
}

/// The summary line: the outcome of a job as programs read it.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(crate) struct SummaryLine {
    pub(super) already_done: bool,
    pub(crate) code: u8,
    counts: Map<String, Value>,
    error: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    help: Option<String>,
    job: String,
    /// The name of the failure, which never changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    paths: Map<String, Value>,
    retryable: bool,
    /// The failure as stderr shows it. Only the line that a child writes for its supervisor has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) shown: Option<String>,
    /// The outcome in sentences, for a person. Only the line that a child writes for its supervisor has
    /// them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) sentences: Vec<String>,
    /// What else the job has done, in the line that a child writes for its supervisor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) account: Option<Account>,
}

impl Summary {
    /// The count of pages that were dropped as duplicates of pages of later days, where the store held later days.
    pub(crate) const FOR_LATER: &str = "dropped_for_later_days";

    /// The count of pages of whose key there is a newer page, where the newest is kept.
    pub(crate) const SUPERSEDED: &str = "superseded";

    pub(crate) fn new() -> Summary {
        Summary::default()
    }

    pub(crate) fn of_join(report: &Report, output: &Path) -> Summary {
        let Report { batch, outcome, later_days, .. } = report;
        report.lost.into_iter().for_each(account::note_lost);
        Summary::new()
            .count("documents", batch.fingerprinted + batch.empty)
            .count("kept", outcome.kept)
            .count("dropped", outcome.dropped)
            .count("empty", batch.empty)
            .count("matches", outcome.matches)
            .count_some("removed", Some(batch.removed).filter(|count| *count > 0))
            .count_some("passages", report.passages.map(|it| it.passages))
            .count_some(Summary::SUPERSEDED, outcome.superseded)
            .count_some("replaced", outcome.replaced)
            .count_some(Summary::FOR_LATER, later_days.as_ref().map(|later| later.dropped))
            .path("output", output)
    }

    pub(crate) fn count(mut self, name: &str, count: u64) -> Summary {
        self.counts.insert(name.into(), count.into());
        self
    }

    pub(crate) fn count_some(self, name: &str, count: Option<u64>) -> Summary {
        match count {
            Some(count) => self.count(name, count),
            None => self,
        }
    }

    /// Counts the records that became no pages.
    pub(crate) fn passed_over(self, counts: &RecordCounts) -> Summary {
        self.count("quarantined", counts.quarantined)
            .count("blank", counts.blank)
            .count("truncated", counts.truncated)
            .count_some("unread_bytes", Some(counts.unread_bytes).filter(|bytes| *bytes > 0))
            .skipped(counts.skipped)
    }

    fn skipped(self, skipped: Skipped) -> Summary {
        if skipped.is_empty() {
            return self;
        }
        let summary = self.count("skipped", skipped.total());
        skipped.reasons().fold(summary, |summary, (reason, count)| {
            summary.count(&format!("skipped_{reason}"), count)
        })
    }

    pub(crate) fn path(mut self, name: &str, path: &Path) -> Summary {
        self.paths.insert(name.into(), path.named().into());
        self
    }

    pub(crate) fn say(mut self, sentence: impl Into<String>) -> Summary {
        self.sentences.push(sentence.into());
        self
    }

    pub(crate) fn say_lines(mut self, text: &str) -> Summary {
        self.sentences.extend(text.lines().map(str::to_owned));
        self
    }

    pub(crate) fn say_if(mut self, sentence: Option<String>) -> Summary {
        self.sentences.extend(sentence);
        self
    }

    /// Appends the next step of the same day. Its counts replace earlier counts of the same name. The
    /// whole was done already if every step was.
    pub(crate) fn then(mut self, step: Summary) -> Summary {
        self.counts.extend(step.counts);
        self.paths.extend(step.paths);
        self.already_done &= step.already_done;
        self.sentences.extend(step.sentences);
        self
    }

    /// Appends another day. Its counts are added to earlier counts of the same name.
    pub(crate) fn plus(self, mut day: Summary) -> Summary {
        for (name, count) in &self.counts {
            let sum = day.counted(name) + count.as_u64().unwrap_or(0);
            day.counts.insert(name.clone(), sum.into());
        }
        self.then(day)
    }

    pub(crate) fn counted(&self, name: &str) -> u64 {
        self.find(name).unwrap_or(0)
    }

    /// What became of the pages, for a [`tally`].
    pub(crate) fn verdicts(&self) -> [(u64, &'static str); 7] {
        let count = |name| self.counted(name);
        let duplicates = count("dropped").saturating_sub(count(Summary::SUPERSEDED));
        [
            (count("kept"), "kept"),
            (duplicates, "duplicate(s) dropped"),
            (count(Summary::SUPERSEDED), "superseded by newer pages"),
            (count("empty"), "empty"),
            (count("repeated"), "repeated id(s)"),
            (count("quarantined"), "unreadable"),
            (count("removed"), "removed from the store earlier"),
        ]
    }

    pub(crate) fn find(&self, name: &str) -> Option<u64> {
        self.counts.get(name).and_then(Value::as_u64)
    }

    pub(crate) fn named(&self, name: &str) -> Option<&str> {
        self.paths.get(name).and_then(Value::as_str)
    }

    pub(crate) fn is_already_done(&self) -> bool {
        self.already_done
    }

    /// Marks the output as existing already, made from the same inputs and parameters.
    pub(crate) fn already_done(mut self) -> Summary {
        self.already_done = true;
        self
    }

    pub(crate) fn changed(mut self) -> Summary {
        self.already_done = false;
        self
    }
}

impl SummaryLine {
    pub(crate) fn of(job: &str, outcome: Result<Summary>) -> SummaryLine {
        let code = outcome.as_ref().map_or_else(|error| error.kind().code(), |_| 0);
        let retryable = outcome.as_ref().is_err_and(|error| error.kind().retryable());
        let error = outcome.as_ref().err();
        let line = SummaryLine {
            code,
            error: error.map(ToString::to_string),
            help: error.map(failure::help),
            job: job.to_owned(),
            kind: error.map(|error| error.name().to_owned()),
            retryable,
            shown: error.map(failure::shown),
            ..SummaryLine::default()
        };
        let Summary { counts, paths, already_done, sentences } = outcome.unwrap_or_default();
        SummaryLine { already_done, counts, paths, sentences, ..line }
    }

    pub(crate) fn read(line: &str) -> Option<SummaryLine> {
        serde_json::from_str(line).ok()
    }

    pub(super) fn failure(&self) -> Option<(&str, &str)> {
        let error = self.error.as_deref()?;
        Some((error, self.shown.as_deref().unwrap_or(error)))
    }

    pub(super) fn count(&self, name: &str) -> Option<u64> {
        self.counts.get(name).and_then(Value::as_u64)
    }

    /// The counts of the records that are no pages, by what they are.
    pub(super) fn skipped(&self) -> impl Iterator<Item = (&str, u64)> {
        let counts = self.counts.iter();
        counts.filter_map(|(name, count)| Some((name.strip_prefix("skipped_")?, count.as_u64()?)))
    }

    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a summary is plain data")
    }

    /// Takes the sentences out. A job without sentences is described by its counts, but for zeros, and paths.
    pub(crate) fn take_sentences(&mut self) -> Vec<String> {
        let mut sentences = std::mem::take(&mut self.sentences);
        if !sentences.is_empty() || self.code > 0 {
            if self.already_done {
                sentences.insert(0, "This was done already: nothing has changed.".to_owned());
            }
            return sentences;
        }
        let done = if self.already_done { "done already, nothing changed" } else { "done" };
        let counts = self.counts.iter().filter(|(_, count)| count.as_u64() != Some(0));
        let counts = counts.map(|(name, count)| format!("{name}: {count}"));
        let paths = self
            .paths
            .iter()
            .map(|(name, path)| format!("{name}: {}", path.as_str().unwrap_or_default()));
        let first = format!("{}: {done}", self.job);
        std::iter::once(first).chain(counts).chain(paths).collect()
    }
}
