//! One thing that was looked at, what was found, and what to do about it.

use std::fmt;

use serde::Serialize;

#[derive(Debug, Serialize)]
pub(super) struct Finding {
    pub(super) what: String,
    pub(super) found: String,
    pub(super) state: State,
    /// What to do; empty where all is well.
    pub(super) advice: String,
}

/// Whether a job can work with what was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum State {
    Ok,
    /// A job will work, but slowly, or not at every size.
    Poor,
    Wrong,
}

impl Finding {
    /// Something that is well, or that is no good or bad.
    pub(super) fn ok(what: impl Into<String>, found: impl fmt::Display) -> Finding {
        let (found, advice) = (found.to_string(), String::new());
        Finding { what: what.into(), found, state: State::Ok, advice }
    }

    /// The same, in this state with this advice if `is_so`.
    pub(super) fn but(self, is_so: bool, state: State, advice: impl Into<String>) -> Finding {
        if is_so && self.state == State::Ok {
            Finding { state, advice: advice.into(), ..self }
        } else {
            self
        }
    }
}

/// A number of bytes with three digits at most.
pub(super) fn bytes(bytes: u64) -> String {
    let mut rest = bytes as f64;
    for unit in ["B", "KiB", "MiB", "GiB"] {
        if rest < 1000.0 {
            return if rest < 10.0 && unit != "B" {
                format!("{rest:.1} {unit}")
            } else {
                format!("{rest:.0} {unit}")
            };
        }
        rest /= 1024.0;
    }
    format!("{rest:.1} TiB")
}
