//! The section `[store]` of a configuration file: where the store is, and how it is kept. `store = "PATH"`
//! is short for a section with the path alone.

use std::borrow::Cow;
use std::fmt;
use std::num::NonZero;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};

use crate::flags::place::Place;

/// Where the store is, and how `run` keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoreSettings {
    /// The folder. None if the file does not say.
    pub(crate) path: Option<Place>,
    /// Whether segments are merged after a day was added, so that there are never many.
    pub(crate) compact: bool,
    /// The number of days that the store shows, the newest among them. None shows all.
    pub(crate) keep_days: Option<NonZero<u64>>,
    /// The number of versions that are kept after a day was added. None keeps all.
    pub(crate) keep_versions: Option<NonZero<u64>>,
    /// What becomes of pages that a page of a new day contains.
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

impl<'de> Deserialize<'de> for StoreSettings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<StoreSettings, D::Error> {
        deserializer.deserialize_any(PathOrSection)
    }
}

impl JsonSchema for StoreSettings {
    fn schema_name() -> Cow<'static, str> {
        "Store".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({"anyOf": [{"type": "string"}, generator.subschema_for::<Section>()]})
    }
}

/// The section with all its keys.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "StoreSection")]
struct Section {
    /// The folder of the store.
    path: Place,
    /// Whether segments are merged after a day was added, so that there are never many.
    #[serde(default = "yes")]
    compact: bool,
    /// How many days of the calendar are shown after a day was added, counted back from the newest [default: all].
    keep_days: Option<NonZero<u64>>,
    /// How many versions are kept after a day was added [default: all].
    keep_versions: Option<NonZero<u64>>,
    /// What becomes of the pages of the store that a page of a new day contains, where the check says which [default: hide].
    #[serde(default)]
    replaced: Replaced,
}

fn yes() -> bool {
    true
}

struct PathOrSection;

impl<'de> Visitor<'de> for PathOrSection {
    type Value = StoreSettings;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the path of a store, or a section with its path and settings")
    }

    fn visit_str<E: Error>(self, path: &str) -> Result<StoreSettings, E> {
        Ok(StoreSettings { path: Some(path.into()), ..StoreSettings::default() })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<StoreSettings, A::Error> {
        let section = Section::deserialize(MapAccessDeserializer::new(map))?;
        let Section { path, compact, keep_days, keep_versions, replaced } = section;
        Ok(StoreSettings { path: Some(path), compact, keep_days, keep_versions, replaced })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    struct File {
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
            ("store = 1", "the path of a store"),
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
