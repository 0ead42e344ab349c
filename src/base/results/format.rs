//! The formats of tables, by name.

use std::path::Path;
use std::str::FromStr;

use crate::error::{Error, Kind, Result, as_text, by_name, named};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResultFormat {
    #[default]
    Tsv,
    Parquet,
    JsonLines,
}

named!(pub ResultFormat { Tsv = "tsv", Parquet = "parquet", JsonLines = "jsonl" });

impl ResultFormat {
    pub fn file_name(self, table: &str) -> String {
        format!("{table}.{}", self.name())
    }

    /// The format of a table at `path` by how its name ends; TSV for all other names.
    pub fn of_path(path: &Path) -> ResultFormat {
        let extension = path.extension().and_then(|extension| extension.to_str());
        let named = |format: &ResultFormat| extension == Some(format.name());
        ResultFormat::ALL.into_iter().find(named).unwrap_or_default()
    }

    pub fn check(self) -> Result<()> {
        if self == ResultFormat::Parquet && cfg!(not(feature = "parquet")) {
            return Err(Error::new(Kind::Usage, "this dupsieve was built without Parquet")
                .help("build it with the feature `parquet`, or choose tsv or jsonl"));
        }
        Ok(())
    }
}

impl FromStr for ResultFormat {
    type Err = Error;

    fn from_str(text: &str) -> Result<ResultFormat> {
        let named = ResultFormat::ALL.map(|format| (format.name(), format));
        let format = by_name(&named, text, "no such format")?;
        format.check().map(|()| format)
    }
}

as_text!(ResultFormat);
