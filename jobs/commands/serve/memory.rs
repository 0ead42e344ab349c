//! The bytes of bodies and answers that are held at the same time.

use std::ops::Deref;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::problem::{Fault, Problem};

/// What is counted at once.
const UNIT: usize = 1 << 10;

/// The memory that bodies and answers share.
pub(super) struct Memory(Arc<Semaphore>);

/// Memory that was set aside. It is free again when this is dropped.
pub(super) struct Room(OwnedSemaphorePermit);

/// Bytes in their room.
pub(super) struct Held {
    bytes: Vec<u8>,
    _room: Room,
}

impl Memory {
    /// Memory of so many bytes.
    pub(super) fn new(bytes: usize) -> Memory {
        Memory(Arc::new(Semaphore::new(bytes.div_ceil(UNIT))))
    }

    /// Room for so many bytes.
    ///
    /// # Errors
    /// A problem if bodies and answers of others take the memory.
    pub(super) fn room(&self, bytes: usize) -> Result<Room, Problem> {
        self.take(bytes.div_ceil(UNIT)).map(Room)
    }

    /// Makes `room` large enough for so many bytes in all.
    ///
    /// # Errors
    /// As [`Memory::room`].
    pub(super) fn grow(&self, room: &mut Room, bytes: usize) -> Result<(), Problem> {
        let more = bytes.div_ceil(UNIT).saturating_sub(room.0.num_permits());
        if more > 0 {
            room.0.merge(self.take(more)?);
        }
        Ok(())
    }

    /// The bytes in a room of their own.
    ///
    /// # Errors
    /// As [`Memory::room`].
    pub(super) fn hold(&self, bytes: Vec<u8>) -> Result<Held, Problem> {
        let room = self.room(bytes.len())?;
        Ok(Held::new(bytes, room))
    }

    fn take(&self, units: usize) -> Result<OwnedSemaphorePermit, Problem> {
        let units = u32::try_from(units).unwrap_or(u32::MAX);
        Arc::clone(&self.0).try_acquire_many_owned(units).map_err(|_| {
            let told = "the bodies and answers of others take the memory at the moment";
            Problem::new(Fault::Overloaded, told)
        })
    }
}

impl Held {
    /// Bytes, and the room for them.
    pub(super) fn new(bytes: Vec<u8>, room: Room) -> Held {
        Held { bytes, _room: room }
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

impl Deref for Held {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}
