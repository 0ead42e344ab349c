//! The fingerprints with the most copies, and those with the most matches.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::batch::Batch;
use super::numbers::Group;
use crate::error::Result;
use crate::fingerprint::hex;
use crate::store::Segment;

const LISTED: usize = 10;
/// The least number of copies or matches of a fingerprint that is listed.
const LEAST: u128 = 1000;
const NAMED: usize = 5;
/// The most characters of an id that a report shows.
const ID_CHARACTERS: usize = 200;

/// An id as a report shows it: one that is too long is cut.
pub(super) fn shown(id: &str) -> String {
    id.chars().take(ID_CHARACTERS).collect()
}

/// Whether an id in a report may be cut.
pub fn is_cut(shown: &str) -> bool {
    shown.chars().count() >= ID_CHARACTERS
}

/// A fingerprint of the batch with very many copies or matches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Frequent {
    pub fingerprint: String,
    /// How many pages of the batch have it and share one class; with a check, one signature too.
    pub pages: u64,
    /// How many matches these pages have. In a list by copies: with each other. In a list by matches:
    /// with the store and with the smaller fingerprints of the batch.
    pub matches: u128,
    /// The ids of the first of these pages, as far as they are not too long to show.
    pub ids: Vec<String>,
}

/// The groups with the highest counts; of equal counts the first groups.
#[derive(Debug, Default)]
pub(crate) struct MostFrequent(BTreeSet<(Reverse<u128>, Group)>);

impl MostFrequent {
    pub(crate) fn copied(sizes: impl Iterator<Item = u64>) -> MostFrequent {
        let mut most = MostFrequent::default();
        for (group, size) in (0..).zip(sizes) {
            most.offer(size.into(), Group::from(group));
        }
        most
    }

    pub(crate) fn offer(&mut self, count: u128, group: Group) {
        if count >= LEAST {
            self.0.insert((Reverse(count), group));
        }
        if self.0.len() > LISTED {
            self.0.pop_last();
        }
    }

    /// The list for the report, the highest count first. `matches` gives the matches that a count stands for.
    pub(super) fn list(
        &self,
        segment: &Segment,
        batch: &Batch,
        matches: impl Fn(u128) -> u128,
    ) -> Result<Vec<Frequent>> {
        let (mut fingerprints, mut ids) = (segment.fingerprints(), segment.ids());
        let listed = self.0.iter().map(|&(Reverse(count), group)| {
            let rows = batch.rows_of(group);
            let pages = rows.len() as u64;
            let row: u32 = batch.segment_row(rows.start).into();
            let named = rows.iter().take(NAMED).map(|row| {
                let row: u32 = batch.segment_row(row).into();
                ids.get(row.into()).map(shown)
            });
            Ok(Frequent {
                fingerprint: hex(fingerprints.get(row.into())?, segment.width()),
                pages,
                matches: matches(count),
                ids: named.collect::<Result<_>>()?,
            })
        });
        listed.collect()
    }
}
