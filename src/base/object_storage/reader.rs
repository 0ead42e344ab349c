//! An object as a file: its bytes, wherever they are asked for.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use bytes::Bytes;
use object_store::path::Path as Key;
use object_store::{Error as Cause, GetOptions, ObjectMeta, ObjectStore};
use tokio::task::JoinHandle;

use super::address::{Address, Scheme};
use super::connect::{look, patience, runtime};
use super::failure::failure;
use super::remote::Remote;
use crate::error::{Error, Kind, Result};
use crate::parallel::lock;

const FIRST_BYTES: u64 = 16 << 10;

const MOST_KEPT_BYTES: usize = 64 << 20;

/// How many it keeps. A process has one count, because it has one memory: two users of the library at once share the room.
static KEPT_BYTES: AtomicUsize = AtomicUsize::new(0);

const MOST_EXPECTED: usize = 512;

const TRIES: u32 = 4;

const PAUSE: Duration = Duration::from_millis(200);

/// An object, opened for reading. If it is replaced meanwhile, reading it fails.
#[derive(Clone)]
pub struct ObjectFile(Arc<Opened>);

struct Opened {
    store: Arc<dyn ObjectStore>,
    key: Key,
    address: Address,
    bytes: u64,
    e_tag: Option<String>,
    first: OnceLock<Bytes>,
    expected: Mutex<HashMap<Range<u64>, JoinHandle<Result<Bytes>>>>,
}

