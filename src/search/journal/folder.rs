//! The journals of a store: pages are judged one request at a time, and written many requests at a time.
//!
//! A request takes its turn, looks at what is remembered, and adds its pages in memory: the next request sees them at
//! once, so of two near pages that come at the same moment one is kept. Meanwhile a thread of its own, the committer,
//! writes what has come since its last write as one frame, waits for the disk, and then tells all requests of that
//! frame. Queries see only what is on disk.
//!
//! ```text
//! request A   turn: judge, add |          waiting          | told
//! request B              turn: judge, add |    waiting     | told
//! committer      frame before ........... | frame of A and B |
//! ```

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, RwLock};
use std::thread::{self, JoinHandle};

use tempfile::TempDir;

use super::file::{header_in, open_parts, remove_unfinished, unfinished};
use super::header::{Header, damaged};
use super::page_bytes;
use super::part::Wanted;
use super::shared::{Done, Shared};
use crate::error::{At, Error, Kind, Result};
use crate::fingerprint::Width;
use crate::matches::Answer;
use crate::output::{Lock, UNFINISHED, sync_folder};
use crate::parallel::lock;
use crate::runs::Sorter;
use crate::store::{
    Day, FingerprintedDocument, JOURNAL, RecordCounts, RemovalNote, Segment, SegmentBuilder,
    SegmentOptions,
};
use crate::work::Work;

const LOCK: &str = "LOCK";
/// Pages that are copied at once for a segment, so that requests need not wait.
const COPIED_AT_ONCE: usize = 1 << 10;

#[derive(Debug)]
pub struct Journal {
    shared: Arc<Shared>,
    committer: Option<JoinHandle<()>>,
}

#[derive(Clone, Debug)]
pub struct JournalOptions {
    pub width: Width,
    pub segment: SegmentOptions,
    /// The bytes on disk beyond which it takes no more pages.
    pub most_bytes: u64,
}

impl Journal {
    /// Opens the journal of the store in this folder. Frames and files that were never finished are removed.
    pub fn open(store: &Path, options: JournalOptions) -> Result<Journal> {
        let folder = store.join(JOURNAL);
        fs::create_dir_all(&folder).at(&folder)?;
        sync_folder(store)?;
        let lock = Lock::take(&folder.join(LOCK))?;
        Journal::open_locked(folder, options, lock)
    }

    fn open_locked(folder: PathBuf, options: JournalOptions, lock: Lock) -> Result<Journal> {
        remove_unfinished(&folder)?;
        let header = Header { width: options.width, options: options.segment };
        let (parts, file) = open_parts(&folder, &header, &lock)?;
        let shared = Arc::new(Shared {
            folder,
            header,
            most_bytes: options.most_bytes,
            lock,
            turn: Mutex::default(),
            parts: RwLock::new(parts),
            file: Mutex::new(file),
            queue: Mutex::default(),
            work: Condvar::new(),
            rest: Condvar::new(),
        });
        let own = Arc::clone(&shared);
        let committer = thread::Builder::new().name("journal".into()).spawn(move || own.commit());
        let committer =
            committer.map_err(|cause| Error::system("cannot start a thread", &cause))?;
        Ok(Journal { shared, committer: Some(committer) })
    }

    /// Forgets pages that were removed from the store in this folder, where no service does. As
    /// [`Journal::leave_out_removed`], it leaves them if a day is being committed. If nothing is to be forgotten, it leaves
    /// the journal alone; if there is no journal, only the notes go.
    pub fn leave_out_removed_at(store: &Path) -> Result<()> {
        let folder = store.join(JOURNAL);
        let may_have_removed =
            || Ok(RemovalNote::waits(store)? || !unfinished(&folder)?.is_empty());
        if !folder.exists() || !may_have_removed()? {
            return Ok(());
        }
        let lock = Lock::take(&folder.join(LOCK))?;
        let Some(Header { width, options }) = header_in(&folder)? else {
            remove_unfinished(&folder)?;
            return RemovalNote::all(&folder)?.iter().try_for_each(RemovalNote::delete);
        };
        let options = JournalOptions { width, segment: options, most_bytes: 0 };
        Journal::open_locked(folder, options, lock)?.leave_out_removed()
    }

