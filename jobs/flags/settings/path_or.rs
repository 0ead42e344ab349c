//! A section of which the path alone can be given: `KEY = "PATH"` is short for a section with that path.

use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};

pub(crate) fn deserialize<'de, D, S>(value: D) -> Result<S, D::Error>
where
    D: Deserializer<'de>,
    S: Deserialize<'de> + From<String>,
{
    value.deserialize_any(PathOr(PhantomData))
}

pub(crate) fn schema<S: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({"anyOf": [{"type": "string"}, generator.subschema_for::<S>()]})
}

struct PathOr<S>(PhantomData<S>);

impl<'de, S: Deserialize<'de> + From<String>> Visitor<'de> for PathOr<S> {
    type Value = S;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a path, or a section with the path and settings")
    }

    fn visit_str<E: Error>(self, path: &str) -> Result<S, E> {
        Ok(S::from(path.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, section: A) -> Result<S, A::Error> {
        S::deserialize(MapAccessDeserializer::new(section))
    }
}
