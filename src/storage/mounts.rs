//! The mounts of this process: which folder stands for which address, and which files in it have their bytes there.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
#[cfg(any(test, feature = "object-store"))]
use std::sync::RwLockWriteGuard;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use crate::error::Result;

/// The mounts of this process.
static TABLE: RwLock<Vec<Mounted>> = RwLock::new(Vec::new());

/// Bytes that are elsewhere.
pub(crate) trait Remote: Send + Sync {
    /// Fills `bytes` with those from `at` on.
    ///
    /// # Errors
    /// Those of the object store; [`Kind::Temporary`](crate::Kind::Temporary) if the object is no longer the one that was mounted.
    fn read_exact_at(&self, bytes: &mut [u8], at: u64) -> Result<()>;
}

/// A folder or file that stands for an address.
pub(crate) struct Mounted {
    /// The address, without a slash at the end.
    pub(crate) address: String,
    /// The folder or file.
    pub(crate) place: PathBuf,
    /// The files whose bytes stay at the address. The files here have the length, but no bytes.
    pub(crate) remote: HashMap<PathBuf, (FileNumber, Arc<dyn Remote>)>,
}

/// The device and inode of a file: another file at the same path is not the one that was mounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileNumber(u64, u64);

impl FileNumber {
    /// That of the file at `path`; none if there is no file.
    pub(crate) fn of(path: &Path) -> Option<FileNumber> {
        std::fs::symlink_metadata(path).ok().map(|file| FileNumber(file.dev(), file.ino()))
    }
}

/// Adds a mount, or replaces the one of the same address.
#[cfg(any(test, feature = "object-store"))]
pub(crate) fn add_mount(mounted: Mounted) {
    let mut table = write();
    table.retain(|other| other.address != mounted.address);
    table.push(mounted);
}

/// Removes the mount of an address.
#[cfg(feature = "object-store")]
pub(crate) fn remove_mount(address: &str) {
    write().retain(|mounted| mounted.address != address);
}

/// Where the bytes of the file at `path` are, if they are elsewhere.
pub(crate) fn remote(path: &Path) -> Option<Arc<dyn Remote>> {
    let table = read();
    let (number, remote) = table.iter().find_map(|mounted| mounted.remote.get(path))?;
    (FileNumber::of(path) == Some(*number)).then(|| Arc::clone(remote))
}

/// The place of this machine that stands for `address`; none if nothing is mounted there.
pub fn place_of(address: &str) -> Option<PathBuf> {
    let table = read();
    table.iter().find_map(|mounted| {
        let rest = address.trim_end_matches('/').strip_prefix(&mounted.address)?;
        match rest.strip_prefix('/') {
            Some(rest) => Some(mounted.place.join(rest)),
            None => rest.is_empty().then(|| mounted.place.clone()),
        }
    })
}

/// The text with the addresses of mounts in place of their folders, as a user should see it.
pub fn shown(text: &str) -> String {
    let table = read();
    let address = |text: String, mounted: &Mounted| {
        text.replace(&*mounted.place.to_string_lossy(), &mounted.address)
    };
    table.iter().fold(text.to_owned(), address)
}

fn read() -> RwLockReadGuard<'static, Vec<Mounted>> {
    TABLE.read().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(any(test, feature = "object-store"))]
fn write() -> RwLockWriteGuard<'static, Vec<Mounted>> {
    TABLE.write().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_translates_both_ways() {
        let place = PathBuf::from("/cache/7f/0/store");
        add_mount(Mounted {
            address: "s3://b/tables/store".to_owned(),
            place,
            remote: HashMap::new(),
        });
        let held = place_of("s3://b/tables/store/CURRENT").unwrap();
        assert_eq!(held, Path::new("/cache/7f/0/store/CURRENT"));
        assert_eq!(place_of("s3://b/tables/store/"), Some("/cache/7f/0/store".into()));
        assert_eq!(place_of("s3://b/tables/stores"), None);
        assert_eq!(shown("/cache/7f/0/store/CURRENT: gone"), "s3://b/tables/store/CURRENT: gone");
        assert!(remote(&held).is_none());
    }
}
