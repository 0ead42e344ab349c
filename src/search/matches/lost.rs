//! How much text goes with the pages that are dropped: of their shingles, those that the pages named by their verdicts lack.
//!
//! An example: a page of 200 shingles is dropped, of which the kept page contains 190, and a page of 100, which is contained whole. Of 300
//! shingles 10 are lost: a share of 0.0333.

use serde::{Deserialize, Serialize};

use super::coverage::Coverage;

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
