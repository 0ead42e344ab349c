//! The bytes of bodies and answers that are held at the same time. A body counts twice: as it came, and as it was read.

use std::cell::RefCell;
use std::io::{self, Write};
use std::sync::Arc;

use axum::body::{Body, Bytes};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::problem::{Fault, Problem};

/// What is counted at once.
const UNIT: usize = 1 << 10;

/// Room that was taken of it is free again when its permit is dropped.
pub(super) struct Memory(Arc<Semaphore>);

/// The room for what a query finds, which is taken as it is found.
pub(super) struct Findings<'a> {
    memory: &'a Memory,
    found: RefCell<(usize, OwnedSemaphorePermit)>,
}

/// Bytes that come bit by bit, and the room for them, which is taken as they come.
pub(super) struct Growing<'a> {
    memory: &'a Memory,
    bytes: Vec<u8>,
    room: OwnedSemaphorePermit,
    /// How many times the bytes will stand in memory.
    times: usize,
}

pub(super) struct Held {
    bytes: Vec<u8>,
    _room: OwnedSemaphorePermit,
}

impl Memory {
    pub(super) fn new(bytes: usize) -> Memory {
        Memory(Arc::new(Semaphore::new(bytes.div_ceil(UNIT))))
    }

    pub(super) fn growing(&self, times: usize) -> Result<Growing<'_>, Problem> {
        Ok(Growing { memory: self, bytes: Vec::new(), room: self.take(0)?, times })
    }

    pub(super) fn findings(&self) -> Result<Findings<'_>, Problem> {
        Ok(Findings { memory: self, found: RefCell::new((0, self.take(0)?)) })
    }

    fn grow(&self, room: &mut OwnedSemaphorePermit, bytes: usize) -> Result<(), Problem> {
        let more = bytes.div_ceil(UNIT).saturating_sub(room.num_permits());
        if more > 0 {
            room.merge(self.take(more)?);
        }
        Ok(())
    }

    fn take(&self, units: usize) -> Result<OwnedSemaphorePermit, Problem> {
        let units = u32::try_from(units).unwrap_or(u32::MAX);
        Arc::clone(&self.0).try_acquire_many_owned(units).map_err(|_| no_room())
    }
}

pub(super) fn no_room() -> Problem {
    let told = "the bodies and answers of others take the memory at the moment";
    Problem::new(Fault::Overloaded, told)
}

impl Findings<'_> {
    pub(super) fn take(&self, bytes: usize) -> bool {
        let (found, room) = &mut *self.found.borrow_mut();
        *found += bytes;
        self.memory.grow(room, *found).is_ok()
    }
}

impl Growing<'_> {
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Adds bytes, of which at most `most` come in all.
    pub(super) fn push(&mut self, bytes: &[u8], most: usize) -> Result<(), Problem> {
        let needed = self.bytes.len() + bytes.len();
        if needed > self.bytes.capacity() {
            // Little room is left over, and few steps lead to a long answer.
            let held = self.bytes.capacity();
            let capacity = (held + (held / 4).max(UNIT)).min(most).max(needed);
            self.memory.grow(&mut self.room, self.times.saturating_mul(capacity))?;
            self.bytes.reserve_exact(capacity - self.bytes.len());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    pub(super) fn held(self) -> Held {
        Held { bytes: self.bytes, _room: self.room }
    }
}

impl Write for Growing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let full = |_| io::Error::from(io::ErrorKind::OutOfMemory);
        self.push(bytes, usize::MAX).map(|()| bytes.len()).map_err(full)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Held {
    /// Gives the bytes up, but not their room: what was read of them stands in it now.
    pub(super) fn was_read(&mut self) {
        self.bytes = Vec::new();
    }
}

impl From<Held> for Body {
    /// A body whose room is free when the last of it was sent.
    fn from(held: Held) -> Body {
        Body::from(Bytes::from_owner(held))
    }
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}
