//! What a command leaves: its summary, report, progress and exit code.

pub(crate) mod exit;
pub(crate) mod failure;
pub(crate) mod progress;
pub(crate) mod report;
pub(crate) mod summary;
