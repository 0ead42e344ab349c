//! The deadline of progress: a job that gets no further for minutes ends, and says in what it hung.

use std::thread;
use std::time::Duration;

use dupsieve::progress::{self, Activity};
use dupsieve::{Error, Kind, Result};

use crate::outcome::exit;

/// How often progress is looked for.
const GLANCE: Duration = Duration::from_millis(500);

/// Ends the process with 75 once nothing has ticked for as long as `limit`. Time that the process was
/// stopped does not count: it is measured in glances.
pub(crate) fn end_when_stalled(limit: Duration) -> Result<()> {
    let failed = |cause| Error::system("cannot watch over progress", &cause);
    thread::Builder::new().name("stall".into()).spawn(move || watch(limit)).map_err(failed)?;
    Ok(())
}

fn watch(limit: Duration) {
    let (mut before, mut last, mut still) = (progress::ticks(), None, Duration::ZERO);
    while still < limit {
        thread::sleep(GLANCE.min(limit));
        let now = progress::ticks();
        let moved = before.iter().zip(&now).find(|(before, now)| before != now);
        match moved {
            Some((&(activity, _), _)) => (last, still) = (Some(activity), Duration::ZERO),
            None => still += GLANCE,
        }
        before = now;
    }
    exit::end(Err(stalled(limit, last)))
}

fn stalled(limit: Duration, last: Option<Activity>) -> Error {
    let last = last.map_or("beginning", Activity::name);
    let what = format!("no progress for {} s; the last there was, was in {last}", limit.as_secs());
    Error::new(Kind::Temporary, what)
        .help("look whether the disks answer; --stall-timeout allows longer pauses")
}
