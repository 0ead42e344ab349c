//! Configuration files: what `run` reads, and what `--config` gives any other job.
//!
//! The sections hold the same settings as the flags, so each is one struct, read by clap and by serde.

use std::path::{Path, PathBuf};

use dupsieve::store::DayRange;
use dupsieve::{Error, Kind, Result};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::flags::cluster::ClusterSettings;
use crate::flags::settings::{DedupSettings, FingerprintSettings, read_text};

/// A whole file. Unknown keys are refused.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    /// Paths, folders and globs of the day's pages. `{date}` stands for the day, `{year}`, `{month}`
    /// and `{day}` for its parts.
    #[serde(default)]
    pub(crate) inputs: Vec<String>,
    /// The folder for the day's output, with `{date}` or all three parts in it.
    pub(crate) output: Option<String>,
    /// The store.
    pub(crate) store: Option<PathBuf>,
    /// What enters the store.
    #[serde(default)]
    pub(crate) add: Add,
    /// The days to take, in this order, when the command line names none: days, or ranges `A..B`.
    #[serde(default)]
    pub(crate) dates: Vec<DayRange>,
    #[serde(default)]
    pub(crate) fingerprint: FingerprintSettings,
    #[serde(default)]
    pub(crate) dedup: DedupSettings,
    #[serde(default)]
    pub(crate) cluster: ClusterSettings,
}

/// What enters the store after a day has been joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Add {
    /// The pages that were kept.
    #[default]
    Kept,
    /// Every page with a fingerprint.
    All,
}

impl Config {
    /// Reads a configuration file.
    pub(crate) fn read(path: &Path) -> Result<Config> {
        parse(&read_text(path)?).map_err(|error| error.at(path))
    }
}

fn parse<T: DeserializeOwned>(text: &str) -> Result<T> {
    toml::from_str(text).map_err(|cause| {
        let error = Error::new(Kind::Config, cause.message());
        match cause.span() {
            Some(span) => {
                let line = text[..span.start].matches('\n').count();
                let error = error.line(1 + line as u64);
                error.found(text.lines().nth(line).unwrap_or_default().trim())
            }
            None => error,
        }
    })
}
