//! The history of a store: what each version changed. It follows from the manifests alone, so it is the
//! same for every copy of a store.

use std::collections::HashMap;
use std::fmt;

use crate::error::Result;

use super::compact::merged_name;
use super::digest::Digest;
use super::folder::Store;
use super::manifest::{COMPACTED, Entry, Manifest, PURGED};
use super::version::Version;
use crate::day::Day;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision {
    pub version: u64,
    pub change: Change,
    pub days: u64,
    /// The number of its fingerprints whose pages were not replaced and have not been removed since.
    pub rows: u64,
    /// The number of its fingerprints whose pages were replaced and have not been removed since.
    pub replaced: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    Init,
    Add(Day),
    Compact,
    Purge,
    Expire(Day),
    /// The contents of an earlier version came back: the first version with these contents, unless that
    /// was pruned.
    Rollback(Option<u64>),
}

impl Store {
    pub fn history(&self) -> Result<Vec<Revision>> {
        let mut firsts = HashMap::new();
        let revision = |read: Result<(u64, Manifest)>| {
            let (number, manifest) = read?;
            let first = *firsts.entry(contents(&manifest)).or_insert(number);
            let added = manifest.entries.iter().find(|entry| entry.added_in == number);
            let made = |prefix| manifest.merged(&merged_name(prefix, number)).is_some();
            let expires = |entry: &Entry| entry.expired_in == Some(number);
            let expired = manifest.expired_before.filter(|_| manifest.entries.iter().any(expires));
            let change = match (added, expired) {
                (Some(entry), _) => Change::Add(entry.day),
                (None, Some(first)) => Change::Expire(first),
                _ if number == 1 => Change::Init,
                _ if made(COMPACTED) => Change::Compact,
                _ if made(PURGED) => Change::Purge,
                _ => Change::Rollback(Some(first).filter(|first| *first < number)),
            };
            let days = manifest.shown().len() as u64;
            let version = Version::of(self.path(), manifest)?;
            let (rows, replaced) = (version.shown_rows(), version.replaced_rows());
            Ok(Revision { version: number, change, days, rows, replaced })
        };
        self.manifests(self.versions()?).map(revision).collect()
    }
}

/// A digest that is equal for manifests with the same days in the same files, of which the same rows are replaced.
fn contents(manifest: &Manifest) -> Digest {
    let contents = (&manifest.entries, &manifest.merged, manifest.replaced);
    Digest::of(&serde_json::to_vec(&contents).expect("a manifest is plain data"))
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::Init => f.write_str("init"),
            Change::Add(day) => write!(f, "add {day}"),
            Change::Compact => f.write_str("compact"),
            Change::Purge => f.write_str("purge"),
            Change::Expire(first) => write!(f, "expire before {first}"),
            Change::Rollback(Some(version)) => write!(f, "rollback to {version}"),
            Change::Rollback(None) => f.write_str("rollback to a version that was pruned"),
        }
    }
}
