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
use std::sync::{
    Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
};
use std::thread::{self, JoinHandle};

use super::file::{self, HEAD_BYTES, JournalFile, MOST_BODY_BYTES};
use super::header::{Header, damaged};
use super::nearest::Nearest;
use super::page_bytes;
use super::part::{Part, Remembered, Wanted};
use crate::error::{At, Error, Kind, Result};
use crate::fingerprint::Width;
use crate::output::{Lock, sync_folder};
use crate::runs::Sorter;
use crate::store::{
    Day, FingerprintedDocument, RecordCounts, Segment, SegmentBuilder, SegmentOptions,
};

/// The folder of a store for its journals.
const FOLDER: &str = "journal";
/// The lock of whoever writes them.
const LOCK: &str = "LOCK";
/// The end of their names.
const SUFFIX: &str = ".journal";
/// The bytes that may wait to be written.
const MOST_WAITING_BYTES: usize = 256 << 20;
/// Pages that are copied at once for a segment, so that requests need not wait.
const COPIED_AT_ONCE: usize = 1 << 10;

/// Is called once the pages of a request are on disk, or cannot be.
pub type Done = Box<dyn FnOnce(Result<()>) + Send>;

/// The pages that a store is to remember and that no day of it has yet.
#[derive(Debug)]
pub struct Journal {
    shared: Arc<Shared>,
    committer: Option<JoinHandle<()>>,
}

/// What a journal is made of.
#[derive(Clone, Debug)]
pub struct JournalOptions {
    /// The width of its fingerprints.
    pub width: Width,
    /// The columns of the segments that its pages become, and the stamp of their recipe.
    pub segment: SegmentOptions,
    /// The bytes on disk beyond which it takes no more pages.
    pub most_bytes: u64,
}

#[derive(Debug)]
struct Shared {
    folder: PathBuf,
    header: Header,
    most_bytes: u64,
    lock: Lock,
    /// Held by the one request that adds pages, or by a change of parts.
    turn: Mutex<()>,
    /// What is remembered, oldest first. The last part takes new pages, unless it is sealed.
    parts: RwLock<Vec<(u64, Part)>>,
    /// The file of the last part.
    file: Mutex<JournalFile>,
    queue: Mutex<Queue>,
    /// There is something to write, or to end.
    work: Condvar,
    /// The committer has written what it took.
    rest: Condvar,
}

/// What the committer writes next.
#[derive(Default)]
struct Queue {
    body: Vec<u8>,
    pages: u32,
    waiting: Vec<Done>,
    is_writing: bool,
    is_closing: bool,
    /// Why the last frame could not be written.
    failed: Option<Error>,
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queue").field("pages", &self.pages).finish_non_exhaustive()
    }
}

/// The turn of one request.
#[derive(Debug)]
pub struct Insertion<'a> {
    shared: &'a Shared,
    _turn: MutexGuard<'a, ()>,
    added: Vec<u8>,
    pages: u32,
}

impl Journal {
    /// Opens the journal of the store in this folder. Frames that were never finished are cut off.
    ///
    /// # Errors
    /// [`Kind::Temporary`] if another process writes it; [`Kind::BadData`] if it is damaged;
    /// [`Kind::Exists`] if it has pages of another recipe.
    pub fn open(store: &Path, options: JournalOptions) -> Result<Journal> {
        let folder = store.join(FOLDER);
        fs::create_dir_all(&folder).at(&folder)?;
        sync_folder(store)?;
        let lock = Lock::take(&folder.join(LOCK))?;
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
        let committer =
            thread::Builder::new().name("journal".into()).spawn(move || own.write_all());
        let committer =
            committer.map_err(|cause| Error::system("cannot start a thread", &cause))?;
        Ok(Journal { shared, committer: Some(committer) })
    }

    /// The nearest pages on disk, at most `limit`, by distance, id and day; and how many more there are.
    pub fn near(&self, wanted: &Wanted<'_>, limit: usize) -> (Vec<Remembered>, u64) {
        self.shared.near(wanted, limit, |part| part.on_disk)
    }

    /// The number of pages on disk, sealed ones among them.
    pub fn pages(&self) -> u64 {
        self.shared.parts().iter().map(|(_, part)| part.on_disk as u64).sum()
    }

    /// The bytes of the file that takes new pages.
    pub fn bytes(&self) -> u64 {
        lock(&self.shared.file).bytes()
    }

