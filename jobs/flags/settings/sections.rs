//! The sections that only files have: `[output]`, `[store]`, `[clusters]` and `[passages]`. `output = "PATH"` and `store = "PATH"` are short
//! for a section with the path alone.

use std::num::NonZero;

use clap::Args;
use dupsieve::clusters::Method;
use dupsieve::passages::Cut;
use dupsieve::results::ResultFormat;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

use super::{allowed, typed};
use crate::flags::place::Place;

/// The format of tables, as the command line says it.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct FormatFlag {
    /// Format of the tables, such as matches and verdicts: tsv, parquet or jsonl. All commands read all of them
    /// [default: tsv]
    #[arg(long, value_name = "FORMAT", env = "DUPSIEVE_OUTPUT_FORMAT")]
    pub(crate) output_format: Option<ResultFormat>,
}

impl FormatFlag {
    pub(crate) fn or(self, file: &OutputSettings) -> ResultFormat {
        self.output_format.or(file.format).unwrap_or_default()
    }
}

/// Where the outputs of a day are, and how their tables are written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "OutputSection")]
pub(crate) struct OutputSettings {
    /// The output folder of a day. It must contain `{date}` or all three parts.
    pub(crate) path: Option<String>,
    /// The format of the tables, such as matches and verdicts.
    #[schemars(schema_with = "allowed::result_format")]
    pub(crate) format: Option<ResultFormat>,
}

impl From<String> for OutputSettings {
    fn from(path: String) -> OutputSettings {
        OutputSettings { path: Some(path), format: None }
    }
}

/// Where the store is, and how `run` keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "StoreSection")]
pub(crate) struct StoreSettings {
    /// The folder of the store.
    #[serde(deserialize_with = "needed")]
    #[schemars(with = "Place")]
    pub(crate) path: Option<Place>,
    /// Whether segments are merged after a day was added, so that there are never many.
    #[serde(default = "yes")]
    pub(crate) compact: bool,
    /// How many days of the calendar are shown after a day was added, counted back from the newest [default: all].
    pub(crate) keep_days: Option<NonZero<u64>>,
    /// How many versions are kept after a day was added [default: all].
    pub(crate) keep_versions: Option<NonZero<u64>>,
    /// What becomes of the pages of the store that a page of a new day contains, where the check says which [default: hide].
    #[serde(default)]
    pub(crate) replaced: Replaced,
}

/// What becomes of the pages of a store that a page of a new day contains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Replaced {
    /// They are hidden from the version on that has the new page.
    #[default]
    Hide,
    /// They stay.
    Keep,
}

impl Default for StoreSettings {
    fn default() -> StoreSettings {
        StoreSettings {
            path: None,
            compact: true,
            keep_days: None,
            keep_versions: None,
            replaced: Replaced::Hide,
        }
    }
}

impl From<String> for StoreSettings {
    fn from(path: String) -> StoreSettings {
        StoreSettings { path: Some(path.into()), ..StoreSettings::default() }
    }
}

fn needed<'de, D: Deserializer<'de>>(path: D) -> Result<Option<Place>, D::Error> {
    Place::deserialize(path).map(Some)
}

fn yes() -> bool {
    true
}

/// How `run` makes the clusters of a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClustersSettings {
    /// Which pages are one cluster.
    #[serde(default)]
    #[schemars(schema_with = "allowed::method")]
    pub(crate) method: Method,
    /// Whether the tables of clusters and sizes are written for each day.
    #[serde(default = "yes")]
    pub(crate) lists: bool,
}

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

#[cfg(test)]
mod tests {
    use super::super::path_or;
    use super::*;

    #[derive(Debug, Deserialize)]
    struct File {
        #[serde(deserialize_with = "path_or::deserialize")]
        store: StoreSettings,
    }

    fn read(text: &str) -> Result<StoreSettings, String> {
        toml::from_str::<File>(text).map(|file| file.store).map_err(|error| error.to_string())
    }

    #[test]
    fn a_store_is_a_path_or_a_section() {
        let path = StoreSettings { path: Some("a/store".into()), ..StoreSettings::default() };
        assert_eq!(read("store = \"a/store\""), Ok(path.clone()));
        assert_eq!(read("[store]\npath = \"a/store\""), Ok(path.clone()));
        let kept = StoreSettings {
            compact: false,
            keep_days: NonZero::new(9),
            keep_versions: NonZero::new(7),
            replaced: Replaced::Keep,
            ..path
        };
        let section = "[store]\npath = \"a/store\"\ncompact = false\nkeep_days = 9\nkeep_versions = 7\nreplaced = \"keep\"";
        assert_eq!(read(section), Ok(kept));
        let wrong = [
            ("store = 1", "a path, or a section"),
            ("[store]\ncompact = true", "missing field `path`"),
            ("[store]\npath = \"a\"\nkeep = 1", "unknown field `keep`"),
            ("[store]\npath = \"a\"\nkeep_versions = 0", "nonzero"),
            ("[store]\npath = \"a\"\nkeep_days = 0", "nonzero"),
            ("[store]\npath = \"a\"\nreplaced = \"drop\"", "expected `hide` or `keep`"),
        ];
        for (text, said) in wrong {
            let error = read(text).unwrap_err();
            assert!(error.contains(said), "{error}");
        }
    }
}
