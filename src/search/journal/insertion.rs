//! The turn of one request.

use std::sync::MutexGuard;

use super::page_bytes;
use super::part::Wanted;
use super::queue::Done;
use super::shared::Shared;
use crate::error::{Error, Kind, Result};
use crate::matches::Answer;
use crate::parallel::lock;
use crate::store::FingerprintedDocument;
use crate::work::Work;

#[derive(Debug)]
pub struct Insertion<'a> {
    shared: &'a Shared,
    _turn: MutexGuard<'a, ()>,
    added: Vec<u8>,
    pages: u32,
}

impl Insertion<'_> {
    pub(super) fn new<'a>(shared: &'a Shared, turn: MutexGuard<'a, ()>) -> Insertion<'a> {
        Insertion { shared, _turn: turn, added: Vec::new(), pages: 0 }
    }

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
