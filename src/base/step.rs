//! The step a job is at, as its log lines, its metrics and its progress name it, and the time that each step took.
//! One thread leads a job and begins its steps: beginning one ends the one before it. So two jobs in two threads of a process have a
//! clock each.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::error::named;
use crate::parallel::lock;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// Reading its flags, looking at what exists, meeting other processes.
    Starting,
    Reading,
    Sorting,
    Joining,
    Writing,
    /// Changing a store: adding, merging, indexing, removing.
    Storing,
    Clustering,
    /// Proving that files are undamaged and right.
    Verifying,
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

const STEPS: usize = Step::ALL.len();

thread_local! {
    static CLOCK: Clock = Clock::new();
}

/// The steps of one job, which any thread can look at.
#[derive(Clone, Debug)]
pub struct Clock(Arc<Mutex<Steps>>);

/// The current step, since when it has lasted, and the time that each step took before that.
#[derive(Debug)]
struct Steps {
    at: Step,
    since: Option<Instant>,
    taken: [Duration; STEPS],
}

/// Begins a step of the job that this thread leads, which ends the one before it. The first call starts the clock.
pub fn begin(step: Step) {
    CLOCK.with(|clock| clock.steps().begin(step));
}

impl Clock {
    fn new() -> Clock {
        let steps = Steps { at: Step::Starting, since: None, taken: [Duration::ZERO; STEPS] };
        Clock(Arc::new(Mutex::new(steps)))
    }

    pub fn of_this_thread() -> Clock {
        CLOCK.with(Clock::clone)
    }

    pub fn current(&self) -> Step {
        self.steps().at
    }

    /// The time that each step has taken so far, those that never began left out.
    pub fn times(&self) -> Vec<(Step, Duration)> {
        let times = self.steps().times();
        Step::ALL.into_iter().zip(times).filter(|(_, time)| !time.is_zero()).collect()
    }

    fn steps(&self) -> MutexGuard<'_, Steps> {
        lock(&self.0)
    }
}

impl Steps {
    fn begin(&mut self, step: Step) {
        self.taken = self.times();
        self.at = step;
        self.since = Some(Instant::now());
    }

    fn times(&self) -> [Duration; STEPS] {
        let mut times = self.taken;
        times[self.at as usize] += self.since.map_or(Duration::ZERO, |since| since.elapsed());
        times
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn two_jobs_at_once_have_a_clock_each() {
        let job = |step| {
            begin(step);
            Clock::of_this_thread()
        };
        let reading = job(Step::Reading);
        let joining = thread::spawn(move || job(Step::Joining)).join().unwrap();
        for (clock, step) in [(reading, Step::Reading), (joining, Step::Joining)] {
            assert_eq!(clock.current(), step);
            assert!(clock.times().iter().all(|(timed, _)| *timed == step));
        }
    }

    #[test]
    fn a_step_takes_the_time_until_the_next_begins() {
        let second = Duration::from_secs(1);
        let mut clock = Steps { at: Step::Writing, since: None, taken: [second; STEPS] };
        assert_eq!(clock.times(), [second; STEPS]);
        clock.since = Instant::now().checked_sub(second);
        let times = clock.times();
        assert!(times[Step::Writing as usize] >= 2 * second);
        assert_eq!(times[Step::Reading as usize], second);
        assert!(Step::ALL.iter().enumerate().all(|(at, step)| *step as usize == at));
    }
}
