//! The section `[output]` of a configuration file: where the outputs of a day are, and in which format their tables are
//! written. `output = "PATH"` is short for a section with the path alone.

use clap::Args;
use dupsieve::rooms::results::ResultFormat;
use schemars::JsonSchema;
use serde::Deserialize;

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
