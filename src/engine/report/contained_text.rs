//! What the kept pages contain of all text that was read on many days, estimated from what each day says that it lost.
//!
//! The text of a page is its 3-word shingles, and each page counts by itself. A kept page contains its own text. Of a dropped
//! page the day's [`Lost`](crate::matches::Lost) says what the kept page lacks. A page of the store that was replaced counts as a page of the
//! mean length, of which its successor lacks what `replaced` tells; so does a page that was dropped as its duplicate before, which the successor contains
//! at worst to the product of two shares. It is another share than that
//! of the distinct shingles of all pages, in which a page that comes again each day counts once.

use std::collections::HashMap;
use std::path::Path;

use serde::Serialize;
use xxhash_rust::xxh3::xxh3_128;

use super::verdicts::each_contained;
use crate::error::Result;
use crate::matches::{Lost, each_replaced};

pub(super) struct DayText<'a> {
    pub(super) folder: &'a Path,
    /// The day, as tables name it.
    pub(super) day: &'a str,
    pub(super) pages: u64,
    pub(super) lost: Option<Lost>,
    pub(super) replaces: bool,
}

/// What the kept pages contain of the text of all pages that were read.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ContainedText {
    /// The 3-word shingles of all pages, each page by itself.
    pub runs: u64,
    /// The share of them that the kept pages contain, by estimate.
    pub containment: f64,
    pub replaced: u64,
    /// How many dropped pages are contained only through a page that was replaced after them.
    pub through_replaced: u64,
}

impl ContainedText {
    /// The same of these days; none if one of them does not tell how much it lost.
    pub(super) fn of(days: &[DayText<'_>]) -> Result<Option<ContainedText>> {
        let (mut runs, mut lost, mut pages) = (0, 0.0, 0);
        for day in days {
            let Some(of_day) = day.lost.filter(|it| it.shingles > 0 || day.pages == 0) else {
                return Ok(None);
            };
            runs += of_day.shingles;
            lost += of_day.share * of_day.dropped_shingles as f64;
            pages += day.pages;
        }
        if runs == 0 {
            return Ok(None);
        }
        let mean = runs as f64 / pages.max(1) as f64;
        // Of each replaced page what its successor lacks.
        let mut lacking: HashMap<(u128, String), f64> = HashMap::new();
        for day in days.iter().filter(|day| day.replaces) {
            each_replaced(day.folder, |id, day, _, containment| {
                lacking.insert((xxh3_128(id.as_bytes()), day.to_string()), 1.0 - containment);
                Ok(())
            })?;
        }
        lost += mean * lacking.values().sum::<f64>();
        let mut through_replaced = 0;
        for day in days.iter().filter(|_| !lacking.is_empty()) {
            each_contained(day.folder, |_, of, _| {
                let held = if of.against == "batch" { day.day.to_owned() } else { of.against };
                if let Some(share) = lacking.get(&(xxh3_128(of.id.as_bytes()), held)) {
                    through_replaced += 1;
                    lost += mean * share;
                }
            })?;
        }
        let replaced = lacking.len() as u64;
        let containment = ((1.0 - lost / runs as f64).max(0.0) * 1e4).round() / 1e4;
        Ok(Some(ContainedText { runs, containment, replaced, through_replaced }))
    }
}
