//! A client for the objects below an address. Its calls wait for their answers; the connections are driven by threads of their own.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use object_store::list::PaginatedListStore;
use object_store::path::Path as Key;
use object_store::{
    Error as Cause, MultipartUpload, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutOptions,
    PutPayload, UpdateVersion,
};

use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use super::address::Address;
use super::connect::{Connection, connect, look, runtime};
use super::failure::{failure, is_without_bucket};
use super::reader::ObjectFile;
use crate::error::{At, Error, Kind, Result};
use crate::progress::{self, Activity};

/// The bytes of a part of an upload. Shorter files are sent at once.
const PART_BYTES: usize = 8 << 20;

const MOST_IN_ONE: u64 = 64 << 20;

const MOST_PARTS: u64 = 9_000;

#[derive(Clone)]
pub struct Objects {
    pub(super) store: Arc<dyn ObjectStore>,
    pub(super) pages: Option<Arc<dyn PaginatedListStore>>,
    pub(super) address: Address,
}

/// What a server calls the contents of an object: they are the same while the tag is.
#[derive(Clone, Debug)]
pub struct Tag(UpdateVersion);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    pub name: String,
    pub bytes: u64,
    pub tag: Tag,
}

impl Objects {
    pub fn open(address: &Address) -> Result<Objects> {
        let Connection { store, pages } = connect(address)?;
        Ok(Objects { store, pages, address: address.clone() })
    }

    #[cfg(test)]
    pub fn over(store: Arc<dyn ObjectStore>, address: &Address) -> Objects {
        Objects { store, pages: None, address: address.clone() }
    }

    pub fn at(&self, name: &str) -> Address {
        match (name, self.address.key()) {
            ("", _) => self.address.clone(),
            (name, "") => self.address.with_key(name),
            (name, key) => self.address.with_key(&format!("{key}/{name}")),
        }
    }

    pub fn beside(&self, suffix: &str) -> Objects {
        let address = self.address.with_key(&format!("{}{suffix}", self.address.key()));
        Objects { address, ..self.clone() }
    }

    pub fn below(&self, name: &str) -> Objects {
        Objects { address: self.at(name), ..self.clone() }
    }

    pub(super) fn key(&self, name: &str) -> Result<Key> {
        let address = self.at(name);
        let parsed = match address.is_one_object() {
            true => Key::from_url_path(address.key()),
            false => Key::parse(address.key()),
        };
        parsed.map_err(|cause| failure(&cause.into(), &address))
    }

    pub fn find(&self, name: &str) -> Result<Option<Object>> {
        if self.at(name).key().is_empty() {
            return Ok(None);
        }
        let key = self.key(name)?;
        match runtime()?.block_on(look(&self.store, &key, &self.at(name))) {
            Ok(meta) => Ok(Some(Object::of(&meta, name.to_owned()))),
            Err(Cause::NotFound { .. }) => Ok(None),
            Err(cause) => Err(failure(&cause, &self.at(name))),
        }
    }

    /// The object `name` for reading, if nobody ever writes another in its place.
    pub(crate) fn written_once(&self, name: &str, bytes: u64) -> Result<ObjectFile> {
        let tag = Tag(UpdateVersion { e_tag: None, version: None });
        self.file(&Object { name: name.to_owned(), bytes, tag })
    }

    pub fn file(&self, object: &Object) -> Result<ObjectFile> {
        let Object { name, bytes, tag } = object;
        let key = self.key(name)?;
        let (store, tag) = (Arc::clone(&self.store), tag.0.e_tag.clone());
        Ok(ObjectFile::new(store, key, self.at(name), *bytes, tag))
    }

    pub fn get(&self, name: &str, most: u64) -> Result<Option<(Vec<u8>, Tag)>> {
        let key = self.key(name)?;
        let got = runtime()?.block_on(async {
            let got = self.store.get(&key).await?;
            let (tag, bytes) = (Tag::of(&got.meta), got.meta.size);
            let whole = if bytes > most { Bytes::new() } else { got.bytes().await? };
            Ok((whole, bytes, tag))
        });
        match got {
            Ok((_, bytes, _)) if bytes > most => {
                Err(Error::new(Kind::BadData, "the object is too long")
                    .at(self.at(name).to_string())
                    .expected(format_args!("at most {most} bytes"))
                    .found(bytes))
            }
            Ok((bytes, _, tag)) => Ok(Some((bytes.into(), tag))),
            Err(cause @ Cause::NotFound { .. }) if !is_without_bucket(&cause) => Ok(None),
            Err(cause) => Err(failure(&cause, &self.at(name))),
        }
    }

    /// Puts the object `name`, if there is still the one with the tag `before`, or still none. Returns its tag; none if the
    /// condition does not hold.
    pub(crate) fn put_if(
        &self,
        name: &str,
        bytes: Vec<u8>,
        before: Option<&Tag>,
    ) -> Result<Option<Tag>> {
        let mode = before.map_or(PutMode::Create, |tag| PutMode::Update(tag.0.clone()));
        let payload = PutPayload::from(bytes);
        let key = self.key(name)?;
        match runtime()?.block_on(self.store.put_opts(&key, payload, PutOptions::from(mode))) {
            Ok(put) => Ok(Some(Tag(put.into()))),
            Err(Cause::AlreadyExists { .. } | Cause::Precondition { .. }) => Ok(None),
            Err(cause) => Err(failure(&cause, &self.at(name))),
        }
    }

