//! Signs that work goes on. Whatever takes long ticks here each time it has got a little further: a
//! buffer read, a frame sorted, a window probed, a block written. Nobody counts towards an end; a
//! clock that sees no tick for minutes knows that the process hangs, and in what.

use std::sync::atomic::{AtomicU64, Ordering};

/// What a process is busy with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// Reading input, segments or runs.
    Reading,
    /// Sorting records or fingerprints.
    Sorting,
    /// Working on a unit that was dealt to a worker.
    Working,
    /// Writing output, segments or runs.
    Writing,
    /// Hearing that another process gets further.
    Hearing,
}

/// All activities, in their order.
const ALL: [Activity; 5] = {
    use Activity::*;
    [Reading, Sorting, Working, Writing, Hearing]
};

static TICKS: [AtomicU64; ALL.len()] = [const { AtomicU64::new(0) }; ALL.len()];

/// Says that this process has got a little further with an activity.
pub fn tick(activity: Activity) {
    TICKS[activity as usize].fetch_add(1, Ordering::Relaxed);
}

/// How often each activity has ticked so far.
pub fn ticks() -> [(Activity, u64); ALL.len()] {
    ALL.map(|activity| (activity, TICKS[activity as usize].load(Ordering::Relaxed)))
}

/// How often this process has got further by its own work.
pub fn own_ticks() -> u64 {
    let own = ticks().into_iter().filter(|(activity, _)| *activity != Activity::Hearing);
    own.map(|(_, ticks)| ticks).sum()
}

impl Activity {
    /// A word for it.
    pub fn name(self) -> &'static str {
        match self {
            Activity::Reading => "reading",
            Activity::Sorting => "sorting",
            Activity::Working => "working on a unit",
            Activity::Writing => "writing",
            Activity::Hearing => "hearing from other processes",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_do_is_not_own_work() {
        let hearing = || ticks()[Activity::Hearing as usize].1;
        let (heard, own) = (hearing(), own_ticks());
        tick(Activity::Hearing);
        tick(Activity::Writing);
        assert!(hearing() > heard && own_ticks() > own);
        assert!(ticks().iter().enumerate().all(|(at, (activity, _))| *activity as usize == at));
    }
}