    /// Waits for the turn of a request: it looks at what is remembered and adds pages, and no other request does so
    /// before it has [finished](Insertion::finish).
    ///
    /// # Errors
    /// [`Kind::Temporary`] if the journal is full or too much waits to be written; [`Kind::Io`] and others if it
    /// cannot be written.
    pub fn turn(&self) -> Result<Insertion<'_>> {
        let shared = &*self.shared;
        let turn = lock(&shared.turn);
        shared.make_ready()?;
        shared.check_room()?;
        Ok(Insertion { shared, _turn: turn, added: Vec::new(), pages: 0 })
    }

    /// Seals what is remembered as the pages of `day`: pages that come later belong to another day.
    ///
    /// # Errors
    /// As [`Journal::turn`].
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

    /// From now on every write to the file of today fails.
    #[cfg(test)]
    pub(super) fn break_down(&self) {
        lock(&self.shared.file).break_down();
    }

    /// The days of the sealed pages, oldest first.
    pub fn sealed(&self) -> Vec<Day> {
        self.shared.parts().iter().filter_map(|(_, part)| part.sealed).collect()
    }

    /// Writes the sealed pages of `day` to a segment, the same as `fingerprint` makes of these pages. The sort uses
    /// about `memory_bytes`.
    ///
    /// # Errors
    /// [`Kind::Missing`] if no pages are sealed as this day.
    pub fn write_segment(&self, day: Day, path: &Path, memory_bytes: usize) -> Result<Segment> {
        let shared = &*self.shared;
        let lock = Lock::on_file(path)?;
        let mut sorter = Sorter::new(&shared.folder, memory_bytes);
        let mut times = false;
        let mut read = 0;
        loop {
            let parts = shared.parts();
            let part = of_day(&parts, day).ok_or_else(|| {
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
            times |= copied.iter().any(|page| page.time.is_some());
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
        builder.write(&format!("journal {day}"), Default::default(), &lock)
    }

    /// Forgets the sealed pages of `day`, which the store has.
    pub fn forget(&self, day: Day) -> Result<()> {
        let shared = &*self.shared;
        let _turn = lock(&shared.turn);
        let number = shared.parts().iter().find(|it| it.1.sealed == Some(day)).map(|it| it.0);
        let Some(number) = number else { return Ok(()) };
        let path = shared.path(number);
        fs::remove_file(&path).at(&path)?;
        sync_folder(&shared.folder)?;
        shared.parts_mut().retain(|it| it.0 != number);
        Ok(())
    }
}

impl Drop for Journal {
    /// Writes what waits, and tells those who wait for it.
    fn drop(&mut self) {
        lock(&self.shared.queue).is_closing = true;
        self.shared.work.notify_all();
        self.committer.take().map(JoinHandle::join);
    }
}

impl Insertion<'_> {
    /// The nearest pages, those that are not on disk yet among them.
    pub fn near(&self, wanted: &Wanted<'_>, limit: usize) -> (Vec<Remembered>, u64) {
        self.shared.near(wanted, limit, |part| part.pages.len())
    }

    /// Whether a page of this id was remembered since the last seal.
    pub fn has(&self, id: &str) -> bool {
        self.shared.parts().last().is_some_and(|(_, part)| part.has(id))
    }

    /// Remembers a page.
    pub fn add(&mut self, page: FingerprintedDocument) {
        page_bytes::write(&page, &self.shared.header, &mut self.added);
        self.pages += 1;
        if let Some((_, part)) = self.shared.parts_mut().last_mut() {
            part.push(page);
        }
    }

    /// Ends the turn. `done` is called once all that the request saw and added is on disk.
    ///
    /// # Errors
    /// As [`Journal::turn`]; `done` is not called then.
    pub fn finish(mut self, done: Done) -> Result<()> {
        let shared = self.shared;
        let mut queue = lock(&shared.queue);
        if let Some(failed) = &queue.failed {
            return Err(failed.clone());
        }
        queue.body.append(&mut self.added);
        queue.pages += std::mem::take(&mut self.pages);
        queue.waiting.push(done);
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

impl Shared {
    fn path(&self, number: u64) -> PathBuf {
        self.folder.join(file_name(number))
    }

    fn parts(&self) -> RwLockReadGuard<'_, Vec<(u64, Part)>> {
        self.parts.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn parts_mut(&self) -> RwLockWriteGuard<'_, Vec<(u64, Part)>> {
        self.parts.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn near(
        &self,
        wanted: &Wanted<'_>,
        limit: usize,
        pages: fn(&Part) -> usize,
    ) -> (Vec<Remembered>, u64) {
        let mut nearest = Nearest::new(limit);
        for (_, part) in &*self.parts() {
            part.near(wanted, pages(part), |page, distance, similarity| {
                nearest.take(page, distance, similarity, part.sealed);
            });
        }
        nearest.finish()
    }

    /// Waits until nothing is left to write. Only the holder of the turn calls this, so nothing comes meanwhile.
    fn written(&self) -> MutexGuard<'_, Queue> {
        let is_busy = |queue: &mut Queue| queue.is_writing || queue.pages > 0;
        self.rest.wait_while(lock(&self.queue), is_busy).unwrap_or_else(PoisonError::into_inner)
    }

    fn check_room(&self) -> Result<()> {
        let waiting = lock(&self.queue).body.len();
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

    /// Makes sure that pages can be added: after a failure the file is made anew, and after a seal the next one.
    fn make_ready(&self) -> Result<()> {
        if lock(&self.queue).failed.is_some() {
            self.mend()?;
        }
        let is_sealed = self.parts().last().is_none_or(|(_, part)| part.sealed.is_some());
        if is_sealed { self.begin_part() } else { Ok(()) }
    }

    /// Begins the part and the file after the last ones.
    fn begin_part(&self) -> Result<()> {
        let number = self.parts().last().map_or(1, |(number, _)| number + 1);
        let path = self.path(number);
        *lock(&self.file) = JournalFile::create(&path, &self.header, &[], self.lock.fence())?;
        self.parts_mut().push((number, Part::of(&self.header, Vec::new())));
        Ok(())
    }

    /// Writes the last file again, from the pages that were on disk before a write failed. The failed file is not
    /// trusted any more.
    fn mend(&self) -> Result<()> {
        let mut queue = self.written();
        let mut parts = self.parts_mut();
        let Some((number, part)) = parts.last_mut() else { return Ok(()) };
        part.withdraw(&self.header);
        let mut frames = Vec::new();
        let header_bytes = self.header.write().len() as u64;
        for pages in part.pages.chunks(COPIED_AT_ONCE) {
            let mut body = Vec::new();
            pages.iter().for_each(|page| page_bytes::write(page, &self.header, &mut body));
            let offset = header_bytes + frames.len() as u64;
            frames.extend(file::frame(offset, pages.len() as u32, &body));
        }
        let path = self.path(*number);
        *lock(&self.file) = JournalFile::create(&path, &self.header, &frames, self.lock.fence())?;
        queue.failed = None;
        Ok(())
    }

    /// What the committer does: writes frame after frame until the journal is closed.
    fn write_all(&self) {
        loop {
            let nothing = |queue: &mut Queue| queue.waiting.is_empty() && !queue.is_closing;
            let waited = self.work.wait_while(lock(&self.queue), nothing);
            let mut queue = waited.unwrap_or_else(PoisonError::into_inner);
            if queue.waiting.is_empty() {
                return;
            }
            let body = std::mem::take(&mut queue.body);
            let pages = std::mem::take(&mut queue.pages);
            let mut waiting = std::mem::take(&mut queue.waiting);
            queue.is_writing = true;
            drop(queue);
            let written = self.write(pages, &body);
            let mut queue = lock(&self.queue);
            if let Err(error) = &written {
                // What came meanwhile was judged by what is lost now.
                queue.failed = Some(error.clone());
                queue.body.clear();
                queue.pages = 0;
                waiting.append(&mut queue.waiting);
            }
            queue.is_writing = false;
            drop(queue);
            self.rest.notify_all();
            waiting.into_iter().for_each(|done| done(written.clone()));
        }
    }

    fn write(&self, pages: u32, body: &[u8]) -> Result<()> {
        if pages == 0 {
            return Ok(());
        }
        debug_assert!(body.len() <= MOST_BODY_BYTES - HEAD_BYTES, "the queue is bounded");
        lock(&self.file).append(pages, body)?;
        if let Some((_, part)) = self.parts_mut().last_mut() {
            part.on_disk += pages as usize;
        }
        Ok(())
    }
}

/// The mutex, whatever became of a thread that held it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn of_day(parts: &[(u64, Part)], day: Day) -> Option<&Part> {
    parts.iter().map(|(_, part)| part).find(|part| part.sealed == Some(day))
}

fn file_name(number: u64) -> String {
    format!("{number:06}{SUFFIX}")
}

/// The journals in a folder, read; and the one that takes pages, which is made if there is none.
fn open_parts(
    folder: &Path,
    header: &Header,
    lock: &Lock,
) -> Result<(Vec<(u64, Part)>, JournalFile)> {
    let mut parts = Vec::new();
    let mut last = None;
    for number in numbers(folder)? {
        let path = folder.join(file_name(number));
        if last.take().is_some() {
            return Err(damaged("a journal without a seal comes before this one").at(path));
        }
        let contents = file::read(&path)?;
        if !contents.header.is_like(header) {
            return Err(Error::new(Kind::Exists, "the journal has pages of another recipe")
                .at(path)
                .expected(&header.options.stamp)
                .found(&contents.header.options.stamp)
                .help("serve the store with that recipe and commit them first"));
        }
        if contents.torn > 0 {
            tracing::warn!(
                "{}: cut off {} bytes of a frame that was never finished; no page of it was acknowledged",
                path.display(),
                contents.torn
            );
        }
        let mut part = Part::of(header, contents.pages);
        part.sealed = contents.sealed;
        if part.sealed.is_none() {
            last = Some(JournalFile::append_to(&path, contents.end)?);
        }
        parts.push((number, part));
    }
    let file = match last {
        Some(file) => file,
        None => {
            let number = parts.last().map_or(1, |(number, _)| number + 1);
            let file =
                JournalFile::create(&folder.join(file_name(number)), header, &[], lock.fence())?;
            parts.push((number, Part::of(header, Vec::new())));
            file
        }
    };
    Ok((parts, file))
}

/// The numbers of the journals in a folder, in order.
fn numbers(folder: &Path) -> Result<Vec<u64>> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(folder).at(folder)? {
        let name = entry.at(folder)?.file_name().into_string().unwrap_or_default();
        let number = name.strip_suffix(SUFFIX).and_then(|number| number.parse().ok());
        numbers.extend(number.filter(|&number| name == file_name(number)));
    }
    numbers.sort_unstable();
    Ok(numbers)
}
