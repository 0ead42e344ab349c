//! What an update changes in the table of clusters: its rows that come and go, and by how much clusters grow.
//!
//! Clusters are told apart by their ranks in the order of their ids, and changes come in the order of their
//! pages, so no id is compared when they are sorted, and each id is held once.

use serde::{Deserialize, Serialize};

use super::labels::Labels;
use super::page::Page;
use super::page::PageDay;
use super::row::{CHANGES, change_columns};
use super::state::Named;
use crate::error::Result;
use crate::matches::allocated;
use crate::output::Staging;
use crate::results::{ResultFile, ResultFormat};
use crate::runs::{Record, Sorter, Space};

/// A row of the changes: a row of the clusters that comes or goes. Ordered by cluster, then as they were noted.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Change {
    rank: u32,
    number: u64,
    diff: i8,
    day: PageDay,
    member: String,
}

impl Record for Change {
    fn bytes(&self) -> usize {
        size_of::<Self>() + allocated(&self.member)
    }
}

/// What has changed.
pub(super) struct Changed {
    /// The file of the changes, and its rows.
    pub(super) file: Named,
    pub(super) rows: u64,
    /// The labels in the order of their ids, and for each label its rank in that.
    pub(super) in_order: Vec<u32>,
    pub(super) ranks: Vec<u32>,
    /// By how much the cluster of each label grows.
    pub(super) growth: Vec<i64>,
}

/// The changes so far.
pub(super) struct ChangeLog<'a> {
    labels: &'a Labels,
    /// The labels in the order of their ids, and for each label its rank in that.
    in_order: Vec<u32>,
    ranks: Vec<u32>,
    /// By how much the cluster of each label grows.
    growth: Vec<i64>,
    changes: Sorter<Change>,
    count: u64,
}

impl<'a> ChangeLog<'a> {
    /// A log of changes in the clusters of these labels.
    pub(super) fn new(labels: &'a Labels, space: Space<'_>) -> ChangeLog<'a> {
        let mut in_order: Vec<u32> = (0..labels.len()).collect();
        in_order.sort_unstable_by_key(|&label| labels.id(label));
        let mut ranks = vec![0; in_order.len()];
        in_order.iter().zip(0..).for_each(|(&label, rank)| ranks[label as usize] = rank);
        let growth = vec![0; in_order.len()];
        ChangeLog { labels, in_order, ranks, growth, changes: space.sorter(), count: 0 }
    }

    /// Notes that a page comes into the cluster `label` (+1) or goes (-1). Pages are noted in their order.
    pub(super) fn note(&mut self, label: u32, page: &Page, diff: i8) -> Result<()> {
        self.growth[label as usize] += i64::from(diff);
        self.count += 1;
        let (rank, number) = (self.ranks[label as usize], self.count);
        let member = page.id.clone();
        self.changes.push(Change { rank, number, diff, day: page.day, member })
    }

    /// Writes the table of changes.
    pub(super) fn write(self, staging: &Staging, format: ResultFormat) -> Result<Changed> {
        let ChangeLog { labels, in_order, ranks, growth, changes, count } = self;
        let mut file = ResultFile::create(staging, format, CHANGES, &change_columns())?;
        for change in changes.sorted()? {
            let Change { rank, member, day, diff, .. } = change?;
            let cluster = labels.id(in_order[rank as usize]);
            file.row(format_args!("{cluster}\t{member}\t{diff:+}\t{day}"))?;
        }
        Ok(Changed { file: file.finish()?, rows: count, in_order, ranks, growth })
    }
}
