//! The share of the inputs that one of several readers reads.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use super::inputs::{Input, Inputs};
use crate::error::Result;
use crate::work_queues::{Ask, Queues, WorkQueues};

/// A claim of files takes this part of what is left of them, divided by the number of readers.
const PART: u64 = 8;
/// The queue of the files. The portions of file `f` are the queue `f + 1`.
const FILES: u64 = 0;

/// The share of the inputs that reader `index` of `of` readers reads: what it claims from queues that all of them ask. Together the
/// shares are the whole: every record once, at the same position whatever `of` is.
///
/// With at least as many files as readers, a reader claims whole files. With fewer files, every reader reads every file of
/// records, and claims portion after portion. A stream, and all inputs beside it, belongs to reader 0.
#[derive(Clone)]
pub struct Share {
    work: Arc<dyn WorkQueues>,
    index: u32,
    of: u32,
    done: Arc<HashSet<u32>>,
}

impl Share {
    pub fn whole() -> Share {
        Share::new(Arc::new(Queues::default()), 0, 1)
    }

    pub fn new(work: Arc<dyn WorkQueues>, index: u32, of: u32) -> Share {
        assert!(index < of, "reader {index} of {of}");
        Share { work, index, of, done: Arc::default() }
    }

    /// The same share, if what these files hold is known: who claims one does not read it.
    pub fn without(self, done: HashSet<u32>) -> Share {
        Share { done: Arc::new(done), ..self }
    }

    pub(super) fn is_done(&self, file: u32) -> bool {
        self.done.contains(&file)
    }

    pub fn index(&self) -> u32 {
        self.index
    }

    /// The share of these inputs: if there is a stream, all for reader 0 and nothing for the others.
    pub(super) fn of(&self, inputs: &Inputs) -> Option<Share> {
        match (inputs.has_stream(), self.index) {
            (false, _) => Some(self.clone()),
            (true, 0) => Some(Share::whole()),
            (true, _) => None,
        }
    }

    pub(super) fn splits(&self, inputs: &Inputs, input: &Input) -> bool {
        inputs.files().len() < self.of as usize && !input.format().is_whole_file()
    }

    pub(super) fn files(&self, inputs: &Inputs) -> Result<Range<u32>> {
        let tickets = inputs.files().len() as u64;
        let part = if self.of == 1 { 1 } else { PART * u64::from(self.of) };
        let run = self.claim(FILES, tickets, part)?;
        Ok(run.start as u32..run.end as u32)
    }

    /// Claims the next portion of a file that is divided. It comes after all that were claimed before.
    pub(super) fn portion(&self, file: u32) -> Result<u64> {
        Ok(self.claim(u64::from(file) + 1, u64::MAX, u64::MAX)?.start)
    }

    fn claim(&self, queue: u64, tickets: u64, part: u64) -> Result<Range<u64>> {
        self.work.claim(Ask { queue, tickets, asker: 0, askers: 1, part })
    }
}
