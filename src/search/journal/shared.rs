//! What the requests, the committer and the changes of a journal share. The committer is the thread that writes frame after frame, each with the pages
//! of all requests that came since the one before.

use std::collections::BinaryHeap;
use std::path::PathBuf;
use std::sync::{
    Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
};

use super::file::{JournalFile, file_name};
use super::header::Header;
use super::part::{Part, Wanted};
use crate::error::{Error, Kind, Result};
use crate::matches::{Answer, MOST_MET, NearPage, Similarity};
use crate::output::Lock;
use crate::parallel::lock;
use crate::store::{Day, FingerprintedDocument};
use crate::work::Work;

const MOST_WAITING_BYTES: usize = 256 << 20;

pub type Done = Box<dyn FnOnce(Result<()>) + Send>;

/// What waits to be written: the pages of many requests, which become one frame.
#[derive(Default)]
pub(super) struct Queue {
    pub(super) frame: WaitingFrame,
    pub(super) is_writing: bool,
    pub(super) is_closing: bool,
    pub(super) failed: Option<Error>,
}

#[derive(Default)]
pub(super) struct WaitingFrame {
    pub(super) body: Vec<u8>,
    pub(super) pages: u32,
    pub(super) waiting: Vec<Done>,
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queue").field("pages", &self.frame.pages).finish_non_exhaustive()
    }
}

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) folder: PathBuf,
    pub(super) header: Header,
    pub(super) most_bytes: u64,
    pub(super) lock: Lock,
    /// Held by the one request that adds pages, or by a change of parts.
    pub(super) turn: Mutex<()>,
    /// What is remembered, oldest first. The last part takes new pages, unless it is sealed.
    pub(super) parts: RwLock<Vec<(u64, Part)>>,
    pub(super) file: Mutex<JournalFile>,
    pub(super) queue: Mutex<Queue>,
    /// There is something to write, or to end.
    pub(super) work: Condvar,
    /// The committer has written what it took.
    pub(super) rest: Condvar,
}

impl Shared {
    pub(super) fn path(&self, number: u64) -> PathBuf {
        self.folder.join(file_name(number))
    }

    pub(super) fn parts(&self) -> RwLockReadGuard<'_, Vec<(u64, Part)>> {
        self.parts.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn parts_mut(&self) -> RwLockWriteGuard<'_, Vec<(u64, Part)>> {
        self.parts.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn near(
        &self,
        wanted: &Wanted<'_>,
        limit: usize,
        pages: fn(&Part) -> usize,
        work: &mut Work<'_>,
    ) -> Answer {
        let mut nearest = Nearest::new(limit);
        let parts = self.parts();
        let mut anchored = Vec::new();
        for (_, part) in &*parts {
            part.near(wanted, pages(part), work, |page, distance, similarity| {
                nearest.take(page, distance, similarity, part.sealed);
            });
            part.anchored(wanted, pages(part), work, &mut anchored);
        }
        anchored.sort_unstable();
        let copies = anchored.chunk_by(|one, other| one.is_copy_of(other)).take(MOST_MET);
        // What is within the distance was found by its fingerprint.
        for it in copies.flatten().filter(|it| u32::from(it.distance) > wanted.distance) {
            if let Some(stand_in) = wanted.stand_in(it.page, it.distance) {
                nearest.take(it.page, it.distance, stand_in.containment, it.sealed);
            }
        }
        nearest.finish(work.is_cut())
    }

    pub(super) fn number_of(&self, day: Day) -> Option<u64> {
        self.parts().iter().find(|it| it.1.sealed == Some(day)).map(|it| it.0)
    }

    /// Waits until nothing is left to write. Only the holder of the turn calls this, so nothing comes meanwhile.
    pub(super) fn written(&self) -> MutexGuard<'_, Queue> {
        let queue = lock(&self.queue);
        let is_busy = |it: &mut Queue| it.is_writing || it.frame.pages > 0;
        self.rest.wait_while(queue, is_busy).unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn check_room(&self) -> Result<()> {
        let waiting = lock(&self.queue).frame.body.len();
        let held = waiting as u64 + lock(&self.file).bytes;
        if waiting <= MOST_WAITING_BYTES && held <= self.most_bytes {
            return Ok(());
        }
        Err(Error::new(Kind::Temporary, "the journal is full")
            .at(&self.folder)
            .expected(format_args!("at most {} bytes", self.most_bytes))
            .found(held)
            .help("commit the pages to a day of the store"))
    }

    /// The work of the committer, until the queue is closing and empty.
    pub(super) fn commit(&self) {
        loop {
            let nothing = |queue: &mut Queue| queue.frame.waiting.is_empty() && !queue.is_closing;
            let waited = self.work.wait_while(lock(&self.queue), nothing);
            let mut queue = waited.unwrap_or_else(PoisonError::into_inner);
            if queue.frame.waiting.is_empty() {
                return;
            }
            let mut frame = std::mem::take(&mut queue.frame);
            queue.is_writing = true;
            drop(queue);
            let written = self.write(frame.pages, &frame.body);
            let mut queue = lock(&self.queue);
            if let Err(error) = &written {
                // What came meanwhile was judged by what is lost now.
                queue.failed = Some(error.clone());
                frame.waiting.extend(std::mem::take(&mut queue.frame).waiting);
            }
            queue.is_writing = false;
            drop(queue);
            self.rest.notify_all();
            frame.waiting.into_iter().for_each(|done| done(written.clone()));
        }
    }

    fn write(&self, pages: u32, body: &[u8]) -> Result<()> {
        if pages == 0 {
            return Ok(());
        }
        lock(&self.file).append(pages, body)?;
        if let Some((_, part)) = self.parts_mut().last_mut() {
            part.on_disk += pages as usize;
        }
        Ok(())
    }
}

/// The nearest pages up to a limit, and the number of the others.
struct Nearest {
    limit: usize,
    /// The nearest so far; the farthest of them is on top.
    held: BinaryHeap<NearPage>,
    found: u64,
}

impl Nearest {
    fn new(limit: usize) -> Nearest {
        Nearest { limit, held: BinaryHeap::new(), found: 0 }
    }

    fn take(
        &mut self,
        page: &FingerprintedDocument,
        distance: u8,
        similarity: Option<Similarity>,
        day: Option<Day>,
    ) {
        self.found += 1;
        let is_full = self.held.len() == self.limit;
        let place = (distance, page.id.as_str(), day);
        let is_nearer = |it: &NearPage| place < (it.distance, it.id.as_str(), it.day);
        if is_full && !self.held.peek().is_some_and(is_nearer) {
            return;
        }
        if is_full {
            self.held.pop();
        }
        self.held.push(NearPage { distance, id: page.id.clone(), day, similarity });
    }

    fn finish(self, is_cut: bool) -> Answer {
        let more = self.found - self.held.len() as u64;
        Answer { near: self.held.into_sorted_vec(), more, is_cut }
    }
}
