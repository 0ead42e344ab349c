//! Which job this process does: what its log lines, metrics and events name. Set when they are known, and then
//! for the rest of the life of the process.

use std::sync::{LazyLock, Mutex, OnceLock};

use dupsieve::output::Locks;
use dupsieve::parallel::lock;
use dupsieve::step::Clock;
use dupsieve::store::Day;

/// The clock and the locks of the first thread, which leads the job.
static LED: LazyLock<(Clock, Locks)> =
    LazyLock::new(|| (Clock::of_this_thread(), Locks::of_this_thread()));
static JOB: OnceLock<String> = OnceLock::new();
static PROCESS: OnceLock<Option<usize>> = OnceLock::new();
static DAY: Mutex<Option<Day>> = Mutex::new(None);

/// Lets this thread lead the job. The thread that calls this first does.
pub(crate) fn lead() {
    LazyLock::force(&LED);
}

pub(crate) fn clock() -> &'static Clock {
    &LED.0
}

pub(crate) fn locks() -> &'static Locks {
    &LED.1
}

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

pub(crate) fn process() -> Option<usize> {
    PROCESS.get().copied().flatten()
}

pub(crate) fn set_day(day: Day) {
    *lock(&DAY) = Some(day);
}

pub(crate) fn day() -> Option<Day> {
    *lock(&DAY)
}
