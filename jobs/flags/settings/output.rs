//! The section `[output]` of a configuration file: where the outputs of a day are, and in which format their tables are
//! written. `output = "PATH"` is short for a section with the path alone.

use std::borrow::Cow;
use std::fmt;

use clap::Args;
use dupsieve::rooms::results::ResultFormat;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};

use super::allowed;

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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OutputSettings {
    /// The folder, which must contain `{date}` or all three parts. None if the file does not say.
    pub(crate) path: Option<String>,
    /// The format. None if the file does not say.
    pub(crate) format: Option<ResultFormat>,
}

impl<'de> Deserialize<'de> for OutputSettings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<OutputSettings, D::Error> {
        deserializer.deserialize_any(PathOrSection)
    }
}

impl JsonSchema for OutputSettings {
    fn schema_name() -> Cow<'static, str> {
        "Output".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({"anyOf": [{"type": "string"}, generator.subschema_for::<Section>()]})
    }
}

/// The section with all its keys.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "OutputSection")]
struct Section {
    /// The output folder of a day. It must contain `{date}` or all three parts.
    path: Option<String>,
    /// The format of the tables, such as matches and verdicts.
    #[schemars(schema_with = "allowed::result_format")]
    format: Option<ResultFormat>,
}

struct PathOrSection;

impl<'de> Visitor<'de> for PathOrSection {
    type Value = OutputSettings;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the path of the outputs, or a section with their path and format")
    }

    fn visit_str<E: Error>(self, path: &str) -> Result<OutputSettings, E> {
        Ok(OutputSettings { path: Some(path.to_owned()), format: None })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<OutputSettings, A::Error> {
        let Section { path, format } = Section::deserialize(MapAccessDeserializer::new(map))?;
        Ok(OutputSettings { path, format })
    }
}
