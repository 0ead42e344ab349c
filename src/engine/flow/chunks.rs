//! The chunks of a join, as the workers of all processes claim them: first those of the store, then the parts of the batch, then those that
//! stream past one index of its keys, index after index.
//!
//! A worker goes through neighbours in order, so that what it has read beyond one chunk serves the next. With as many processes and
//! workers as before, a worker begins where it began before: a rerun finds what it has finished in the ledgers of its machine. All other
//! chunks are claimed one by one. A process has memory for one index, so its workers are never at two of these for longer than a chunk.

use std::ops::Range;
use std::sync::Arc;

use timely::worker::Worker;

use crate::error::Result;
use crate::work_queues::{Ask, WorkQueues};

/// A claim takes this part of what is left of a stretch of the store. A process with an eighth of the others' speed is through with its
/// first claim when they have done the rest.
const PART: u64 = 8;

pub(super) struct Chunks {
    work: Arc<dyn WorkQueues>,
    worker: u32,
    workers: u32,
    queues: Vec<u64>,
    queue: usize,
    /// What it has claimed and not taken.
    claimed: Range<u64>,
}

impl Chunks {
    /// The chunks that this worker claims from the `work`: as many as each queue has, one queue behind the other.
    pub(super) fn new(work: &Arc<dyn WorkQueues>, worker: &Worker, queues: Vec<u64>) -> Chunks {
        let (worker, workers) = (worker.index() as u32, worker.peers() as u32);
        Chunks { work: Arc::clone(work), worker, workers, queues, queue: 0, claimed: 0..0 }
    }

    pub(super) fn next(&mut self) -> Result<Option<usize>> {
        let Chunks { work, queues, queue, claimed, .. } = self;
        while claimed.is_empty() && *queue < queues.len() {
            let part = if *queue == 0 { PART } else { u64::MAX };
            let (asker, askers) = (self.worker, self.workers);
            let ask = Ask { queue: *queue as u64, tickets: queues[*queue], asker, askers, part };
            *claimed = work.claim(ask)?;
            *queue += usize::from(claimed.is_empty());
        }
        let before: u64 = queues[..*queue].iter().sum();
        Ok(claimed.next().map(|ticket| (before + ticket) as usize))
    }
}
