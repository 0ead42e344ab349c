//! An object as a file: read in order, a few ranges ahead, or wherever it is asked for.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf, Bytes};
use object_store::path::Path as Key;
use object_store::{Error as Cause, GetOptions, ObjectStore};
use tokio::task::JoinHandle;

use super::address::Address;
use super::connect::runtime;
use super::failure::failure;
use super::mounts::Remote;
use crate::error::{Error, Kind, Result};
use crate::progress::{self, Activity};

/// The bytes of a range that is read ahead.
const RANGE_BYTES: u64 = 8 << 20;

/// How many ranges are on their way at once.
const AHEAD: usize = 4;

/// How often a range is asked for again when its bytes did not come as promised. The client has repeated each request already.
const TRIES: u32 = 4;

/// The pause before the first repetition. Each further one is twice as long.
const PAUSE: Duration = Duration::from_millis(200);

/// An object, opened for reading. If it is replaced meanwhile, reading it fails.
#[derive(Clone)]
pub(crate) struct ObjectFile(Arc<Opened>);

struct Opened {
    store: Arc<dyn ObjectStore>,
    key: Key,
    address: Address,
    bytes: u64,
    e_tag: Option<String>,
}

impl ObjectFile {
    pub(super) fn new(
        store: Arc<dyn ObjectStore>,
        key: Key,
        address: Address,
        bytes: u64,
        e_tag: Option<String>,
    ) -> ObjectFile {
        ObjectFile(Arc::new(Opened { store, key, address, bytes, e_tag }))
    }

    /// Its size.
    pub(crate) fn bytes(&self) -> u64 {
        self.0.bytes
    }

    /// The bytes in `range`, which lies within the object.
    ///
    /// # Errors
    /// Those of the object store; [`Kind::Temporary`] if the object is no longer the one that was opened.
    pub(crate) fn range(&self, range: Range<u64>) -> Result<Bytes> {
        runtime()?.block_on(self.0.range(range))
    }

    /// Reads all of it in order.
    pub(crate) fn reader(&self) -> ObjectReader {
        ObjectReader { file: self.clone(), next: 0, coming: VecDeque::new(), here: Bytes::new() }
    }
}

impl Opened {
    async fn range(&self, range: Range<u64>) -> Result<Bytes> {
        if range.is_empty() {
            return Ok(Bytes::new());
        }
        let mut pause = PAUSE;
        for _ in 1..TRIES {
            match self.ask(range.clone()).await {
                // Those that the server has decided.
                Err(error) if error.kind() != Kind::Io => return Err(error),
                Err(_) => tokio::time::sleep(pause).await,
                read => return read,
            }
            pause *= 2;
        }
        self.ask(range).await
    }

    async fn ask(&self, range: Range<u64>) -> Result<Bytes> {
        let expected = range.end - range.start;
        let options = GetOptions::new().with_range(Some(range)).with_if_match(self.e_tag.clone());
        let read = async { self.store.get_opts(&self.key, options).await?.bytes().await };
        let bytes = read.await.map_err(|cause| self.failure(&cause))?;
        if bytes.len() as u64 == expected {
            return Ok(bytes);
        }
        Err(Error::new(Kind::Io, "the server sent another number of bytes than it was asked for")
            .at(self.address.to_string())
            .expected(expected)
            .found(bytes.len()))
    }

    fn failure(&self, cause: &Cause) -> Error {
        match cause {
            // It was there when it was opened.
            Cause::NotFound { .. } => {
                Error::new(Kind::Temporary, "the object has gone in the meantime")
                    .at(self.address.to_string())
                    .help("run the same command again")
            }
            _ => failure(cause, &self.address),
        }
    }
}

impl Remote for ObjectFile {
    fn read_exact_at(&self, bytes: &mut [u8], at: u64) -> Result<()> {
        let read = self.range(at..at + bytes.len() as u64)?;
        bytes.copy_from_slice(&read);
        Ok(())
    }
}

/// Reads an object in order, a few ranges ahead.
pub(crate) struct ObjectReader {
    file: ObjectFile,
    /// Where the range after those on their way begins.
    next: u64,
    coming: VecDeque<JoinHandle<Result<Bytes>>>,
    /// What has come and was not read.
    here: Bytes,
}

impl ObjectReader {
    /// Asks for ranges until enough are on their way.
    fn ask(&mut self) -> Result<()> {
        while self.coming.len() < AHEAD && self.next < self.file.bytes() {
            let end = self.file.bytes().min(self.next + RANGE_BYTES);
            let (opened, range) = (Arc::clone(&self.file.0), self.next..end);
            self.coming.push_back(runtime()?.spawn(async move { opened.range(range).await }));
            self.next = end;
        }
        Ok(())
    }

    /// Waits for the next range, if there is one.
    fn turn(&mut self) -> Result<()> {
        self.ask()?;
        if let Some(coming) = self.coming.pop_front() {
            let gone = |_| Error::new(Kind::Temporary, "a connection was given up");
            self.here = runtime()?.block_on(coming).map_err(gone)??;
            progress::tick(Activity::Reading);
            self.ask()?;
        }
        Ok(())
    }
}

impl Read for ObjectReader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.here.is_empty() {
            self.turn().map_err(io::Error::other)?;
        }
        let read = into.len().min(self.here.len());
        self.here.copy_to_slice(&mut into[..read]);
        Ok(read)
    }
}

impl Drop for ObjectReader {
    fn drop(&mut self) {
        self.coming.drain(..).for_each(|coming| coming.abort());
    }
}
