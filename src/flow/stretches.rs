//! The chunks of a join, dealt to the processes in short runs, and to the workers of a process in stretches of
//! neighbours.
//!
//! A worker goes through its stretch in order, so that what it has read beyond one chunk serves the next. A worker
//! that is through takes the second half of the longest stretch that is left. The parts of the batch come after the
//! store, one by one.
//!
//! An example with one process, two workers, and the chunks 0 to 7:
//!
//! ```text
//! worker 0   0 1 2 3 6 7    done with its own, it takes two of the four that are left
//! worker 1   4 5            slower
//! ```

use std::ops::Range;

use crate::peers::Topology;

/// The most neighbouring chunks that one process takes before the next process takes some. Where a batch is crowded,
/// chunks take longer, and each process is to have some of these.
const RUN: usize = 4;

/// The chunks of this process that no worker has claimed yet.
#[derive(Debug)]
pub(crate) struct Stretches {
    topology: Topology,
    /// The chunks of the store, ascending.
    store: Vec<usize>,
    /// Which of `store` are left of the stretch of each worker.
    rest: Vec<Range<usize>>,
    /// The parts of the batch that are left.
    batch: Vec<usize>,
    /// How many chunks were claimed.
    claimed: u64,
}

impl Stretches {
    /// The chunks of one process, of `store` chunks of the store and `parts` of the batch that come behind them.
    pub(crate) fn new(store: usize, parts: usize, topology: Topology) -> Stretches {
        let Topology { workers, processes, process } = topology;
        let run = (store / (RUN * processes)).clamp(1, RUN);
        let batch = (store..store + parts).rev().filter(|part| part % processes == process);
        let store: Vec<usize> =
            (0..store).filter(|chunk| chunk / run % processes == process).collect();
        let start = |worker| store.len() * worker / workers;
        let rest = (0..workers).map(|worker| start(worker)..start(worker + 1)).collect();
        Stretches { topology, rest, batch: batch.collect(), store, claimed: 0 }
    }

    /// The next chunk for a worker of this process, if there is one left. Its first number is that of the claim: the
    /// claims of all processes have different numbers, and those of one ascend.
    pub(super) fn claim(&mut self, worker: usize) -> Option<(u64, usize)> {
        if self.rest[worker].is_empty()
            && let Some(longest) = self.rest.iter_mut().max_by_key(|rest| rest.len())
        {
            let middle = longest.start + longest.len() / 2;
            let taken = middle..longest.end;
            longest.end = middle;
            self.rest[worker] = taken;
        }
        let of_store = self.rest[worker].next().map(|at| self.store[at]);
        let chunk = of_store.or_else(|| self.batch.pop())?;
        let Topology { processes, process, .. } = self.topology;
        let number = self.claimed * processes as u64 + process as u64;
        self.claimed += 1;
        Some((number, chunk))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_chunk_is_claimed_once(
            store in 0_usize..99,
            parts in 0_usize..9,
            processes in 1_usize..5,
            turns in prop::collection::vec(0_usize..4, 99),
        ) {
            let (mut chunks, mut numbers) = (Vec::new(), BTreeSet::new());
            for process in 0..processes {
                let topology = Topology { workers: 4, processes, process };
                let mut stretches = Stretches::new(store, parts, topology);
                for &worker in turns.iter().chain(&[2; 108]) {
                    if let Some((number, chunk)) = stretches.claim(worker) {
                        prop_assert!(numbers.insert(number));
                        chunks.push(chunk);
                    }
                }
                prop_assert!((0..4).all(|worker| stretches.claim(worker).is_none()));
            }
            chunks.sort_unstable();
            prop_assert!(chunks.into_iter().eq(0..store + parts));
        }
    }

    #[test]
    fn a_worker_goes_from_neighbour_to_neighbour() {
        let topology = Topology { workers: 2, processes: 1, process: 0 };
        let mut stretches = Stretches::new(8, 1, topology);
        let mut taken = |worker, count| -> Vec<usize> {
            (0..count).filter_map(|_| stretches.claim(worker)).map(|(_, chunk)| chunk).collect()
        };
        assert_eq!(taken(0, 5), [0, 1, 2, 3, 6]);
        assert_eq!(taken(1, 9), [4, 5, 7, 8]);
    }
}
