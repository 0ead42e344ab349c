//! The section `[passages]` of a configuration file: where it stands, `run` lists the passages of each day that stood earlier.

use schemars::JsonSchema;
use serde::Deserialize;

/// Which passages of a day are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PassagesSettings {
    /// How many words a passage has at least: 50 or more.
    #[serde(default = "usual")]
    pub(crate) words: usize,
}

fn usual() -> usize {
    50
}
