//! The thread of a process that reads and unpacks its share of the inputs, ahead of the workers.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::thread;

use crossbeam_channel::{Receiver, Sender, TryRecvError, bounded};

use super::checkpoint::{self, Checkpoint};
use super::fatal::Fatal;
use super::read::{Read, ShareRead};
use crate::document::{self, Deliver, FileRead, FilesRead, Inputs, ReadOptions, Records, Share};
use crate::error::Result;
use crate::object_storage::Bill;
use crate::work_queues::Claim;

/// Batches read ahead for each worker. What is read ahead of a file that several processes divide is claimed, and no other process can do it.
const AHEAD: usize = 2;

pub(super) enum Portion {
    Records(Records),
    /// What an earlier run made of some records.
    Kept(checkpoint::Portion),
    End(Box<Read>),
}

/// The share of the inputs that this process reads, as its workers receive it.
#[derive(Clone)]
pub(super) struct Portions(Receiver<Portion>);

impl Portions {
    /// Starts to read on a new thread, a few batches ahead of each of the `workers`. `progress` grows by
    /// the bytes read from disk. Files that are `kept` are not read. An error of reading ends the run through `fatal`.
    pub(super) fn read(
        inputs: Arc<Inputs>,
        share: Share,
        options: ReadOptions,
        workers: usize,
        progress: Arc<AtomicU64>,
        kept: Option<Arc<Checkpoint>>,
        fatal: Fatal,
    ) -> Portions {
        let (send, portions) = bounded(AHEAD * workers);
        let mut outbox = Outbox { send, delivered: 0, kept };
        thread::spawn(move || {
            match document::read_to(&inputs, &share, &options, &progress, &mut outbox) {
                Ok(tally) => outbox.finish(&inputs, &share, tally),
                Err(error) => fatal.raise(error),
            }
        });
        Portions(portions)
    }

    pub(super) fn claim(&self) -> Claim<Portion> {
        match self.0.try_recv() {
            Ok(portion) => Claim::Unit(portion),
            Err(TryRecvError::Empty) => Claim::Later,
            Err(TryRecvError::Disconnected) => Claim::Done,
        }
    }
}

struct Outbox {
    send: Sender<Portion>,
    delivered: u64,
    kept: Option<Arc<Checkpoint>>,
}

impl Outbox {
    fn send(&mut self, portion: Portion) -> bool {
        self.delivered += 1;
        self.send.send(portion).is_ok()
    }

    fn finish(self, inputs: &Inputs, share: &Share, tally: FilesRead) {
        let (process, states) = (share.index(), inputs.states());
        let FilesRead { contents, damaged, many_lines, .. } = tally;
        let shares = vec![ShareRead { process, states, contents, bill: Bill::so_far() }];
        let delivered = self.delivered;
        let read = Read { damaged, many_lines, delivered, ends: 1, shares, ..Read::default() };
        let _ = self.send.send(Portion::End(Box::new(read)));
    }
}

impl Deliver for Outbox {
    fn records(&mut self, records: Records) -> bool {
        self.send(Portion::Records(records))
    }

    fn end(&mut self, read: &[FileRead]) -> Result<()> {
        self.kept.as_ref().map_or(Ok(()), |kept| kept.end(read))
    }

    fn done(&mut self, file: u32) -> Option<FileRead> {
        let kept = self.kept.clone()?;
        let (read, portions) = kept.file(file)?;
        let mut portions = portions.iter().cloned();
        portions.all(|portion| self.send(Portion::Kept(portion))).then(|| read.clone())
    }
}
