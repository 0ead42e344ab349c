//! What is hot: the fingerprints with the most copies, and those with the most matches.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::fingerprint::hex;
use crate::matches::Batch;
use crate::store::Segment;

/// How many are told.
const TOLD: usize = 10;
/// How many copies or matches make a fingerprint hot.
const HOT: u128 = 1000;

/// A hot fingerprint of the batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hot {
    /// The fingerprint in hex.
    pub fingerprint: String,
    /// How many pages of the batch have it, and one class; with a check, and one signature.
    pub pages: u64,
    /// How many matches there are of them: with each other, where it is hot for its copies; else with
    /// the store and the fingerprints of the batch that are smaller.
    pub matches: u128,
}

/// The hottest groups, of those that have one count the first.
#[derive(Debug, Default)]
pub(super) struct Hottest(BTreeSet<(Reverse<u128>, u32)>);

impl Hottest {
    /// Takes a group into account.
    pub(super) fn offer(&mut self, count: u128, group: u32) {
        if count >= HOT {
            self.0.insert((Reverse(count), group));
        }
        if self.0.len() > TOLD {
            self.0.pop_last();
        }
    }

    /// What is told of them, the hottest first; `matches` of so many.
    pub(super) fn told(
        &self,
        segment: &Segment,
        batch: &Batch,
        matches: impl Fn(u128) -> u128,
    ) -> Result<Vec<Hot>> {
        let mut fingerprints = segment.fingerprints();
        let told = self.0.iter().map(|&(Reverse(count), group)| {
            let rows = batch.rows_of(group);
            Ok(Hot {
                fingerprint: hex(
                    fingerprints.get(batch.place(rows.start).into())?,
                    segment.width(),
                ),
                pages: rows.len() as u64,
                matches: matches(count),
            })
        });
        told.collect()
    }
}
