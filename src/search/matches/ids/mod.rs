//! The ids of the batch, sorted by all workers, in memory or on disk.
//!
//! Ids are divided by ranges into shards by a sample. Each worker puts those that it reads into their shards
//! (`share`); then each shard is sorted by itself (`shard`). Start reading at `shards`.

mod shard;
mod shards;
mod share;

pub(crate) use shard::Shard;
pub(super) use shards::{IdShards, Ranked, Workshop};
