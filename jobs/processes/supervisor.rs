//! The parent of `--processes`: has the job done by a crew of processes, and by another crew when one
//! of the first was lost. It does none of the job's work, and prints one summary, at the end.
//!
//! A lost process cannot be replaced alone: the engine takes none back. So all start again, and find
//! of their work what stands on disk. That is done for what may go better the next time: a process
//! killed, frozen or lost (75), or one that never came (69), and once for a defect (70). Bad input,
//! wrong flags and full disks stay what they are.

use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use dupsieve::Kind;

use crate::flags::cluster::ClusterFlags;
use crate::outcome::exit;
use crate::outcome::summary::Told;
use crate::processes::children::{Crew, Event, Verdict};
use crate::processes::signals;

/// The pause before the first new start; the second has twice that, and so on.
const PAUSE: Duration = Duration::from_millis(500);

/// Runs the job in `processes` children and ends this process as they ended.
pub(crate) fn supervise(processes: usize, flags: &ClusterFlags) -> ! {
    let (sender, events) = mpsc::channel();
    let interrupt = sender.clone();
    signals::instead(move |name| drop(interrupt.send(Event::Signal(name))));
    let (mut restarts, mut verdict) = (Restarts::new(flags.most_restarts()), None);
    while verdict.is_none() {
        let crew = Crew::start(processes, flags.patience(), &sender);
        let crew = crew.unwrap_or_else(|error| exit::end(Err(error)));
        verdict = restarts.settle(crew.watch(&events), &events);
    }
    match verdict.expect("the loop ended") {
        Verdict { summary: Some(line), code, .. } => exit::end_with(Told::read(&line), code),
        Verdict { error, .. } => exit::end(Err(error)),
    }
}

/// How often all may still be started again.
struct Restarts {
    done: u32,
    most: u32,
    defects: u32,
}

impl Restarts {
    fn new(most: u32) -> Restarts {
        Restarts { done: 0, most, defects: 0 }
    }

    /// The verdict, if it is the last one; otherwise waits a moment before all start again.
    fn settle(&mut self, verdict: Verdict, events: &Receiver<Event>) -> Option<Verdict> {
        if verdict.is_final || !self.allow(verdict.code) {
            return Some(verdict);
        }
        let (done, most) = (self.done, self.most);
        tracing::warn!("starting all processes again ({done} of {most}): {}", verdict.reason());
        let until = Instant::now() + PAUSE * done;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match events.recv_timeout(left) {
                Ok(Event::Signal(name)) => return Some(Verdict::interrupted(name)),
                Ok(_) => {}
                Err(_) => return None,
            }
        }
    }

    /// Whether all are to start again after they ended with `code`; if so, counts it.
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
    fn all_start_again_for_what_may_go_better() {
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
