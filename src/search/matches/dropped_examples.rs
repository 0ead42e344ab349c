//! Examples of dropped pages, for people who look at a report: the ten that lose most.
//!
//! Those come first of which the kept page contains least, then those that differ in most bits. Among equal pages the digest of
//! the id decides, so the examples are of many hosts, and the same for any number of workers.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Display;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::frequent::shown;
use super::similarity::Similarity;

const SHOWN: usize = 10;

/// A dropped page, as its row of the verdicts has it. An id that is too long to show is cut.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DroppedExample {
    pub id: String,
    pub of: String,
    pub distance: u32,
    /// The day of the store that has the kept page, or `batch`.
    pub against: String,
    /// The share of the dropped page that the kept page contains, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub containment: Option<f64>,
}

/// What decides which pages are shown: the containment, the distance, then the digest of the id. Those that come first are shown.
type Order = (Option<Similarity>, Reverse<u32>, u64);

/// Collects examples. Pages must be added in the order of their ids.
#[derive(Debug, Default)]
pub(super) struct Examples(BTreeMap<Order, DroppedExample>);

impl Examples {
    pub(super) fn add(
        &mut self,
        [id, of]: [&str; 2],
        distance: u32,
        against: impl Display,
        containment: Option<Similarity>,
    ) {
        let example = || DroppedExample {
            id: shown(id),
            of: shown(of),
            distance,
            against: against.to_string(),
            containment: containment.map(Similarity::number),
        };
        self.take((containment, Reverse(distance), xxh3_64(id.as_bytes())), example);
    }

    /// Takes those of pages with larger ids.
    pub(super) fn append(&mut self, others: Examples) {
        for (order, example) in others.0 {
            self.take(order, || example);
        }
    }

    fn take(&mut self, order: Order, example: impl FnOnce() -> DroppedExample) {
        let is_full = self.0.len() == SHOWN;
        if is_full && self.0.last_key_value().is_some_and(|(last, _)| *last < order) {
            return;
        }
        self.0.entry(order).or_insert_with(example);
        if self.0.len() > SHOWN {
            self.0.pop_last();
        }
    }

    pub(super) fn listed(self) -> Vec<DroppedExample> {
        self.0.into_values().collect()
    }
}
