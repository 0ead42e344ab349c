//! The counts of a finished join, as the report holds them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::dropped_examples::DroppedExample;
use super::dropped_pages::{DroppedPages, Lost};
use super::frequent::Frequent;
use super::hosts::DroppedHost;
use super::recrawl::Recrawls;
use crate::output::Sum;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    pub kept: u64,
    pub dropped: u64,
    /// How many of these are superseded by a newer page of their key, where the newest is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded: Option<u64>,
    /// Pages of the store that kept pages hold, where it is known which share of a page another page holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaced: Option<u64>,
    /// How many pages came again, where the pages have keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recrawls: Option<Recrawls>,
    /// How much text goes with the dropped pages, where a check tells that. The report has it at its top.
    #[serde(skip)]
    pub lost: Option<Lost>,
    /// The hosts of most dropped pages, at most ten, where it is known which share of a page another page holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped_hosts: Option<Vec<DroppedHost>>,
    /// The dropped pages by the day of the page that stays, and by the share that it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped_pages: Option<DroppedPages>,
    /// Some dropped pages of each class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped_examples: Option<Vec<DroppedExample>>,
    /// Rows of matches.tsv.
    pub matches: u64,
    pub distances: BTreeMap<u32, u128>,
    /// With a check and [`Detail::All`](super::Detail::All), how many pairs of documents were within k
    /// before the check. The confirmed ones are the matches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidates: Option<u128>,
    /// With a check, how many pairs of groups were not compared, because too many pages share a fingerprint or an anchor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<u64>,
    /// Pages that share their fingerprint with others of the batch.
    pub copies: u64,
    /// The most pages of the batch with one fingerprint.
    pub largest_group: u64,
    pub hot_copies: Vec<Frequent>,
    /// With [`Detail::All`](super::Detail::All), the fingerprints with the most matches in the store
    /// and among the smaller fingerprints of the batch.
    pub hot_matches: Vec<Frequent>,
    pub files: BTreeMap<String, Sum>,
}

impl Outcome {
    pub fn duplicates(&self) -> u64 {
        self.dropped.saturating_sub(self.superseded.unwrap_or(0))
    }
}
