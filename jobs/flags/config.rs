//! Configuration files, which `run` reads, and other commands with `--config`. A section holds the same
//! settings as the flags: one struct, read by clap and by serde.

use std::path::Path;

use dupsieve::join::Preset;
use dupsieve::object_storage::Address;
use dupsieve::store::DayRange;
use dupsieve::{Error, Kind, Result};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::flags::machines::MachineSettings;
use crate::flags::settings::{
    ClustersSettings, DedupSettings, FingerprintSettings, OutputSettings, PassagesSettings,
    StoreSettings, allowed, path_or, read_text, typed,
};

/// A configuration file. Unknown keys are refused.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    /// Files, folders, globs and addresses (`s3://BUCKET/...`) with the pages of a day. `{date}` is replaced by the day, and `{year}`,
    /// `{month}` and `{day}` by its parts.
    #[serde(default)]
    pub(crate) inputs: Vec<String>,
    /// The output folder of a day: a path, or a section.
    #[serde(default, deserialize_with = "path_or::deserialize")]
    #[schemars(schema_with = "path_or::schema::<OutputSettings>")]
    pub(crate) output: OutputSettings,
    /// The folder that the kept pages of a day are copied to, as they came or without their passages: for each input file a file of the same name
    /// and format. It must contain `{date}` or all three parts. None are copied without it.
    pub(crate) kept: Option<String>,
    /// The store: a path, or a section.
    #[serde(default, deserialize_with = "path_or::deserialize")]
    #[schemars(schema_with = "path_or::schema::<StoreSettings>")]
    pub(crate) store: StoreSettings,
    /// Which pages enter the store.
    #[serde(default)]
    pub(crate) add: Add,
    /// The days to run if the command line names none, in this order: days, or ranges `A..B`.
    #[serde(default)]
    #[schemars(schema_with = "allowed::days")]
    pub(crate) dates: Vec<DayRange>,
    /// The preset of `[fingerprint]` and `[dedup]`, unless a section names its own.
    #[serde(default, deserialize_with = "typed::deserialize")]
    #[schemars(schema_with = "allowed::preset")]
    pub(crate) preset: Option<Preset>,
    #[serde(default)]
    pub(crate) fingerprint: FingerprintSettings,
    #[serde(default)]
    pub(crate) dedup: DedupSettings,
    #[serde(default)]
    pub(crate) machines: MachineSettings,
    /// How the clusters of a day are made; none are made without the section.
    pub(crate) clusters: Option<ClustersSettings>,
    /// Which passages of each day are listed that stood in earlier pages; none without the section. All days of a store have it, or none.
    pub(crate) passages: Option<PassagesSettings>,
}

/// Which pages enter the store after a day has been joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Add {
    /// The pages that were kept.
    #[default]
    Kept,
    /// Every page with a fingerprint.
    All,
}

impl Config {
    pub(crate) fn read(path: &Path) -> Result<Config> {
        Config::of(&read_text(path)?, path)
    }

    pub(crate) fn of(text: &str, path: &Path) -> Result<Config> {
        let mut config: Config = parse(text).map_err(|error| error.at(path))?;
        let made = &mut config.fingerprint.made;
        made.preset = made.preset.or(config.preset);
        config.dedup.preset = config.dedup.preset.or(config.preset);
        if let Some(PassagesSettings { words, .. }) = config.passages {
            config.fingerprint.made.keep_passages = Some(true);
            config.dedup.passages = Some(words);
        }
        Ok(config)
    }

    pub(crate) fn mount_tables(&self) -> Result<()> {
        self.fingerprint.made.boilerplate.as_ref().map_or(Ok(()), |table| table.here().map(drop))
    }
}

fn parse<T: DeserializeOwned>(text: &str) -> Result<T> {
    toml::from_str(text).map_err(|cause| {
        let error = Error::new(Kind::Config, cause.message());
        let Some(span) = cause.span() else { return error };
        let line = text[..span.start].matches('\n').count();
        let words = text.lines().nth(line).unwrap_or_default().split_whitespace();
        let shown: Vec<String> = words.map(Address::without_secrets).collect();
        error.line(1 + line as u64).found(shown.join(" "))
    })
}
