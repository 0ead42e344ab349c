//! Buckets: which groups have a band key in common.
//!
//! The keys of all groups are sorted, so that each bucket comes in one piece. Of a small bucket every pair is a
//! candidate. A hot bucket has too many pairs to list: only its key is noted, and the groups in it. The keep
//! rule then compares each of these with the kept ones of the bucket, which are few if the bucket holds
//! near pages.

use std::cmp::Reverse;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::batch::Batch;
use crate::error::Result;
use crate::matches::{KeepRank, below};
use crate::runs::{Record, Sorter};

/// The most groups of a bucket whose pairs are listed.
const CROWD: usize = 32;
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

/// Two groups that share a bucket. Ordered by the one that is taken later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Candidate {
    pub(super) later: KeepRank,
    pub(super) earlier: KeepRank,
}

impl Record for Candidate {}

/// A bucket with many groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hot {
    pub(super) key: u64,
    pub(super) groups: u64,
    /// The first of them in keep order.
    pub(super) first: KeepRank,
}

/// What shares a bucket.
#[derive(Debug)]
pub(super) struct Buckets {
    /// How many buckets have two groups or more.
    pub(super) shared: u64,
    /// Pairs that share a bucket. A pair comes once for each bucket that lists its pairs.
    pub(super) candidates: Sorter<Candidate>,
    /// Each group in a bucket whose pairs are not listed, and the key of that; ascending.
    pub(super) crowds: Vec<(KeepRank, u64)>,
    /// How many buckets have [`HOT`] groups or more, and the largest of them.
    pub(super) hot: u64,
    pub(super) hottest: Vec<Hot>,
}

impl Buckets {
    /// The buckets of a batch. With `all`, the pairs of every bucket are listed.
    pub(super) fn of(batch: &Batch, all: bool, spill: (&Path, usize)) -> Result<Buckets> {
        let mut entries = Sorter::new(spill.0, spill.1);
        let mut buffer = Vec::new();
        for group in below(batch.len()) {
            batch.each_key(group, &mut buffer, |key| entries.push(Entry { key, group }))?;
        }
        let mut buckets = Buckets {
            shared: 0,
            candidates: Sorter::new(spill.0, spill.1),
            crowds: Vec::new(),
            hot: 0,
            hottest: Vec::new(),
        };
        let mut bucket: Vec<Entry> = Vec::new();
        for entry in entries.sorted()? {
            let entry = entry?;
            if bucket.first().is_some_and(|first| first.key != entry.key) {
                buckets.take(&bucket, all)?;
                bucket.clear();
            }
            bucket.push(entry);
        }
        buckets.take(&bucket, all)?;
        buckets.crowds.sort_unstable();
        Ok(buckets)
    }

    /// Takes a bucket, whose groups ascend.
    fn take(&mut self, bucket: &[Entry], all: bool) -> Result<()> {
        let [first, _, ..] = bucket else { return Ok(()) };
        self.shared += 1;
        let groups = bucket.len() as u64;
        if groups >= HOT {
            self.hot += 1;
            self.hottest.push(Hot { key: first.key, groups, first: first.group });
            self.hottest.sort_unstable_by_key(|hot| (Reverse(hot.groups), hot.key));
            self.hottest.truncate(LISTED);
        }
        if !all && bucket.len() > CROWD {
            self.crowds.extend(bucket.iter().map(|entry| (entry.group, entry.key)));
            return Ok(());
        }
        for (at, later) in bucket.iter().enumerate() {
            let pair = |earlier: &Entry| Candidate { later: later.group, earlier: earlier.group };
            self.candidates.extend(bucket[..at].iter().map(pair))?;
        }
        Ok(())
    }
}
