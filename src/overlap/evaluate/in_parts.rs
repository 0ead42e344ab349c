//! Work on many documents, divided among threads.

use std::ops::Range;

use crate::error::Result;
use crate::parallel::in_parallel;

pub(super) fn in_parts<T: Send>(
    count: usize,
    workers: usize,
    work: impl Fn(Range<usize>) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let part = count.div_ceil(workers.max(1)).max(1);
    let starts: Vec<usize> = (0..count).step_by(part).collect();
    let made = in_parallel(workers, &starts, |&start| work(start..count.min(start + part)));
    made.into_iter().collect()
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
