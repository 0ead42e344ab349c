//! What the buckets held, as the report has it.

use serde::{Deserialize, Serialize};

use crate::matches::KeepRank;

/// Groups, buckets and pairs of a deduplication.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BucketCounts {
    /// Groups of documents that no comparison can tell apart.
    pub groups: u64,
    /// Buckets with two groups or more.
    pub shared: u64,
    /// Pairs of groups that were compared, each once, because the first bucket that they share is not crowded.
    pub candidates: u64,
    /// Those of them that match.
    pub confirmed: u64,
    /// Comparisons of groups in crowded buckets with kept ones.
    pub looked_up: u64,
    /// Pages of the store that were read.
    pub stored: u64,
    /// Pairs of a group and a page of the store that share a bucket, each once.
    pub stored_candidates: u64,
    /// Buckets with a thousand groups or more.
    pub hot: u64,
    /// The largest of these.
    pub hottest: Vec<HotBucket>,
}

/// A bucket with very many groups, by numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Hot {
    pub(super) key: u64,
    pub(super) groups: u64,
    /// The first of them in keep order.
    pub(super) first: KeepRank,
    /// How many pages of the store.
    pub(super) stored: u64,
}

/// A bucket with very many groups.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HotBucket {
    /// Its key, in hex.
    pub key: String,
    /// How many groups.
    pub groups: u64,
    /// How many pages of the store. Each is compared with all the groups, copies only once.
    pub stored: u64,
    /// The id of the first page in it, in keep order.
    pub first: String,
}

impl From<(&Hot, String)> for HotBucket {
    fn from((hot, first): (&Hot, String)) -> HotBucket {
        let &Hot { key, groups, stored, .. } = hot;
        HotBucket { key: format!("{key:#018x}"), groups, stored, first }
    }
}