    /// The nearest pages on disk, at most `limit`, as far as `work` goes; and how many more there are.
    pub fn near(&self, wanted: &Wanted<'_>, limit: usize, work: &mut Work<'_>) -> Answer {
        self.shared.near(wanted, limit, |part| part.on_disk, work)
    }

    pub fn pages(&self) -> u64 {
        self.shared.parts().iter().map(|(_, part)| part.on_disk as u64).sum()
    }

    pub fn count(&self, counted: impl Fn(&str) -> bool) -> u64 {
        let parts = self.shared.parts();
        let on_disk = parts.iter().flat_map(|(_, part)| &part.pages[..part.on_disk]);
        on_disk.filter(|page| counted(&page.id)).count() as u64
    }

    /// The bytes of the file that takes new pages.
    pub fn bytes(&self) -> u64 {
        lock(&self.shared.file).bytes
    }

    /// Waits for the turn of a request. The next request has its turn when this one has [finished](Insertion::finish).
    pub fn turn(&self) -> Result<Insertion<'_>> {
        let shared = &*self.shared;
        let turn = lock(&shared.turn);
        shared.make_ready()?;
        shared.check_room()?;
        Ok(Insertion { shared, _turn: turn, added: Vec::new(), pages: 0 })
    }

    /// Seals what is remembered as the pages of `day`: pages that come later belong to another day.
    pub fn seal(&self, day: Day) -> Result<()> {
        let shared = &*self.shared;
        let _turn = lock(&shared.turn);
        // If what is being written fails, it must not be sealed.
        drop(shared.written());
        shared.make_ready()?;
        if let Err(error) = lock(&shared.file).seal(day) {
            lock(&shared.queue).failed = Some(error.clone());
            return Err(error);
        }
        if let Some((_, part)) = shared.parts_mut().last_mut() {
            part.sealed = Some(day);
        }
        shared.begin_part()
    }

    /// Puts the sealed pages of `day`, which the store does not take, back. Of pages with the same id the first stays.
    pub fn unseal(&self, day: Day) -> Result<()> {
        let _turn = lock(&self.shared.turn);
        self.shared.put_back(day)
    }

    /// Forgets pages that were removed from the store, unless pages are sealed: those must go first. The next
    /// [`Journal::turn`] does the same, so a page that is remembered after its removal is a new page.
    pub fn leave_out_removed(&self) -> Result<()> {
        let _turn = lock(&self.shared.turn);
        if self.sealed().is_empty() { self.shared.make_ready() } else { Ok(()) }
    }

    /// Forgets pages that were removed from the store, among those that are sealed as `day`. The store does not have
    /// that day, or another segment would be made of it than the one before.
    pub fn leave_out_removed_of(&self, day: Day) -> Result<()> {
        let _turn = lock(&self.shared.turn);
        self.shared.leave_out_of(day)
    }

    /// From now on every write to the file of today fails.
    #[cfg(test)]
    pub(super) fn break_down(&self) {
        lock(&self.shared.file).break_down();
    }

    /// A folder for what is made of its pages. It goes with the value; that of a process that died goes when the journal is opened.
    pub fn scratch(&self) -> Result<TempDir> {
        let folder = &self.shared.folder;
        tempfile::Builder::new().prefix(UNFINISHED).tempdir_in(folder).at(folder)
    }

    pub fn sealed(&self) -> Vec<Day> {
        self.shared.parts().iter().filter_map(|(_, part)| part.sealed).collect()
    }

    /// Writes the sealed pages of `day` to a segment, as `fingerprint` does, with a sort in about `memory_bytes`.
    pub fn write_segment(&self, day: Day, path: &Path, memory_bytes: usize) -> Result<Segment> {
        let shared = &*self.shared;
        let mut sorter = Sorter::new(&shared.folder, memory_bytes);
        let mut times = false;
        let mut read = 0;
        loop {
            let parts = shared.parts();
            let part = parts.iter().map(|it| &it.1).find(|part| part.sealed == Some(day));
            let part = part.ok_or_else(|| {
                Error::new(Kind::Missing, format!("the journal has no pages of {day}"))
                    .at(&shared.folder)
            })?;
            let from = read as usize;
            let to = part.pages.len().min(from + COPIED_AT_ONCE);
            let copied = part.pages[from..to].to_vec();
            drop(parts);
            if copied.is_empty() {
                break;
            }
            read = to as u64;
            times |= copied.iter().any(|page| page.details.time.is_some());
            sorter.extend(copied)?;
        }
        let options = SegmentOptions { times, ..shared.header.options.clone() };
        let counts = RecordCounts { read, ..RecordCounts::default() };
        let mut repeated = |_: &str, _, _| Err(damaged("the journal has an id twice"));
        let builder = SegmentBuilder::of(
            sorter.sorted()?,
            shared.header.width,
            path,
            options,
            counts,
            memory_bytes,
            &mut repeated,
        )?;
        builder.write(&format!("journal {day}"), Default::default(), &shared.lock)
    }

    /// Forgets the sealed pages of `day`, which the store has, except those with an id that it `left_out` of that day:
    /// they are put back to those that came since, unless they were removed after they were remembered, or came again
    /// since: then the newer page stays. Returns how many are put back.
    pub fn forget(&self, day: Day, left_out: impl Fn(&str) -> bool) -> Result<u64> {
        let shared = &*self.shared;
        let _turn = lock(&shared.turn);
        let notes = RemovalNote::all(&shared.folder)?;
        let is_removed = |id: &str| notes.iter().any(|note| note.names(id));
        shared.put_back_some(day, |id| left_out(id) && !is_removed(id))
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        lock(&self.shared.queue).is_closing = true;
        self.shared.work.notify_all();
        self.committer.take().map(JoinHandle::join);
    }
}

