//! What the requests, the committer and the changes of a journal share.

use std::path::PathBuf;
use std::sync::{
    Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
};

use super::file::JournalFile;
use super::files::file_name;
use super::header::Header;
use super::nearest::Nearest;
use super::part::{Part, Wanted};
use super::queue::Queue;
use crate::error::{Error, Kind, Result};
use crate::matches::{Answer, MOST_MET};
use crate::output::Lock;
use crate::parallel::lock;
use crate::store::Day;
use crate::work::Work;

const MOST_WAITING_BYTES: usize = 256 << 20;

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
        self.rest.wait_while(queue, |it| it.is_busy()).unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn check_room(&self) -> Result<()> {
        let waiting = lock(&self.queue).frame.body.len();
        let held = waiting as u64 + lock(&self.file).bytes();
        if waiting <= MOST_WAITING_BYTES && held <= self.most_bytes {
            return Ok(());
        }
        Err(Error::new(Kind::Temporary, "the journal is full")
            .at(&self.folder)
            .expected(format_args!("at most {} bytes", self.most_bytes))
            .found(held)
            .help("commit the pages to a day of the store"))
    }
}
