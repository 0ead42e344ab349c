//! The step a job is at, as its log lines, its metrics and its progress name it, and the time that each step took.
//! Only one step is under way in a process: beginning one ends the one before it.
//!
//! ```
//! use dupsieve::rooms::step::{self, Step};
//!
//! step::begin(Step::Reading);
//! assert_eq!(step::current().name(), "reading");
//! ```

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::error::named;

/// What a job is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// Reading its flags, looking at what exists, meeting other processes.
    Starting,
    /// Reading pages and making something of each.
    Reading,
    /// Sorting what was made or found.
    Sorting,
    /// Looking for near pages.
    Joining,
    /// Writing results.
    Writing,
    /// Changing a store: adding, merging, indexing, removing.
    Storing,
    /// Making clusters.
    Clustering,
    /// Proving that files are undamaged and right.
    Verifying,
    /// Answering over HTTP.
    Serving,
    /// Watching the processes that do the work.
    Supervising,
}

named!(Step {
    Starting = "starting",
    Reading = "reading",
    Sorting = "sorting",
    Joining = "joining",
    Writing = "writing",
    Storing = "storing",
    Clustering = "clustering",
    Verifying = "verifying",
    Serving = "serving",
    Supervising = "supervising",
});

/// How many steps there are.
const STEPS: usize = Step::ALL.len();

static CLOCK: Mutex<Clock> =
    Mutex::new(Clock { at: Step::Starting, since: None, taken: [Duration::ZERO; STEPS] });

/// The current step, since when it has lasted, and the time that each step took before that.
struct Clock {
    at: Step,
    since: Option<Instant>,
    taken: [Duration; STEPS],
}

/// Begins a step, which ends the one before it. The first call starts the clock.
pub fn begin(step: Step) {
    let mut clock = clock();
    clock.taken = clock.times();
    clock.at = step;
    clock.since = Some(Instant::now());
}

/// The step that is under way.
pub fn current() -> Step {
    clock().at
}

/// The time that each step has taken so far, those that never began left out.
pub fn times() -> Vec<(Step, Duration)> {
    let times = clock().times();
    Step::ALL.into_iter().zip(times).filter(|(_, time)| !time.is_zero()).collect()
}

fn clock() -> MutexGuard<'static, Clock> {
    CLOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Clock {
    fn times(&self) -> [Duration; STEPS] {
        let mut times = self.taken;
        times[self.at as usize] += self.since.map_or(Duration::ZERO, |since| since.elapsed());
        times
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_takes_the_time_until_the_next_begins() {
        let second = Duration::from_secs(1);
        let mut clock = Clock { at: Step::Writing, since: None, taken: [second; STEPS] };
        assert_eq!(clock.times(), [second; STEPS]);
        clock.since = Instant::now().checked_sub(second);
        let times = clock.times();
        assert!(times[Step::Writing as usize] >= 2 * second);
        assert_eq!(times[Step::Reading as usize], second);
        assert!(Step::ALL.iter().enumerate().all(|(at, step)| *step as usize == at));
    }
}
