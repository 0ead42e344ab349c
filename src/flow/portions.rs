//! The thread of a process that reads and unpacks its share of the inputs, ahead of the workers.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::thread;

use crossbeam_channel::{Receiver, Sender, TryRecvError, bounded};

use super::dispatch::Claim;
use super::fatal::Fatal;
use super::read::{Read, ShareRead};
use crate::document::{self, Inputs, ReadOptions, Records, Share};
use crate::storage::Bill;

/// Batches read ahead for each worker. What is read ahead of a file that several processes divide is claimed, and no other process can do it.
const AHEAD: usize = 2;

/// What the reading thread sends.
pub(super) enum Portion {
    /// Some records.
    Records(Records),
    /// The end of the share, with the counts of the thread.
    End(Box<Read>),
}

/// The share of the inputs that this process reads, as its workers receive it.
#[derive(Clone)]
pub(super) struct Portions(Receiver<Portion>);

impl Portions {
    /// Starts to read on a new thread, a few batches ahead of each of the `workers`. `progress` grows by
    /// the bytes read from disk. An error of reading ends the run through `fatal`.
    pub(super) fn read(
        inputs: Arc<Inputs>,
        share: Share,
        options: ReadOptions,
        workers: usize,
        progress: Arc<AtomicU64>,
        fatal: Fatal,
    ) -> Portions {
        let (send, portions) = bounded(AHEAD * workers);
        thread::spawn(move || read(&inputs, &share, &options, &progress, &send, &fatal));
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

fn read(
    inputs: &Inputs,
    share: &Share,
    options: &ReadOptions,
    progress: &AtomicU64,
    send: &Sender<Portion>,
    fatal: &Fatal,
) {
    let mut delivered = 0;
    let mut deliver = |batch| {
        delivered += 1;
        send.send(Portion::Records(batch)).is_ok()
    };
    match document::read(inputs, share, options, progress, &mut deliver) {
        Ok(tally) => {
            let (process, states) = (share.index(), inputs.states());
            let (contents, bill) = (tally.contents, Bill::so_far());
            let (damaged, many_lines) = (tally.damaged, tally.many_lines);
            let shares = vec![ShareRead { process, states, contents, bill }];
            let read = Read { damaged, many_lines, delivered, ends: 1, shares, ..Read::default() };
            let _ = send.send(Portion::End(Box::new(read)));
        }
        Err(error) => fatal.raise(error),
    }
}
