//! An object as a file: read in order, a few ranges ahead, or wherever it is asked for.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;

use bytes::{Buf, Bytes};
use object_store::path::Path as Key;
use object_store::{Error as Cause, GetOptions, ObjectMeta, ObjectStore};
use tokio::task::JoinHandle;

use super::address::{Address, Scheme};
use super::again::again;
use super::connect::{look, runtime};
use super::failure::failure;
use super::remote::Remote;
use crate::error::{Error, Kind, Result};
use crate::progress::{self, Activity};

/// The bytes of a range that is read ahead.
const RANGE_BYTES: u64 = 8 << 20;

/// How many ranges are on their way at once.
const AHEAD: usize = 4;

/// How many bytes a glance reads.
const GLANCE_BYTES: u64 = 16 << 10;

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
        // Azure lists them without the quotes that a condition needs.
        let quoted = |tag: String| match address.scheme() == Scheme::Azure && !tag.contains('"') {
            true => format!("\"{tag}\""),
            false => tag,
        };
        let e_tag = e_tag.map(quoted);
        ObjectFile(Arc::new(Opened { store, key, address, bytes, e_tag }))
    }

    /// Where it is.
    pub(crate) fn address(&self) -> &Address {
        &self.0.address
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
        self.reader_with(Bytes::new())
    }

    /// Reads it in order for somebody who needs the first bytes only: not ahead at first.
    pub(crate) fn glance(&self) -> Result<ObjectReader> {
        Ok(self.reader_with(self.range(0..GLANCE_BYTES.min(self.bytes()))?))
    }

    /// Reads it in order; its first bytes are here.
    fn reader_with(&self, here: Bytes) -> ObjectReader {
        ObjectReader { file: self.clone(), next: here.len() as u64, coming: VecDeque::new(), here }
    }

    /// Fails with [`Kind::Temporary`] if the object is no longer the one that was opened.
    pub(crate) fn check_unchanged(&self) -> Result<()> {
        let now = runtime()?.block_on(look(&self.0.store, &self.0.key, &self.0.address));
        let now = now.map_err(|cause| self.0.failure(&cause))?;
        if self.0.is_of(&now) {
            return Ok(());
        }
        Err(Error::new(Kind::Temporary, "the input changed while it was read")
            .at(self.0.address.to_string())
            .help("try again when it is complete"))
    }
}

impl fmt::Debug for ObjectFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.address)
    }
}

impl PartialEq for ObjectFile {
    fn eq(&self, other: &ObjectFile) -> bool {
        let [one, other] = [self, other].map(|it| (&it.0.address, it.0.bytes, &it.0.e_tag));
        one == other
    }
}

impl Eq for ObjectFile {}

impl Opened {
    async fn range(&self, range: Range<u64>) -> Result<Bytes> {
        if range.is_empty() {
            return Ok(Bytes::new());
        }
        again(|| self.ask(range.clone())).await
    }

    async fn ask(&self, range: Range<u64>) -> Result<Bytes> {
        let expected = range.end - range.start;
        let options = GetOptions::new().with_range(Some(range)).with_if_match(self.strong_tag());
        let read = async {
            let got = self.store.get_opts(&self.key, options).await?;
            let same = self.is_of(&got.meta);
            Ok((same, got.bytes().await?))
        };
        let (same, bytes) = read.await.map_err(|cause| self.failure(&cause))?;
        if !same {
            // The server does not know conditions.
            return Err(Error::new(Kind::Temporary, "the object has changed in the meantime")
                .at(self.address.to_string())
                .help("try again"));
        }
        if bytes.len() as u64 == expected {
            return Ok(bytes);
        }
        Err(Error::new(Kind::Io, "the server sent another number of bytes than it was asked for")
            .at(self.address.to_string())
            .expected(expected)
            .found(bytes.len()))
    }

    /// The tag, if it is one that a server compares: a weak one never holds.
    fn strong_tag(&self) -> Option<String> {
        self.e_tag.clone().filter(|tag| !tag.starts_with("W/"))
    }

    /// Whether an answer is about the object that was opened. What has no tag is never written again.
    fn is_of(&self, meta: &ObjectMeta) -> bool {
        let differ = self.e_tag.iter().zip(&meta.e_tag).any(|(ours, its)| ours != its);
        meta.size == self.bytes && !differ
    }

    fn failure(&self, cause: &Cause) -> Error {
        match cause {
            // It was there when it was opened.
            Cause::NotFound { .. } => {
                Error::new(Kind::Temporary, "the object has gone in the meantime")
                    .at(self.address.to_string())
                    .help("try again")
            }
            _ => failure(cause, &self.address),
        }
    }
}

impl Remote for ObjectFile {
    fn bytes(&self) -> u64 {
        self.0.bytes
    }

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
