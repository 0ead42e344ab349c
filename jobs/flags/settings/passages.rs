//! The section `[passages]` of a configuration file: where it stands, `run` lists the passages of each day that stood earlier.

use dupsieve::rooms::passages::Cut;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{allowed, typed};

/// Which passages of a day are listed, and cut out of its clean files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PassagesSettings {
    /// How many words a passage has at least: 50 or more.
    #[serde(default = "usual")]
    pub(crate) words: usize,
    /// What goes with a passage out of the copies that `kept` asks for: words (to the word), lines (whole lines and sentences that are repeated)
    /// or paragraphs. Without it the pages are copied as they came.
    #[serde(default, deserialize_with = "typed::deserialize")]
    #[schemars(schema_with = "allowed::cut")]
    pub(crate) cut: Option<Cut>,
}

fn usual() -> usize {
    50
}
