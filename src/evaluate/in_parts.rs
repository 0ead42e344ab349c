//! Work on many documents, divided among threads.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::error::Result;

/// How many parts each worker gets, so that none waits long for the last one.
const PARTS: usize = 8;

/// What `work` makes of each part of `0..count`, on this many threads, in the order of the parts.
pub(super) fn in_parts<T: Send>(
    count: usize,
    workers: usize,
    work: impl Fn(Range<usize>) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let part = count.div_ceil(PARTS * workers).max(1);
    let next = AtomicUsize::new(0);
    let run = || {
        let mut made = Vec::new();
        loop {
            let start = next.fetch_add(part, Ordering::Relaxed);
            if start >= count {
                return Ok(made);
            }
            made.push((start, work(start..(start + part).min(count))?));
        }
    };
    let made = thread::scope(|scope| {
        let running: Vec<_> = (0..workers).map(|_| scope.spawn(run)).collect();
        let joined = running.into_iter().map(|job| job.join().expect("panics end the process"));
        joined.collect::<Result<Vec<_>>>()
    });
    let mut made: Vec<_> = made?.into_iter().flatten().collect();
    made.sort_unstable_by_key(|part| part.0);
    Ok(made.into_iter().map(|part| part.1).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Error, Kind};

    #[test]
    fn every_number_comes_once_and_in_order() {
        for (count, workers) in [(0, 1), (1, 3), (7, 2), (100, 3)] {
            let parts = in_parts(count, workers, |part| Ok(part.collect::<Vec<_>>())).unwrap();
            assert_eq!(parts.concat(), (0..count).collect::<Vec<_>>());
        }
        let failing = |part: Range<usize>| match part.contains(&50) {
            true => Err(Error::new(Kind::BadData, "fifty")),
            false => Ok(()),
        };
        assert!(in_parts(100, 2, failing).is_err());
    }
}
