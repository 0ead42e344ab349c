//! What a configuration file says of each day: where its inputs are, where its output goes, and which
//! store it enters.

use std::collections::HashSet;
use std::path::{self, Path, PathBuf};

use dupsieve::store::{Day, Store};
use dupsieve::{Error, Kind, Result};

use crate::commands::dedup;
use crate::commands::fingerprint;
use crate::commands::pages::PageSource;
use crate::commands::store_at::StoreAt;
use crate::flags::config::{Add, Config};

/// What a configuration file asks for, with what it must name.
pub(crate) struct Plan<'a> {
    pub(crate) config: &'a Config,
    output: &'a str,
    pub(crate) store: PathBuf,
    /// The days to run, each once, in the order in which they were named first.
    pub(crate) days: Vec<Day>,
}

impl Plan<'_> {
    pub(crate) fn of(config: &Config) -> Result<Plan<'_>> {
        let missing = |key: &str| {
            Error::new(Kind::Config, format!("the file does not say `{key}`"))
                .help("see configs/local.toml for a whole one")
        };
        let output = config.output.as_deref().ok_or_else(|| missing("output"))?;
        let store = config.store.as_deref().ok_or_else(|| missing("store"))?;
        if config.inputs.is_empty() {
            return Err(missing("inputs"));
        }
        let has = |part: &str| output.contains(part);
        if !has("{date}") && !["{year}", "{month}", "{day}"].into_iter().all(has) {
            return Err(Error::new(Kind::Config, "several days would have the same output")
                .expected("{date}, or {year}, {month} and {day}, in `output`")
                .found(output));
        }
        let mut met = HashSet::new();
        let named = config.dates.iter().flat_map(|range| range.days());
        let days: Vec<Day> = named.filter(|&day| met.insert(day)).collect();
        Ok(Plan { config, output, store: absolute(store), days })
    }

    /// The folder for the output of a day.
    pub(crate) fn output(&self, day: Day) -> PathBuf {
        absolute(&self.named_output(day))
    }

    /// The folder for the output of a day, as the file names it.
    pub(crate) fn named_output(&self, day: Day) -> PathBuf {
        PathBuf::from(day.expand(self.output))
    }

    /// Says where the inputs of a day are looked for, if that is why the job failed.
    pub(crate) fn explain(&self, day: Day, error: Error) -> Error {
        if error.kind() != Kind::Missing || self.inputs(day).all(|it| Path::new(&it).is_absolute())
        {
            return error;
        }
        let paths = self.inputs(day).map(|it| absolute(Path::new(&it)).display().to_string());
        error.help(format!(
            "the inputs of {day} are looked for at {}; relative paths start at the working directory",
            paths.collect::<Vec<_>>().join(", ")
        ))
    }

    /// The inputs of a day, as the file names them.
    pub(crate) fn inputs(&self, day: Day) -> impl Iterator<Item = String> {
        self.config.inputs.iter().map(move |input| day.expand(input))
    }

    /// Whether the store holds a day.
    pub(crate) fn is_held(&self, day: Day) -> bool {
        let newest = Store::open(&self.store).and_then(|store| store.at(None));
        newest.is_ok_and(|version| version.entry(day).is_some())
    }

    /// Advises --redo if an output cannot be made because another one exists and the store holds its
    /// day. --overwrite does not help then: that day, and all days joined after it, must leave the store.
    pub(crate) fn advise_redo(&self, day: Day, config: &Path, error: Error) -> Error {
        if error.kind() != Kind::Exists || !self.is_held(day) {
            return error;
        }
        error.help(format!(
            "the store holds {day}: `run {} --redo {day}` makes it again, with the days after it",
            config.display()
        ))
    }

    /// The segment of a day.
    pub(crate) fn batch(&self, day: Day) -> PathBuf {
        self.output(day).join("batch.seg")
    }

    /// The folder for what is found of a day.
    pub(crate) fn found(&self, day: Day) -> PathBuf {
        self.output(day).join("dedup")
    }

    /// The segment of a day, as it is asked for.
    pub(crate) fn to_fingerprint(&self, day: Day) -> fingerprint::Request {
        fingerprint::Request {
            inputs: self.inputs(day).map(PathBuf::from).collect(),
            output: self.batch(day),
            settings: self.config.fingerprint.clone(),
        }
    }

    /// The join of a day with the store before it, as it is asked for.
    pub(crate) fn to_join(&self, day: Day) -> dedup::Request {
        dedup::Request {
            batch: self.batch(day),
            batch_place: None,
            store: StoreAt::Before(self.store.clone(), day),
            output: self.found(day),
            settings: self.config.dedup.clone(),
            pages: Some(PageSource::new(&self.config.inputs, &self.config.fingerprint)),
        }
    }

    /// The list of what enters the store, of what stands in `found`, unless all of it does.
    pub(crate) fn only(&self, found: &Path) -> Option<PathBuf> {
        (self.config.add == Add::Kept).then(|| found.join("keep.txt"))
    }
}

/// The path with the working directory before it if it is relative.
fn absolute(path: &Path) -> PathBuf {
    path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}
