//! Which job this process does: what its log lines, metrics and events name. Set when they are known, and then
//! for the rest of the life of the process.

use std::sync::{Mutex, OnceLock, PoisonError};

use dupsieve::rooms::store::Day;

static JOB: OnceLock<String> = OnceLock::new();
static PROCESS: OnceLock<Option<usize>> = OnceLock::new();
static DAY: Mutex<Option<Day>> = Mutex::new(None);

/// Sets the name of the job: its command.
pub(crate) fn set_job(job: &str) {
    JOB.get_or_init(|| job.to_owned());
}

/// The name of the job; the name of the program until a job is named.
pub(crate) fn job() -> &'static str {
    JOB.get().map_or("dupsieve", String::as_str)
}

/// Sets which of several processes this is; none for the supervisor, which does not work itself.
pub(crate) fn set_process(process: Option<usize>) {
    PROCESS.get_or_init(|| process);
}

/// Which of several processes this is.
pub(crate) fn process() -> Option<usize> {
    PROCESS.get().copied().flatten()
}

/// Sets the day that is being made.
pub(crate) fn set_day(day: Day) {
    *DAY.lock().unwrap_or_else(PoisonError::into_inner) = Some(day);
}

/// The day that is being made, if the job has one.
pub(crate) fn day() -> Option<Day> {
    *DAY.lock().unwrap_or_else(PoisonError::into_inner)
}
