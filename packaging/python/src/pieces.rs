//! The rows of a table shared among threads, in pieces.

use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Mutex, OnceLock};
use std::thread;

use arrow_array::RecordBatch;
use dupsieve::catch_panic;
use dupsieve::parallel::lock;
use dupsieve::{Error, Kind, Result};

use crate::interrupt::Stop;
use crate::source::Source;

/// The most rows of a piece. A thread takes some milliseconds for them.
const ROWS: usize = 256;

pub(crate) struct Piece {
    /// The number of the first of them in the table, from 0.
    pub(crate) first: u64,
    pub(crate) rows: RecordBatch,
}

struct Made<T> {
    made: Mutex<Vec<(u64, T)>>,
    /// The first.
    failure: OnceLock<Error>,
}

/// What is made of each piece of `source`, in order. Each of `threads` has a handler of its own. `see` gets each batch before its rows
/// are handled, and the number of the first of them.
pub(crate) fn each_piece<T: Send, H: FnMut(&Piece) -> Result<T>>(
    source: Source,
    threads: usize,
    stop: &Stop,
    handler: impl Fn() -> Result<H> + Sync,
    mut see: impl FnMut(&RecordBatch, u64) -> Result<()>,
) -> Result<Vec<T>> {
    let (pieces, waiting) = mpsc::sync_channel(2 * threads);
    let waiting = Mutex::new(waiting);
    let all = Made { made: Mutex::default(), failure: OnceLock::new() };
    thread::scope(|scope| {
        for _ in 0..threads {
            let begun =
                thread::Builder::new().spawn_scoped(scope, || all.work(&waiting, stop, &handler));
            begun.map_err(|cause| Error::system("cannot start a thread", &cause))?;
        }
        let mut first = 0;
        for batch in source {
            let batch = batch?;
            see(&batch, first)?;
            send(&batch, first, &pieces, || stop.check().is_ok() && !all.has_failed());
            first += batch.num_rows() as u64;
            stop.check()?;
            if all.has_failed() {
                break;
            }
        }
        drop(pieces);
        Ok(())
    })?;
    let Made { made, failure } = all;
    failure.into_inner().map_or(Ok(()), Err)?;
    stop.check()?;
    let mut made = std::mem::take(&mut *lock(&made));
    made.sort_unstable_by_key(|(first, _)| *first);
    Ok(made.into_iter().map(|(_, made)| made).collect())
}

fn send(batch: &RecordBatch, first: u64, pieces: &SyncSender<Piece>, is_wanted: impl Fn() -> bool) {
    for start in (0..batch.num_rows()).step_by(ROWS) {
        let rows = batch.slice(start, ROWS.min(batch.num_rows() - start));
        if !is_wanted() || pieces.send(Piece { first: first + start as u64, rows }).is_err() {
            return;
        }
    }
}

impl<T: Send> Made<T> {
    /// What one thread does. After a failure it only takes the pieces away, so that nobody waits for it.
    fn work<H: FnMut(&Piece) -> Result<T>>(
        &self,
        waiting: &Mutex<Receiver<Piece>>,
        stop: &Stop,
        handler: &impl Fn() -> Result<H>,
    ) {
        let mut handler = guarded(handler).map_err(|error| self.fail(error)).ok();
        loop {
            let Ok(piece) = lock(waiting).recv() else { break };
            let Some(handler) = &mut handler else { continue };
            if self.has_failed() || stop.check().is_err() {
                continue;
            }
            match guarded(|| handler(&piece)) {
                Ok(made) => lock(&self.made).push((piece.first, made)),
                Err(error) => self.fail(error),
            }
        }
    }

    fn fail(&self, error: Error) {
        self.failure.get_or_init(|| error);
    }

    fn has_failed(&self) -> bool {
        self.failure.get().is_some()
    }
}

fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_panic::call(work).unwrap_or_else(|panic| Err(Error::new(Kind::Internal, panic)))
}
