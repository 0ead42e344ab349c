//! What a segment says of itself beside its columns: the format, what it was made from, its digest.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use crate::fingerprint::Width;
use crate::output::Sum;
use crate::store::digest::Digest;

/// What a segment opens and ends with.
pub(crate) const MAGIC: [u8; 8] = *b"DUPSIEVE";

/// The version of the format.
pub(crate) const VERSION: u32 = 1;

/// What became of the records that a segment was made from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Records read: the sum of the next four.
    pub read: u64,
    /// Documents that got a fingerprint.
    pub fingerprinted: u64,
    /// Documents without any feature.
    pub empty: u64,
    /// Documents whose id had come before.
    pub repeated: u64,
    /// Records that could not be read.
    pub quarantined: u64,
    /// Blank lines, which are no records.
    pub blank: u64,
    /// Packed files that broke off and were taken as far as they go.
    #[serde(default)]
    pub truncated: u64,
}

/// The part of a segment that people read: JSON near its end.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Metadata {
    pub(crate) stamp: String,
    pub(crate) counts: Counts,
    pub(crate) identity: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) quarantine: Option<Sum>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) repeated: Option<Sum>,
}

/// The digest of what a segment holds: its width, its columns (whose checksums stand for their
/// blocks), its recipe; not of where it comes from.
pub(crate) fn content_digest(width: Width, table: &[u8], stamp: &str) -> Digest {
    let mut hasher = Xxh3::new();
    hasher.update(&width.bits().to_le_bytes());
    hasher.update(&(table.len() as u64).to_le_bytes());
    hasher.update(table);
    hasher.update(stamp.as_bytes());
    Digest(hasher.digest128())
}
