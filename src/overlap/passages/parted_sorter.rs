//! A sort by all workers: each record goes to one of several sorters, which are sorted at the same time.

use std::path::Path;
use std::sync::Mutex;

use crate::error::Result;
use crate::parallel::{in_parallel, lock};
use crate::runs::{Record, SortedRecords, Sorter};

const PORTION: usize = 1 << 10;

#[derive(Debug)]
pub(super) struct PartedSorter<R> {
    parts: Vec<Mutex<Option<Sorter<R>>>>,
}

impl<R: Record + Send> PartedSorter<R> {
    /// So many sorters, which take about `memory_bytes` together.
    pub(super) fn new(parts: usize, folder: &Path, memory_bytes: usize) -> PartedSorter<R> {
        let parts = parts.max(1);
        let sorter = |_| Mutex::new(Some(Sorter::new(folder, memory_bytes / parts)));
        PartedSorter { parts: (0..parts).map(sorter).collect() }
    }

    pub(super) fn taker(&self) -> Taker<'_, R> {
        Taker { parts: self, buffers: self.parts.iter().map(|_| Vec::new()).collect() }
    }

    /// What `work` makes of each part in its order, the parts at the same time. It is called once.
    pub(super) fn each_sorted<O: Send>(
        &self,
        work: impl Fn(SortedRecords<R>) -> Result<O> + Sync,
    ) -> Result<Vec<O>> {
        let done = in_parallel(self.parts.len(), &self.parts, |part| {
            let sorter = lock(part).take().expect("parts are sorted once");
            work(sorter.sorted()?)
        });
        done.into_iter().collect()
    }
}

/// Records on their way to their parts.
pub(super) struct Taker<'a, R> {
    parts: &'a PartedSorter<R>,
    buffers: Vec<Vec<R>>,
}

impl<R: Record + Send> Taker<'_, R> {
    pub(super) fn parts(&self) -> usize {
        self.buffers.len()
    }

    pub(super) fn push(&mut self, part: usize, record: R) -> Result<()> {
        self.buffers[part].push(record);
        if self.buffers[part].len() < PORTION { Ok(()) } else { self.hand_over(part) }
    }

    pub(super) fn finish(mut self) -> Result<()> {
        (0..self.parts()).try_for_each(|part| self.hand_over(part))
    }

    fn hand_over(&mut self, part: usize) -> Result<()> {
        if self.buffers[part].is_empty() {
            return Ok(());
        }
        let mut sorter = lock(&self.parts.parts[part]);
        let sorter = sorter.as_mut().expect("nothing is sorted before all is taken");
        sorter.extend(self.buffers[part].drain(..))
    }
}
