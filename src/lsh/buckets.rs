//! Buckets: which groups have a band key in common.
//!
//! The keys of all groups are sorted, so that each bucket comes in one piece. Of a small bucket every pair is a
//! candidate. A crowded bucket has too many pairs: only its key is noted, and the groups in it. The keep
//! rule then compares each of these with the kept ones of the bucket, which are few if the bucket holds
//! near pages.

use std::cmp::Reverse;
use std::iter::Peekable;

use serde::{Deserialize, Serialize};

use super::batch::Batch;
use super::found::{BucketCounts, Hot};
use crate::error::Result;
use crate::matches::{KeepRank, below};
use crate::runs::{Record, SortedRecords, Space};

/// The fewest groups of a bucket that the report names.
const HOT: u64 = 1000;
/// How many buckets the report names.
const LISTED: usize = 10;

/// A group in a bucket. Ordered by the key of the bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Entry {
    key: u64,
    group: KeepRank,
}

impl Record for Entry {}

/// The groups that share a bucket, two or more.
#[derive(Debug, Default)]
pub(super) struct Bucket {
    pub(super) key: u64,
    /// In keep order.
    pub(super) groups: Vec<KeepRank>,
}

/// All buckets in the order of their keys, one after the other.
#[derive(Debug)]
pub(super) struct Buckets {
    entries: Peekable<SortedRecords<Entry>>,
    /// The largest buckets so far.
    pub(super) hottest: Vec<Hot>,
}

impl Buckets {
    /// The buckets of a batch.
    pub(super) fn of(batch: &Batch, space: Space<'_>) -> Result<Buckets> {
        let mut entries = space.sorter();
        let mut buffer = Vec::new();
        for group in below(batch.len()) {
            batch.each_key(group, &mut buffer, |key| entries.push(Entry { key, group }))?;
        }
        Ok(Buckets { entries: entries.sorted()?.peekable(), hottest: Vec::new() })
    }

    /// Makes `bucket` the next one, and counts it as `found`. Returns whether there is one.
    pub(super) fn next(&mut self, bucket: &mut Bucket, found: &mut BucketCounts) -> Result<bool> {
        while let Some(Entry { key, group }) = self.entries.next().transpose()? {
            bucket.key = key;
            bucket.groups.clear();
            bucket.groups.push(group);
            let is_here = |next: &Result<Entry>| next.as_ref().map_or(true, |it| it.key == key);
            while let Some(next) = self.entries.next_if(is_here) {
                bucket.groups.push(next?.group);
            }
            if bucket.groups.len() > 1 {
                self.count(bucket, found);
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn count(&mut self, Bucket { key, groups }: &Bucket, found: &mut BucketCounts) {
        found.shared += 1;
        let hot = Hot { key: *key, groups: groups.len() as u64, first: groups[0], stored: 0 };
        if hot.groups >= HOT {
            found.hot += 1;
            self.hottest.push(hot);
            self.hottest.sort_unstable_by_key(|hot| (Reverse(hot.groups), hot.key));
            self.hottest.truncate(LISTED);
        }
    }
}

impl Bucket {
    /// Every pair of its groups, the later one first.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (KeepRank, KeepRank)> {
        let earlier = |at| self.groups[..at].iter();
        let pairs = self.groups.iter().enumerate();
        pairs.flat_map(move |(at, &later)| earlier(at).map(move |&earlier| (later, earlier)))
    }
}
