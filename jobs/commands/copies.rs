//! The copies of near pages: how many pages the days of `run` have dropped as their duplicates, by the outputs of these days.

use std::path::PathBuf;

use clap::Args;
use dupsieve::report::{Copies, Outputs};
use dupsieve::store::{Day, Digest, Entry, Version};
use dupsieve::{Error, Kind, Result};

use crate::flags::{GlobalFlags, Place};

#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct CopiesFlag {
    /// Count the copies of each near page: the pages that the days of `run` have dropped as its duplicates, and of how many
    /// hosts they are. Needs --config with the file of `run`
    #[arg(long)]
    copies: bool,
}

pub(crate) struct CopyCounter {
    /// The output folder of a day.
    output: String,
    memory_bytes: usize,
}

/// A day of a store, and the folder of its output, if it is there.
type DayOutput = (Day, Digest, Option<PathBuf>);

pub(crate) struct Counted {
    days: Vec<DayOutput>,
    pub(crate) copies: Copies,
}

impl CopiesFlag {
    pub(crate) fn counter(self, global: &GlobalFlags) -> Result<Option<CopyCounter>> {
        if !self.copies {
            return Ok(None);
        }
        let output = global.config()?.output.path.ok_or_else(|| {
            Error::new(Kind::Usage, "--copies needs the configuration file of `run`")
                .help("give the file with --config")
        })?;
        Ok(Some(CopyCounter { output, memory_bytes: global.budget().documents() }))
    }
}

impl CopyCounter {
    /// Counts the copies of the pages of `version`; none if that is `counted` already.
    pub(crate) fn count(
        &self,
        version: &Version,
        counted: Option<&Counted>,
    ) -> Result<Option<Counted>> {
        let output = |entry: &Entry| -> Result<DayOutput> {
            let folder = Place::from(entry.day.expand(&self.output)).here()?;
            let is_there = folder.join("dedup/report.json").exists();
            Ok((entry.day, entry.source, is_there.then_some(folder)))
        };
        let entries = version.all_entries();
        let days = entries.iter().map(output).collect::<Result<Vec<DayOutput>>>()?;
        if counted.is_some_and(|counted| counted.days == days) {
            return Ok(None);
        }
        // A day that was added whole has dropped no page.
        let is_whole = |day: Day| version.entry(day).is_some_and(|entry| entry.only.is_none());
        let missing = days.iter().filter(|(day, _, folder)| folder.is_none() && !is_whole(*day));
        let missing: Vec<Day> = missing.map(|(day, ..)| *day).collect();
        if let [first, .., last] | [first @ last] = &missing[..] {
            tracing::warn!(
                "the pages that {} of the days from {first} to {last} dropped are not counted: their outputs are not where the file says",
                missing.len()
            );
        }
        let folders: Vec<PathBuf> = days.iter().filter_map(|(.., folder)| folder.clone()).collect();
        let outputs = Outputs::open(&folders, |_| true)?;
        let copies = outputs.copies(is_whole, &std::env::temp_dir(), self.memory_bytes)?;
        Ok(Some(Counted { days, copies }))
    }
}
