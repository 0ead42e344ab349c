//! The parent of `--processes`: starts the children that do the job, starts all of them again when one is
//! lost, and prints one summary at the end. It does none of the work itself.
//!
//! A lost process cannot be replaced alone, because the engine does not take one back. So all start
//! again and continue from what the first attempt left on disk. That is done for failures that may not
//! happen again: a process killed, frozen or lost (75), one that never started (69), and once for a
//! defect (70). It is not done for bad input, wrong flags or a full disk.

use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use dupsieve::Kind;
use dupsieve::step::{self, Step};

use crate::flags::MachineFlags;
use crate::outcome::{SummaryLine, exit};
use crate::processes::children::{Attempt, Children, Event};
use crate::processes::signals;

/// The pause before the first restart; the pause before the second is twice as long, and so on.
const PAUSE: Duration = Duration::from_millis(500);

pub(crate) fn supervise(processes: usize, flags: &MachineFlags) -> ! {
    step::begin(Step::Supervising);
    let (sender, events) = mpsc::channel();
    let interrupt = sender.clone();
    signals::handle_with(move |name| drop(interrupt.send(Event::Signal(name))));
    let mut restarts = Restarts::new(flags.most_restarts());
    loop {
        let children = Children::start(processes, flags.patience(), &sender);
        let children = children.unwrap_or_else(|error| exit::end(Err(error)));
        match restarts.last(children.watch(&events), &events) {
            None => {}
            Some(Attempt { summary: Some(line), code, .. }) => {
                exit::end_with(SummaryLine::read(&line), code)
            }
            Some(Attempt { error, .. }) => exit::end(Err(error)),
        }
    }
}

/// How often all children were started again, and how often they may be.
struct Restarts {
    done: u32,
    most: u32,
    defects: u32,
}

impl Restarts {
    fn new(most: u32) -> Restarts {
        Restarts { done: 0, most, defects: 0 }
    }

    /// The attempt, if it is the last one. Otherwise waits for the pause, after which all start again.
    fn last(&mut self, attempt: Attempt, events: &Receiver<Event>) -> Option<Attempt> {
        if attempt.is_final || !self.allow(attempt.code) {
            return Some(attempt);
        }
        let done = self.done;
        let most = self.most;
        tracing::warn!("starting all processes again ({done} of {most}): {}", attempt.reason());
        let until = Instant::now() + PAUSE * done;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match events.recv_timeout(left) {
                Ok(Event::Signal(name)) => return Some(Attempt::interrupted(name)),
                Ok(_) => {}
                Err(_) => return None,
            }
        }
    }

    /// Whether all start again after an attempt that ended with `code`; if so, counts the restart.
    fn allow(&mut self, code: u8) -> bool {
        let lost = [Kind::Temporary, Kind::Unavailable].map(Kind::code).contains(&code);
        let defect = code == Kind::Internal.code();
        self.defects += u32::from(defect);
        let allowed = self.done < self.most && (lost || (defect && self.defects == 1));
        self.done += u32::from(allowed);
        allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_start_again_after_failures_that_may_not_happen_again() {
        let allowed = |codes: &[u8]| {
            let mut restarts = Restarts::new(3);
            codes.iter().map(|&code| restarts.allow(code)).collect::<Vec<_>>()
        };
        assert_eq!(allowed(&[75, 69, 75, 75]), [true, true, true, false]);
        assert_eq!(allowed(&[70, 70]), [true, false]);
        assert_eq!(allowed(&[75, 70, 75, 75]), [true, true, true, false]);
        for code in [0, 2, 65, 66, 73, 74, 77, 78, 101] {
            assert_eq!(allowed(&[code]), [false], "{code}");
        }
        assert!(!Restarts::new(0).allow(75));
    }
}
