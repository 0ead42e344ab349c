//! The folders of this machine that mounts are in.
//!
//! ```text
//! ~/.cache/dupsieve/7f3a0c6ad2e47530/0.lock       an address, and who uses its first slot
//! ~/.cache/dupsieve/7f3a0c6ad2e47530/0/batch.seg  what stands for the address there
//! ```
//!
//! A slot stays when its mount is gone, so that the next one fetches only what has changed. If no mount uses it for a week, it is
//! removed.

use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};
use std::time::Duration;

use xxhash_rust::xxh3::xxh3_64;

use crate::error::{At, Error, Kind, Result};
use crate::object_storage::Address;
use crate::output::Lock;

const SLOTS: u32 = 64;

pub(super) const KEPT: Duration = Duration::from_hours(7 * 24);

pub(super) fn free_slot(address: &Address, cache: &Path) -> Result<(Lock, PathBuf)> {
    fs::create_dir_all(cache).at(cache)?;
    let cache = cache.canonicalize().at(cache)?;
    let home = cache.join(format!("{:016x}", xxh3_64(address.to_string().as_bytes())));
    fs::create_dir_all(&home).at(&home)?;
    let mut held: Option<Error> = None;
    for slot in 0..SLOTS {
        match Lock::take(&home.join(format!("{slot}.lock"))) {
            Ok(lock) => {
                let folder = home.join(slot.to_string());
                fs::create_dir_all(&folder).at(&folder)?;
                return Ok((lock, folder));
            }
            Err(error) if error.kind() == Kind::Temporary => held = Some(error),
            Err(error) => return Err(error),
        }
    }
    Err(held.expect("there is at least one slot"))
}

/// Removes the slots below `cache` that nobody has used for so long. What cannot be removed stays: the next mount
/// tries again.
pub(super) fn remove_unused(cache: &Path, kept: Duration) {
    for home in entries(cache).filter(is_home) {
        for lock in entries(&home.path()).filter(|lock| is_older(lock, kept)) {
            remove_slot(&lock.path());
        }
    }
}

fn entries(folder: &Path) -> impl Iterator<Item = DirEntry> {
    fs::read_dir(folder).into_iter().flatten().flatten()
}

fn is_home(folder: &DirEntry) -> bool {
    let name = folder.file_name();
    name.len() == 16 && name.as_encoded_bytes().iter().all(u8::is_ascii_hexdigit)
}

/// Whether a file was written so long ago. That of a lock is written when it is taken.
fn is_older(file: &DirEntry, kept: Duration) -> bool {
    let written = file.metadata().and_then(|it| it.modified());
    written.is_ok_and(|written| written.elapsed().is_ok_and(|age| age >= kept))
}

fn remove_slot(path: &Path) {
    let slot = path.with_extension("");
    let is_slot = slot.file_name().is_some_and(|name| {
        name.len() <= 2 && name.as_encoded_bytes().iter().all(u8::is_ascii_digit)
    });
    if !is_slot || path.extension().is_none_or(|it| it != "lock") {
        return;
    }
    // Whoever waits for the lock finds that its file has gone, and makes another.
    if let Ok(lock) = Lock::take(path) {
        let removed = fs::remove_dir_all(&slot);
        if removed.is_ok() || !slot.exists() {
            lock.remove();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_that_nobody_has_used_for_long_goes() {
        let home = tempfile::tempdir().unwrap();
        let cache = home.path();
        let address = Address::of(Path::new("s3://b/out")).unwrap().unwrap();
        let (used, here) = free_slot(&address, cache).unwrap();
        let (unused, there) = free_slot(&address, cache).unwrap();
        for folder in [&here, &there] {
            fs::write(folder.join("batch.seg"), "rows").unwrap();
        }
        drop(unused);
        fs::create_dir(cache.join("theirs")).unwrap();
        fs::write(cache.join("theirs/0.lock"), "").unwrap();
        remove_unused(cache, KEPT);
        assert!(there.exists());
        remove_unused(cache, Duration::ZERO);
        assert!(here.join("batch.seg").exists() && used.check().is_ok());
        assert!(!there.exists() && !there.with_extension("lock").exists());
        assert!(cache.join("theirs/0.lock").exists());
        assert_eq!(free_slot(&address, cache).unwrap().1, there);
    }
}