impl Drop for Opened {
    fn drop(&mut self) {
        let kept = self.first.get().map_or(0, Bytes::len);
        KEPT_BYTES.fetch_sub(kept, Ordering::Relaxed);
    }
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
        let quoted = |tag: String| match address.scheme == Scheme::Azure && !tag.contains('"') {
            true => format!("\"{tag}\""),
            false => tag,
        };
        let e_tag = e_tag.map(quoted);
        let (first, expected) = (OnceLock::new(), Mutex::default());
        ObjectFile(Arc::new(Opened { store, key, address, bytes, e_tag, first, expected }))
    }

    pub fn address(&self) -> &Address {
        &self.0.address
    }

    pub fn bytes(&self) -> u64 {
        self.0.bytes
    }

    pub fn range(&self, range: Range<u64>) -> Result<Bytes> {
        runtime()?.block_on(self.0.range(range))
    }

    pub(super) fn begin(&self, range: Range<u64>) -> Result<JoinHandle<Result<Bytes>>> {
        let opened = Arc::clone(&self.0);
        Ok(runtime()?.spawn(async move { opened.range(range).await }))
    }

    /// Its first bytes. They are kept, as far as there is room, so that who reads the object need not ask for them again.
    pub(super) fn first_bytes(&self) -> Result<Bytes> {
        let first = self.range(0..FIRST_BYTES.min(self.bytes()))?;
        if KEPT_BYTES.fetch_add(first.len(), Ordering::Relaxed) < MOST_KEPT_BYTES
            && self.0.first.set(first.clone()).is_ok()
        {
            return Ok(first);
        }
        KEPT_BYTES.fetch_sub(first.len(), Ordering::Relaxed);
        Ok(first)
    }

    pub(super) fn kept(&self) -> Option<Bytes> {
        self.0.first.get().cloned()
    }

    /// What an object is known by that is the same as long as its bytes are; none if the server does not tell.
    pub fn sign(&self) -> Option<String> {
        Some(format!("{} {} {}", self.0.address, self.0.bytes, self.0.strong_tag()?))
    }

    /// Fails with [`Kind::Temporary`] if the object is no longer the one that was opened. An object with a sign need not be looked
    /// at: each answer was on the condition that the sign holds.
    pub fn check_unchanged(&self) -> Result<()> {
        if self.sign().is_some() {
            return Ok(());
        }
        let now = runtime()?.block_on(look(&self.0.store, &self.0.key, &self.0.address));
        let now = now.map_err(|cause| self.0.failure(&cause))?;
        if self.0.is_of(&now) {
            return Ok(());
        }
        Err(Error::new(Kind::Temporary, "the input changed while it was read")
            .called("input-changed")
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

/// Asks again when an answer broke off or had the wrong length: the client has repeated each request already, with patience. Ends when
/// it succeeds, or fails with what the server has decided, or has asked often enough or for so long that the patience is over.
async fn again<T, F: Future<Output = Result<T>>>(ask: impl Fn() -> F) -> Result<T> {
    let (mut pause, began, patience) = (PAUSE, Instant::now(), patience()?);
    for _ in 1..TRIES {
        match ask().await {
            Err(error) if error.kind() == Kind::Io && began.elapsed() < patience => {
                tokio::time::sleep(pause).await;
            }
            done => return done,
        }
        pause *= 2;
    }
    ask().await
}

impl Remote for ObjectFile {
    fn bytes(&self) -> u64 {
        self.0.bytes
    }

    fn read_exact_at(&self, bytes: &mut [u8], at: u64) -> Result<()> {
        let range = at..at + bytes.len() as u64;
        let expected = lock(&self.0.expected).remove(&range);
        let answer = expected.and_then(|answer| runtime().ok()?.block_on(answer).ok()?.ok());
        let read = answer.map_or_else(|| self.range(range), Ok)?;
        bytes.copy_from_slice(&read);
        Ok(())
    }

    fn expect(&self, range: Range<u64>) {
        let mut expected = lock(&self.0.expected);
        if expected.len() >= MOST_EXPECTED {
            // They were not read after all.
            expected.drain().for_each(|(_, answer)| answer.abort());
        }
        if !expected.contains_key(&range)
            && let Ok(answer) = self.begin(range.clone())
        {
            expected.insert(range, answer);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::path::Path;

    use object_store::memory::InMemory;

    use super::super::Objects;
    use super::*;

    #[test]
    fn what_was_expected_is_read_all_the_same() {
        let address = Address::of(Path::new("s3://b/in")).unwrap().unwrap();
        let objects = Objects::over(Arc::new(InMemory::new()), &address);
        let whole: Vec<u8> = (0..5000_u32).map(|at| (at / 7) as u8).collect();
        objects.put_if("a", whole.clone(), None).unwrap().unwrap();
        let file = objects.file(&objects.find("a").unwrap().unwrap()).unwrap();
        let waiting = || lock(&file.0.expected).len();
        let ranges: Vec<Range<u64>> = (0..500).map(|at| 10 * at..10 * at + 9).collect();
        for range in ranges.iter().chain(&ranges) {
            file.expect(range.clone());
        }
        assert_eq!(waiting(), 500);
        // Some were not expected.
        for range in ranges.iter().rev().chain([&(3..4000), &(0..9)]) {
            let mut bytes = vec![0; (range.end - range.start) as usize];
            file.read_exact_at(&mut bytes, range.start).unwrap();
            assert!(bytes == whole[range.start as usize..range.end as usize], "{range:?}");
        }
        assert_eq!(waiting(), 0);
        for start in 0..2 * MOST_EXPECTED as u64 {
            file.expect(start..start + 1);
            assert!(waiting() <= MOST_EXPECTED);
        }
    }

    fn asked(kind: Kind, failures: u32) -> (u32, Result<u32>) {
        let tries = Cell::new(0);
        let ask = || async {
            tries.set(tries.get() + 1);
            let failed = tries.get() <= failures;
            if failed { Err(Error::new(kind, "no")) } else { Ok(tries.get()) }
        };
        let got = runtime().unwrap().block_on(again(ask));
        (tries.get(), got)
    }

    #[test]
    fn only_what_may_pass_is_asked_for_again() {
        assert_eq!(asked(Kind::Io, 0), (1, Ok(1)));
        assert_eq!(asked(Kind::Io, 2), (3, Ok(3)));
        assert_eq!(asked(Kind::Io, 9).0, TRIES);
        assert_eq!(asked(Kind::Permission, 1).0, 1);
        assert_eq!(asked(Kind::Temporary, 1).0, 1);
    }
}
