//! The formats of tables, by name.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Kind, Result};

/// How a table is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[non_exhaustive]
pub enum ResultFormat {
    /// Tab-separated columns with a header line.
    #[default]
    Tsv,
    /// Apache Parquet.
    Parquet,
    /// One JSON object a line.
    JsonLines,
}

impl ResultFormat {
    /// All of them.
    pub const ALL: [ResultFormat; 3] =
        [ResultFormat::Tsv, ResultFormat::Parquet, ResultFormat::JsonLines];

    /// Its name, which is also how the names of its files end.
    pub fn name(self) -> &'static str {
        match self {
            ResultFormat::Tsv => "tsv",
            ResultFormat::Parquet => "parquet",
            ResultFormat::JsonLines => "jsonl",
        }
    }

    /// The name of the file that holds a table.
    pub fn file_name(self, table: &str) -> String {
        format!("{table}.{}", self.name())
    }

    /// The format of a table at `path` by how its name ends; TSV for all other names.
    pub fn of_path(path: &Path) -> ResultFormat {
        let extension = path.extension().and_then(|extension| extension.to_str());
        let named = |format: &ResultFormat| extension == Some(format.name());
        ResultFormat::ALL.into_iter().find(named).unwrap_or_default()
    }

    /// Fails if this build cannot read and write the format.
    ///
    /// # Errors
    /// [`Kind::Usage`], with the feature that is missing.
    pub fn check(self) -> Result<()> {
        if self == ResultFormat::Parquet && cfg!(not(feature = "parquet")) {
            return Err(Error::new(Kind::Usage, "this dupsieve was built without Parquet")
                .help("build it with the feature `parquet`, or choose tsv or jsonl"));
        }
        Ok(())
    }
}

impl fmt::Display for ResultFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ResultFormat {
    type Err = Error;

    fn from_str(text: &str) -> Result<ResultFormat> {
        let named = ResultFormat::ALL.into_iter().find(|format| format.name() == text);
        let format = named.ok_or_else(|| {
            Error::new(Kind::Usage, "no such format")
                .expected("tsv, parquet or jsonl")
                .found(format_args!("`{text}`"))
        })?;
        format.check().map(|()| format)
    }
}

impl TryFrom<String> for ResultFormat {
    type Error = Error;

    fn try_from(text: String) -> Result<ResultFormat> {
        text.parse()
    }
}

impl From<ResultFormat> for String {
    fn from(format: ResultFormat) -> String {
        format.to_string()
    }
}
