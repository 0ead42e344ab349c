//! How an attempt at the job with `--processes` ended, and why it failed.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use dupsieve::{Error, Kind};
use serde_json::Value;

use super::signals;

pub(crate) struct Attempt {
    /// The summary line of the process that decided the attempt, if it wrote one.
    pub(crate) summary: Option<String>,
    pub(crate) code: u8,
    /// The failure as the supervisor saw it.
    pub(crate) error: Error,
    /// Whether there must be no other attempt: a signal came, or a child could not be ended.
    pub(crate) is_final: bool,
}

impl Attempt {
    pub(crate) fn interrupted(signal: &str) -> Attempt {
        let error = signals::interrupted(signal);
        Attempt { summary: None, code: error.kind().code(), error, is_final: true }
    }

    /// Why the attempt failed: the error in the summary line, or else as the supervisor saw it.
    pub(crate) fn reason(&self) -> String {
        let parsed = |line: &str| serde_json::from_str::<Value>(line).ok();
        let summary = self.summary.as_deref().and_then(parsed);
        let error = summary.as_ref().and_then(|summary| summary["error"].as_str());
        error.map_or_else(|| self.error.to_string(), str::to_owned)
    }
}

/// Why an attempt fails, as the supervisor sees it, and the child whose summary line may say more.
pub(super) struct Cause {
    pub(super) error: Error,
    pub(super) process: Option<usize>,
    pub(super) code: u8,
}

impl Cause {
    pub(super) fn new(error: Error, process: Option<usize>) -> Cause {
        let code = error.kind().code();
        Cause { error, process, code }
    }

    pub(super) fn of_end(process: usize, status: ExitStatus) -> Cause {
        match (status.code(), status.signal()) {
            (Some(code), _) => {
                let what =
                    format!("process {process} ended with code {code} and without a summary line");
                let code = u8::try_from(code).unwrap_or(Kind::Internal.code());
                Cause { error: Error::new(Kind::Internal, what), process: Some(process), code }
            }
            (None, signal) => {
                let name = signals::name_of(signal.unwrap_or_default());
                let what = format!("lost process {process} to {name}");
                Cause::new(Error::new(Kind::Temporary, what), None)
            }
        }
    }
}
