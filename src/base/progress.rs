//! Signs of life. Long work calls [`tick`] after each small step: a buffer read, a frame sorted, a
//! window probed, a block written. The counts say nothing about how much is left. A watchdog that
//! sees no tick for minutes concludes that the process hangs, and names the last activity.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::named;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    Reading,
    Sorting,
    /// Computing a unit of work that was dispatched to a worker.
    Working,
    Writing,
    /// Hearing that another process makes progress.
    Hearing,
}

named!(Activity {
    Reading = "reading",
    Sorting = "sorting",
    Working = "working on a unit",
    Writing = "writing",
    Hearing = "hearing from other processes",
});

const ACTIVITIES: usize = Activity::ALL.len();

/// A process has one count of signs of life, because a thread of any room gives them, and a watchdog ends the process as a whole. Two
/// users of the library at once see the sum: their counts only grow, and one that hangs is not noticed while the other works.
static TICKS: [AtomicU64; ACTIVITIES] = [const { AtomicU64::new(0) }; ACTIVITIES];

pub fn tick(activity: Activity) {
    TICKS[activity as usize].fetch_add(1, Ordering::Relaxed);
}

pub fn ticks() -> [(Activity, u64); ACTIVITIES] {
    Activity::ALL.map(|activity| (activity, TICKS[activity as usize].load(Ordering::Relaxed)))
}

/// The number of steps of this process's own work, without [`Activity::Hearing`].
pub fn own_ticks() -> u64 {
    let own = ticks().into_iter().filter(|(activity, _)| *activity != Activity::Hearing);
    own.map(|(_, ticks)| ticks).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_do_is_not_own_work() {
        let hearing = || ticks()[Activity::Hearing as usize].1;
        let heard = hearing();
        let own = own_ticks();
        tick(Activity::Hearing);
        tick(Activity::Writing);
        assert!(hearing() > heard && own_ticks() > own);
        assert!(ticks().iter().enumerate().all(|(at, (activity, _))| *activity as usize == at));
    }
}