#[derive(Debug)]
pub struct Insertion<'a> {
    shared: &'a Shared,
    _turn: MutexGuard<'a, ()>,
    added: Vec<u8>,
    pages: u32,
}

impl Insertion<'_> {
    /// The nearest pages as far as `work` goes, those that are not on disk yet among them.
    pub fn near(&self, wanted: &Wanted<'_>, limit: usize, work: &mut Work<'_>) -> Answer {
        self.shared.near(wanted, limit, |part| part.pages.len(), work)
    }

    /// Whether a page of this id was remembered since the last seal.
    pub fn has(&self, id: &str) -> bool {
        self.shared.parts().last().is_some_and(|(_, part)| part.has(id))
    }

    pub fn add(&mut self, page: FingerprintedDocument) {
        page_bytes::write(&page, &self.shared.header, &mut self.added);
        self.pages += 1;
        if let Some((_, part)) = self.shared.parts_mut().last_mut() {
            part.push(page);
        }
    }

    /// Ends the turn. `done` is called once all that the request saw and added is on disk.
    pub fn finish(mut self, done: Done) -> Result<()> {
        let shared = self.shared;
        let mut queue = lock(&shared.queue);
        if let Some(failed) = &queue.failed {
            return Err(failed.clone());
        }
        queue.frame.body.append(&mut self.added);
        queue.frame.pages += std::mem::take(&mut self.pages);
        queue.frame.waiting.push(done);
        drop(queue);
        drop(self);
        shared.work.notify_one();
        Ok(())
    }
}

impl Drop for Insertion<'_> {
    /// Pages of a request that never finished, as after a panic, are withdrawn before the next turn.
    fn drop(&mut self) {
        if self.pages > 0 {
            let broken_off =
                || Error::new(Kind::Internal, "a request broke off while it added pages");
            lock(&self.shared.queue).failed.get_or_insert_with(broken_off);
        }
    }
}
