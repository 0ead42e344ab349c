//! What a manifest is based on, where it is not whole (see `manifest_file`).

use serde::{Deserialize, Serialize};

use super::day::Day;

/// The base of a manifest, and what of that is not in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Base {
    /// The version whose manifest is the base.
    pub(super) version: u64,
    /// The XXH3-64 of that manifest, of the whole file, in hex.
    pub(super) checksum: String,
    /// Days that are not there any more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) gone: Vec<Day>,
    /// Merged files that are not there any more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) replaced: Vec<String>,
}
