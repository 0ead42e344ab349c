//! How much text goes with the pages that are dropped, by what the check tells of each page and of the page that its verdict
//! names.
//!
//! An example: a page of 200 runs is dropped, of which the page named holds 0.95, and a page of 100 runs, which is held whole. Of 300
//! runs 10 are lost: a share of 0.0333.

use serde::{Deserialize, Serialize};

use super::standing::Standing;

/// The text that goes with the dropped pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Lost {
    /// Of all runs of the dropped pages, the share that the pages named by the verdicts lack.
    pub share: f64,
    /// The share of the dropped pages that lack more than a tenth of their runs in the page named.
    pub over_tenth: f64,
    /// Whether the text of each dropped page, or of a page with the same runs, was compared with that of the page named. Otherwise the shares of some are estimated from signatures.
    pub exact: bool,
    /// How many dropped pages were compared so.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub compared: u64,
    /// The runs of all pages that were judged, each page by itself.
    #[serde(default)]
    pub runs: u64,
    /// Those of the dropped pages.
    #[serde(default)]
    pub dropped_runs: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Adds up what is lost. Whole numbers, so that the sum does not depend on the order.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LostTally {
    pages: u64,
    /// Those whose texts were compared.
    compared: u64,
    runs: u128,
    /// Ten-thousandths of runs.
    missing: u128,
    /// 255ths of pages.
    doubt: u64,
}

impl LostTally {
    /// Takes a dropped page of so many runs, for which another page stands so well.
    pub(super) fn add(&mut self, runs: u64, standing: Standing, is_compared: bool) {
        self.pages += 1;
        self.compared += u64::from(is_compared);
        self.runs += u128::from(runs);
        self.missing += u128::from(runs) * u128::from(standing.share().missing());
        self.doubt += u64::from(standing.doubt);
    }

    /// What was lost with all pages, of a batch of so many runs.
    pub(super) fn lost(self, runs: u64) -> Lost {
        let share = |part: f64, whole: f64| match whole {
            0.0 => 0.0,
            _ => (part / whole * 1e4).round() / 1e4,
        };
        Lost {
            share: share(self.missing as f64 / 1e4, self.runs as f64),
            over_tenth: share(self.doubt as f64 / f64::from(u8::MAX), self.pages as f64),
            exact: self.pages > 0 && self.compared == self.pages,
            compared: self.compared,
            runs,
            dropped_runs: u64::try_from(self.runs).unwrap_or(u64::MAX),
        }
    }
}
