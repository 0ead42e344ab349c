//! Who owns what of a batch: each worker a range of its fingerprints.
//!
//! An example with 10 fingerprints and 4 workers: worker 0 owns 0 to 2, worker 1 owns 3 and 4, worker 2 owns 5 to 7, worker 3 owns 8 and 9.

use std::ops::Range;

use crate::peers::Topology;

/// The ranges of a batch of so many fingerprints, for so many workers of all processes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owners {
    pub(crate) fingerprints: u32,
    pub(crate) workers: u32,
}

impl Owners {
    pub(crate) fn of(fingerprints: u32, topology: &Topology) -> Owners {
        Owners { fingerprints, workers: (topology.workers * topology.processes) as u32 }
    }

    pub(super) fn owner(self, fingerprint: u32) -> u64 {
        u64::from(fingerprint) * u64::from(self.workers) / u64::from(self.fingerprints)
    }

    pub(crate) fn of_process(self, topology: &Topology) -> Range<u32> {
        let first = topology.process * topology.workers;
        self.first(first)..self.first(first + topology.workers)
    }

    fn first(self, worker: usize) -> u32 {
        let before = worker as u64 * u64::from(self.fingerprints);
        before.div_ceil(u64::from(self.workers)) as u32
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_fingerprint_has_the_owner_in_whose_range_it_is(
            fingerprints in 0_u32..99,
            workers in 1_usize..5,
            processes in 1_usize..5,
        ) {
            let mut all = Vec::new();
            for process in 0..processes {
                let topology = Topology { workers, processes, process };
                let owners = Owners::of(fingerprints, &topology);
                let own = owners.of_process(&topology);
                let is_own = |it: u32| owners.owner(it) as usize / workers == process;
                prop_assert!(own.clone().all(is_own));
                all.extend(own);
            }
            prop_assert!(all.into_iter().eq(0..fingerprints));
        }
    }
}
