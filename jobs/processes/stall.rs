//! The stall timeout: a job that makes no progress for minutes ends, and says where it hung.

use std::thread;
use std::time::Duration;

use dupsieve::progress::{self, Activity};
use dupsieve::{Error, Kind, Result};

use crate::outcome::exit;

const CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// Ends the process with code 75 once no counter of progress has moved for `limit`. That time is counted in
/// checks, so that time during which the process was stopped does not count.
pub(crate) fn end_when_stalled(limit: Duration) -> Result<()> {
    let failed = |cause| Error::system("cannot start the thread that watches progress", &cause);
    thread::Builder::new().name("stall".into()).spawn(move || watch(limit)).map_err(failed)?;
    Ok(())
}

fn watch(limit: Duration) {
    let mut before = progress::ticks();
    let mut last = None;
    let mut still = Duration::ZERO;
    while still < limit {
        thread::sleep(CHECK_INTERVAL.min(limit));
        let now = progress::ticks();
        let moved = before.iter().zip(&now).find(|(before, now)| before != now);
        match moved {
            Some((&(activity, _), _)) => {
                last = Some(activity);
                still = Duration::ZERO;
            }
            None => still += CHECK_INTERVAL,
        }
        before = now;
    }
    exit::end(Err(stalled(limit, last)))
}

fn stalled(limit: Duration, last: Option<Activity>) -> Error {
    let last = last.map_or("starting", Activity::name);
    let what = format!("no progress for {} s; the last progress was in {last}", limit.as_secs());
    Error::new(Kind::Temporary, what)
        .help("check that the disks respond; --stall-timeout allows longer pauses")
}
