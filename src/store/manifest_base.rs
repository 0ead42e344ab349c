//! What a manifest is based on, where it is not whole (see `manifest_file`).

use serde::{Deserialize, Serialize};

use super::day::Day;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Base {
    pub(super) version: u64,
    /// The XXH3-64 of that manifest, of the whole file, in hex.
    pub(super) checksum: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) gone: Vec<Day>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) replaced: Vec<String>,
}
