//! The section `[store]` of a configuration file: where the store is, and how it is kept. `store = "PATH"`
//! is short for a section with the path alone.

use std::num::NonZero;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

use crate::flags::place::Place;

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
