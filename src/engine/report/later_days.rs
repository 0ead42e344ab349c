//! The later days that a late day finds in the store.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::matches::VERDICTS;
use crate::results::ResultReader;
use crate::store::{Day, Version};

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

    /// The days, as a sentence names them.
    pub fn named(&self) -> String {
        let LaterDays { days, first, last, .. } = self;
        match days {
            1 => first.to_string(),
            2 => format!("{first} and {last}"),
            _ => format!("{days} days from {first} to {last}"),
        }
    }
}

/// How many pages the verdicts in the folder `output` drop as duplicates of pages of days after `day`.
pub(super) fn dropped_after(output: &Path, day: Day) -> Result<u64> {
    let mut verdicts = ResultReader::of(output, VERDICTS)?;
    let mut dropped = 0;
    while let Some(row) = verdicts.next_row()? {
        // A page of the batch itself is dropped against `batch`, which is no day.
        let against = row.split('\t').nth(4).and_then(|against| against.parse::<Day>().ok());
        dropped += u64::from(against.is_some_and(|against| against > day));
    }
    Ok(dropped)
}
