//! `report.json` of a join: what the output was made from, and the proof that it is complete.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::html;
use super::join_page;
use super::made::Made;
use super::parameters::Parameters;
use super::seal::damaged;
use crate::document::PageKey;
use crate::error::Result;
use crate::fingerprint::Stamp;
use crate::join::Proof;
use crate::matches::{Lost, Outcome, VERDICTS};
use crate::output::Sum;
use crate::passages::DayPassagesFound;
use crate::results::ResultReader;
use crate::store::{Day, Digest, RecordCounts, Version};

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Report {
    pub dupsieve: String,
    /// The day of the batch, if `run` made the output.
    #[serde(default)]
    pub day: Option<Day>,
    pub recipe: Value,
    /// A run with the same parameters finds its output done.
    pub parameters: Parameters,
    pub store_version: Option<u64>,
    /// The digest of what had been removed from it until then, if something had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removals: Option<Digest>,
    /// The later days that the store held, if the day was run late.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub later_days: Option<LaterDays>,
    pub batch: RecordCounts,
    pub outcome: Outcome,
    /// How much text goes with the dropped pages, where a check says which share of each page the page named contains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<Lost>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passages: Option<DayPassagesFound>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<Proof>,
    /// How it was run: the one part that differs from run to run.
    pub run: Value,
}

impl Report {
    /// What the keys of the pages are made of, if they have keys.
    pub fn key(&self) -> Option<PageKey> {
        Stamp::parse(&self.recipe.to_string()).ok()?.key()
    }

    /// Fails if the report says of the later days what the verdicts in `output` contradict.
    pub fn check_later_days(&self, output: &Path) -> Result<()> {
        let (Some(later), Some(day)) = (&self.later_days, self.day) else { return Ok(()) };
        let dropped = dropped_after(output, day)?;
        if later.dropped == dropped {
            return Ok(());
        }
        let what = "the verdicts drop another number of pages as duplicates of later days than the report says";
        Err(damaged(what).at(output.join(Report::NAME)).expected(dropped).found(later.dropped))
    }
}

impl Made for Report {
    const JOB: Option<&str> = None;

    fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    fn run(&self) -> &Value {
        &self.run
    }

    fn run_mut(&mut self) -> &mut Value {
        &mut self.run
    }

    fn drawn(&self) -> String {
        let found = (&self.batch, &self.outcome, self.lost.as_ref());
        join_page::drawn(self, found, &self.run, Path::new(html::place(&self.run)))
    }

    fn files(&self) -> &BTreeMap<String, Sum> {
        &self.outcome.files
    }
}

/// The later days that the store held when a day was joined. Pages of that day were dropped as duplicates of pages that were crawled
/// after them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LaterDays {
    pub days: u64,
    pub first: Day,
    pub last: Day,
    pub dropped: u64,
}

impl LaterDays {
    /// The days of `version` after `day`, whose verdicts are in the folder `output`; none if the version holds no later day.
    pub fn of(version: &Version, day: Day, output: &Path) -> Result<Option<LaterDays>> {
        let entries = version.entries();
        let later = &entries[entries.partition_point(|entry| entry.day <= day)..];
        let (Some(first), Some(last)) = (later.first(), later.last()) else { return Ok(None) };
        let dropped = dropped_after(output, day)?;
        let days = later.len() as u64;
        Ok(Some(LaterDays { days, first: first.day, last: last.day, dropped }))
    }

    pub fn named(&self) -> String {
        let LaterDays { days, first, last, .. } = self;
        match days {
            1 => first.to_string(),
            2 => format!("{first} and {last}"),
            _ => format!("{days} days from {first} to {last}"),
        }
    }
}

fn dropped_after(output: &Path, day: Day) -> Result<u64> {
    let mut verdicts = ResultReader::of(output, VERDICTS)?;
    let mut dropped = 0;
    while let Some(row) = verdicts.next_row()? {
        // A page of the batch itself is dropped against `batch`, which is no day.
        let against = row.split('\t').nth(4).and_then(|against| against.parse::<Day>().ok());
        dropped += u64::from(against.is_some_and(|against| against > day));
    }
    Ok(dropped)
}

pub fn records(counts: &RecordCounts) -> String {
    let RecordCounts {
        read,
        fingerprinted,
        empty,
        repeated,
        quarantined,
        removed,
        blank,
        truncated,
        unread_bytes,
        skipped,
    } = counts;
    let removed = if *removed > 0 { format!("{removed} removed, ") } else { String::new() };
    let mut told = format!(
        "{read} read, {fingerprinted} fingerprinted, {empty} empty, {repeated} repeated, \
         {quarantined} quarantined, {removed}{blank} blank, {truncated} truncated"
    );
    if *unread_bytes > 0 {
        told += &format!(", {unread_bytes} bytes unread");
    }
    if skipped.is_empty() { told } else { format!("{told}, skipped: {skipped}") }
}
