//! The files `CURRENT` and `OLDEST` of a store: each names a version, with the checksum of its manifest. `CURRENT` also
//! says how often pages were removed from the store, so a lost list of them is noticed.

use std::fs;
use std::path::Path;

use crate::error::{At, Kind, Result};
use crate::output::{Lock, write_file};
use crate::small_file;

use super::damage::damaged;

pub(super) const CURRENT: &str = "CURRENT";
/// The file that names the oldest version. Without it, that is version 1.
pub(super) const OLDEST: &str = "OLDEST";

const LONGEST: u64 = 1 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pointer {
    pub(super) version: u64,
    pub(super) checksum: u64,
    /// In `CURRENT`, the least number of removals that `REMOVED` must have seen; 0 if it need not be there.
    pub(super) removals: u64,
}

impl Pointer {
    pub(super) fn read(store: &Path, name: &str) -> Result<Pointer> {
        let path = store.join(name);
        let bytes = small_file::read(&path, LONGEST, Kind::BadData)?;
        let line = String::from_utf8_lossy(&bytes);
        let told = || {
            let mut words = line.trim_end().split(' ');
            Some(Pointer {
                version: words.next()?.parse().ok()?,
                checksum: u64::from_str_radix(words.next()?, 16).ok()?,
                removals: words.next().map_or(Some(0), |removals| removals.parse().ok())?,
            })
        };
        told().filter(|told| told.line() == line).ok_or_else(|| {
            let error = damaged("this file does not name a version").at(&path);
            error.expected("a number and a checksum").found(format_args!("{line:.100?}"))
        })
    }

    pub(super) fn to_oldest(store: &Path) -> Result<Option<Pointer>> {
        let is_there = fs::exists(store.join(OLDEST)).at(store)?;
        is_there.then(|| Pointer::read(store, OLDEST)).transpose()
    }

    pub(super) fn write(self, store: &Path, name: &str, lock: &Lock) -> Result<()> {
        write_file(&store.join(name), self.line().as_bytes(), lock)
    }

    fn line(self) -> String {
        let Pointer { version, checksum, removals } = self;
        let removals = if removals > 0 { format!(" {removals}") } else { String::new() };
        format!("{version:06} {checksum:016x}{removals}\n")
    }
}
