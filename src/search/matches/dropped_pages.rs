//! Of which days the pages are that others are dropped for, how much of the dropped pages they hold, and how much text goes with these.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::coverage::Coverage;
use super::match_row::Origin;
use super::similarity::Similarity;

/// The shares from which on dropped pages are counted together, the greatest first.
const FROM: [Similarity; 5] = [
    Similarity::SAME,
    Similarity::missing_of(100),
    Similarity::missing_of(500),
    Similarity::missing_of(1_000),
    Similarity::missing_of(Similarity::WHOLE),
];

/// The class of a share: 0 if the whole page is contained.
pub(super) fn class_of(containment: Similarity) -> usize {
    FROM.iter().position(|from| containment >= *from).unwrap_or_default()
}

/// Dropped pages, counted by two columns of the verdicts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DroppedPages {
    /// By the column `against`: the day of the store that has the page that stays, or `batch`.
    pub against: BTreeMap<String, u64>,
    /// By the column `containment`: the classes begin at 0, 0.9, 0.95, 0.99 and 1. A class without pages is left out, so the map is empty without
    /// that column.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub containment: BTreeMap<String, u64>,
}

#[derive(Debug, Default)]
pub(super) struct DroppedTally {
    against: BTreeMap<Origin, u64>,
    containment: [u64; FROM.len()],
}

impl DroppedTally {
    /// Takes a dropped page: where the page that stays is, and which share it holds, if that is known.
    pub(super) fn add(&mut self, against: Origin, containment: Option<Similarity>) {
        *self.against.entry(against).or_default() += 1;
        if let Some(containment) = containment {
            self.containment[class_of(containment)] += 1;
        }
    }

    pub(super) fn counted(self) -> DroppedPages {
        let containment = FROM.iter().zip(self.containment).filter(|(_, count)| *count > 0);
        DroppedPages {
            against: self.against.into_iter().map(|(it, count)| (it.to_string(), count)).collect(),
            containment: containment.map(|(from, count)| (from.to_string(), count)).collect(),
        }
    }
}

/// How much text goes with the dropped pages: of their shingles, those that the pages named by their verdicts lack.
///
/// An example: a page of 200 shingles is dropped, of which the kept page contains 190, and a page of 100, which is contained whole. Of 300
/// shingles 10 are lost: a share of 0.0333.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lost {
    /// Of all shingles of the dropped pages, the share that the pages named by the verdicts lack.
    pub share: f64,
    /// The share of the dropped pages of which the page named lacks more than a tenth.
    pub over_tenth: f64,
    /// The shingles of all pages that were judged, each page by itself.
    pub shingles: u64,
    pub dropped_shingles: u64,
}

/// Adds up what is lost. Whole numbers, so that the sum does not depend on the order, rounded once.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LostTally {
    pages: u64,
    over_tenth: u64,
    shingles: u64,
    lacking: u64,
}

impl LostTally {
    /// Takes a dropped page of so many shingles, for which another page stands so well.
    pub(super) fn add(&mut self, shingles: u64, coverage: Coverage) {
        let lacking = u64::from(coverage.lacking);
        self.pages += 1;
        self.over_tenth += u64::from(10 * lacking > shingles);
        self.shingles = self.shingles.saturating_add(shingles);
        self.lacking = self.lacking.saturating_add(lacking);
    }

    /// What was lost with all pages, of a batch of so many shingles.
    pub(super) fn lost(self, shingles: u64) -> Lost {
        let share = |part: u64, whole: u64| (part as f64 / whole.max(1) as f64 * 1e4).round() / 1e4;
        Lost {
            share: share(self.lacking, self.shingles),
            over_tenth: share(self.over_tenth, self.pages),
            shingles,
            dropped_shingles: self.shingles,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_counted_by_day_and_by_share() {
        let mut tally = DroppedTally::default();
        let day = Origin::Day("2026-11-20".parse().unwrap());
        for (against, containment) in [
            (Origin::Batch, "1.0000"),
            (day, "0.9999"),
            (day, "0.9900"),
            (day, "0.9899"),
            (day, "0.9000"),
            (day, "0.8999"),
            (day, "0.0000"),
        ] {
            tally.add(against, containment.parse().ok());
        }
        tally.add(Origin::Batch, None);
        let DroppedPages { against, containment } = tally.counted();
        let entry = |(name, count): (&str, u64)| (name.to_owned(), count);
        assert_eq!(against, BTreeMap::from([("2026-11-20", 6), ("batch", 2)].map(entry)));
        let expected = [("0.0000", 2), ("0.9000", 1), ("0.9500", 1), ("0.9900", 2), ("1.0000", 1)];
        assert_eq!(containment, BTreeMap::from(expected.map(entry)));
    }
}
