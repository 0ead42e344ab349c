//! The ground of the program: what a command leaves when it ends. Its exit code and summary ([`exit`],
//! [`summary`]; [`abort`] where a thread aborts), what a question is answered with ([`answer`]), the report of a failure ([`failure`]), and what it shows meanwhile: log lines ([`log`]) and progress ([`progress`]), on a terminal without control characters ([`terminal`]). [`identity`] is which job it is. Programs
//! that watch jobs get metrics when it has ended ([`metrics_file`]).
//!
//! No flag and no command is known here: these files take plain arguments, such as `quiet: bool`.
//!
//! Start with `exit::end`, through which every run of the program ends.

pub(crate) mod abort;
pub(crate) mod account;
pub(crate) mod answer;
pub(crate) mod exit;
pub(crate) mod exposition;
pub(crate) mod failure;
pub(crate) mod identity;
pub(crate) mod log;
pub(crate) mod metrics_file;
mod progress;
mod summary;
pub(crate) mod terminal;

pub(crate) use progress::{Progress, Unit};
pub(crate) use summary::{Summary, SummaryLine, counted, tally};
