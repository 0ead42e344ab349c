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
    pub(super) fn ok(what: impl Into<String>, found: impl fmt::Display) -> Finding {
        let (found, advice) = (found.to_string(), String::new());
        Finding { what: what.into(), found, state: State::Ok, advice }
    }

    pub(super) fn poor_if(self, is_poor: bool, advice: impl Into<String>) -> Finding {
        self.but(is_poor, State::Poor, advice.into())
    }

    pub(super) fn wrong_if(self, is_wrong: bool, advice: impl Into<String>) -> Finding {
        self.but(is_wrong, State::Wrong, advice.into())
    }

    fn but(self, is_so: bool, state: State, advice: String) -> Finding {
        let is_so = is_so && self.state == State::Ok;
        if is_so { Finding { state, advice, ..self } } else { self }
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
