//! What a segment says about itself apart from its columns: its format, its origin, its digest.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use crate::document::Skipped;
use crate::fingerprint::Width;
use crate::output::Sum;
use crate::store::digest::Digest;

pub(crate) const MAGIC: [u8; 8] = *b"DUPSIEVE";

pub(crate) const VERSION: u32 = 1;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordCounts {
    /// Records read: the sum of the next four, and of those removed.
    pub read: u64,
    pub fingerprinted: u64,
    /// Documents without any feature, and so without a fingerprint.
    pub empty: u64,
    /// Documents whose id came before.
    pub repeated: u64,
    /// Records that could not be read.
    pub quarantined: u64,
    /// Documents left out because their pages were removed from the store.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub removed: u64,
    /// Blank lines, which are not records.
    pub blank: u64,
    /// Files that were not read whole: web archives that are damaged, and packed files whose damage was accepted.
    pub truncated: u64,
    /// The bytes of these files that were not read.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unread_bytes: u64,
    /// Records that are no pages, such as the requests in a web archive.
    #[serde(default, skip_serializing_if = "Skipped::is_empty")]
    pub skipped: Skipped,
}

impl RecordCounts {
    pub(crate) fn accounted_for(&self) -> u64 {
        self.fingerprinted + self.empty + self.repeated + self.quarantined + self.removed
    }

    /// Whether every record that was read became something, so that none was lost.
    pub fn add_up(&self) -> bool {
        self.read == self.accounted_for()
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Metadata {
    pub stamp: String,
    pub counts: RecordCounts,
    pub identity: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) quarantine: Option<Sum>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeated: Option<Sum>,
}

/// The digest of the contents of a segment: its width, its columns and its recipe, but not its origin.
/// The checksums in the table of columns stand for the blocks.
pub(crate) fn content_digest(width: Width, table: &[u8], stamp: &str) -> Digest {
    let mut hasher = Xxh3::new();
    hasher.update(&width.bits().to_le_bytes());
    hasher.update(&(table.len() as u64).to_le_bytes());
    hasher.update(table);
    hasher.update(stamp.as_bytes());
    Digest(hasher.digest128())
}