    /// Makes the file at `path` the object `name`; one that is there is replaced. A long file goes in parts, and appears when all
    /// of them are there. Returns the XXH3-128 of what was sent.
    pub(crate) fn upload(&self, name: &str, path: &Path) -> Result<u128> {
        let bytes = fs::metadata(path).at(path)?.len();
        if bytes >= PART_BYTES as u64 {
            return self.upload_parts(name, path, || Ok(true)).map(|(digest, _)| digest);
        }
        let whole = fs::read(path).at(path)?;
        let digest = xxh3_128(&whole);
        self.put(name, whole).map(|()| digest)
    }

    pub fn put(&self, name: &str, bytes: Vec<u8>) -> Result<()> {
        let sent = runtime()?.block_on(self.store.put(&self.key(name)?, bytes.into()));
        sent.map(drop).map_err(|cause| failure(&cause, &self.at(name)))
    }

    /// Makes the file at `path` the object `name`, if there is still the one with the tag `before`, or still none. Returns its
    /// tag; none if the condition does not hold. Of a long file, which goes in parts, the condition is looked at before the
    /// parts are put together, and not in the same step.
    pub(crate) fn upload_if(
        &self,
        name: &str,
        path: &Path,
        before: Option<&Tag>,
    ) -> Result<Option<Tag>> {
        if fs::metadata(path).at(path)?.len() <= MOST_IN_ONE {
            return self.put_if(name, fs::read(path).at(path)?, before);
        }
        let is_as_before = || Ok(self.find(name)?.map(|found| found.tag).as_ref() == before);
        self.upload_parts(name, path, is_as_before).map(|(_, tag)| tag)
    }

    /// Sends a file in parts, and puts them together if they are still wanted then. Returns the XXH3-128 of what was sent,
    /// and the tag of the object if there is one now.
    fn upload_parts(
        &self,
        name: &str,
        path: &Path,
        is_wanted: impl FnOnce() -> Result<bool>,
    ) -> Result<(u128, Option<Tag>)> {
        let mut hasher = Xxh3::new();
        let mut file = File::open(path).at(path)?;
        let part_bytes = part_bytes(file.metadata().at(path)?.len());
        let (key, address) = (self.key(name)?, self.at(name));
        let failed = |cause: Cause| failure(&cause, &address);
        let mut upload = runtime()?.block_on(self.store.put_multipart(&key)).map_err(failed)?;
        let sent = (|| {
            loop {
                let part = part_of(&mut file, part_bytes, &mut hasher).at(path)?;
                if part.is_empty() {
                    break;
                }
                runtime()?.block_on(upload.put_part(part.into())).map_err(failed)?;
                progress::tick(Activity::Writing);
            }
            match is_wanted()? {
                true => runtime()?.block_on(upload.complete()).map(Some).map_err(failed),
                false => Ok(None),
            }
        })();
        if !matches!(sent, Ok(Some(_))) {
            abort(&mut *upload);
        }
        sent.map(|put| (hasher.digest128(), put.map(|put| Tag(put.into()))))
    }

    pub fn one(&self) -> Result<Option<ObjectFile>> {
        self.find("")?.map(|object| self.file(&object)).transpose()
    }

    pub fn delete(&self, name: &str) -> Result<()> {
        match runtime()?.block_on(self.store.delete(&self.key(name)?)) {
            Ok(()) | Err(Cause::NotFound { .. }) => Ok(()),
            Err(cause) => Err(failure(&cause, &self.at(name))),
        }
    }
}

/// Lets go of an upload that failed. What the server keeps of it otherwise costs money.
fn abort(upload: &mut dyn MultipartUpload) {
    let aborted = runtime().map(|runtime| runtime.block_on(upload.abort()));
    if let Ok(Err(cause)) = aborted {
        tracing::warn!("an upload that failed could not be aborted: {cause}");
    }
}

/// The bytes of a part of a file of `bytes`: whole MiB, so many that there are not too many parts.
fn part_bytes(bytes: u64) -> usize {
    let least = bytes.div_ceil(MOST_PARTS).next_multiple_of(1 << 20);
    PART_BYTES.max(least as usize)
}

fn part_of(file: &mut File, part_bytes: usize, hasher: &mut Xxh3) -> std::io::Result<Vec<u8>> {
    let mut part = Vec::new();
    file.take(part_bytes as u64).read_to_end(&mut part)?;
    hasher.update(&part);
    Ok(part)
}

impl Object {
    pub(super) fn of(meta: &ObjectMeta, name: String) -> Object {
        Object { name, bytes: meta.size, tag: Tag::of(meta) }
    }
}

impl Tag {
    pub(crate) fn of_nothing() -> Tag {
        Tag(UpdateVersion { e_tag: Some("\"of nothing\"".to_owned()), version: None })
    }

    pub fn name(&self) -> Option<&str> {
        self.0.e_tag.as_deref().or(self.0.version.as_deref())
    }

    fn of(meta: &ObjectMeta) -> Tag {
        Tag(UpdateVersion { e_tag: meta.e_tag.clone(), version: meta.version.clone() })
    }
}

/// Servers need not tell a version everywhere, so the ETag decides where there is one.
impl PartialEq for Tag {
    fn eq(&self, other: &Tag) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Tag {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_any_size_has_few_enough_parts() {
        assert_eq!(part_bytes(0), PART_BYTES);
        for bytes in [1 << 30, 78 << 30, 5 << 40] {
            let part = part_bytes(bytes) as u64;
            assert!(bytes.div_ceil(part) <= 10_000 && part.is_multiple_of(1 << 20), "{bytes}");
        }
    }
}
