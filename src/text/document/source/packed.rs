//! The bytes of a file on disk, as they are consumed. The last ones are kept, so that reading can go back a little.

use std::cell::RefCell;
use std::io::{self, BufRead, ErrorKind, Read};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use crate::progress::{self, Activity};

const KEPT_BYTES: usize = 1 << 16;

/// The places of a file where its packed data is damaged or ends too early.
///
/// Of a file of a thousand gzip members, one of which is broken, everything else is read:
/// `at: 853, places: 1, unread: 41`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Damage {
    pub file: u32,
    /// The byte on disk where the first of them was found.
    pub at: u64,
    pub places: u64,
    /// The bytes on disk from where the damage was found to the next member or frame, or to the end of the file.
    pub unread: u64,
}

impl Damage {
    pub(in crate::document) fn new(at: u64, unread: u64) -> Damage {
        Damage { file: 0, at, places: 1, unread }
    }

    pub(in crate::document) fn and(self, next: Damage) -> Damage {
        Damage { places: self.places + next.places, unread: self.unread + next.unread, ..self }
    }
}

#[derive(Default)]
pub(super) struct Known {
    pub(super) position: u64,
    pub(super) hasher: Xxh3,
    pub(super) damage: Option<Damage>,
    /// Whether the last member that was read to its end ended with a line.
    pub(super) ends_line: bool,
}

pub(super) struct Packed<'a> {
    file: Box<dyn Read>,
    step_bytes: usize,
    buffer: Vec<u8>,
    at: usize,
    known: Rc<RefCell<Known>>,
    progress: &'a AtomicU64,
}

impl<'a> Packed<'a> {
    pub(super) fn new(
        file: Box<dyn Read>,
        step_bytes: usize,
        known: Rc<RefCell<Known>>,
        progress: &'a AtomicU64,
    ) -> Packed<'a> {
        Packed { file, step_bytes, buffer: Vec::new(), at: 0, known, progress }
    }

    /// The bytes that come next: at least so many, unless the file ends before.
    pub(super) fn ahead(&mut self, least: usize) -> io::Result<&[u8]> {
        while self.buffer.len() - self.at < least {
            let gone = self.at.saturating_sub(KEPT_BYTES);
            self.buffer.drain(..gone);
            self.at -= gone;
            if self.read_on()? == 0 {
                break;
            }
        }
        Ok(&self.buffer[self.at..])
    }

    fn read_on(&mut self) -> io::Result<usize> {
        let len = self.buffer.len();
        self.buffer.resize(len + self.step_bytes, 0);
        let read = loop {
            match self.file.read(&mut self.buffer[len..]) {
                Err(cause) if cause.kind() == ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        self.buffer.truncate(len + read.as_ref().map_or(0, |read| *read));
        self.known.borrow_mut().hasher.update(&self.buffer[len..]);
        self.progress.fetch_add((self.buffer.len() - len) as u64, Ordering::Relaxed);
        read
    }

    pub(super) fn position(&self) -> u64 {
        self.known.borrow().position
    }

    /// Goes back to `position`, or as near to it as is still there.
    pub(super) fn back_to(&mut self, position: u64) {
        let known = &mut *self.known.borrow_mut();
        let bytes = known.position.saturating_sub(position).min(self.at as u64);
        known.position -= bytes;
        self.at -= bytes as usize;
    }

    pub(super) fn known(&self) -> std::cell::RefMut<'_, Known> {
        self.known.borrow_mut()
    }
}

impl BufRead for Packed<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.ahead(1)
    }

    fn consume(&mut self, bytes: usize) {
        self.at += bytes;
        self.known.borrow_mut().position += bytes as u64;
        progress::tick(Activity::Reading);
    }
}

impl Read for Packed<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(into)?;
        self.consume(read);
        Ok(read)
    }
}
