//! An output recomputed from the batch and the store that it was made from.
//!
//! The [audit](super::Audit) has shown that the files of the output agree with each other. What they
//! agree on may still be wrong, so these things are recomputed here:
//!
//! - *Every row of matches.tsv* ([`claims`]): both pages are looked up by their ids, and how near they are is
//!   computed from what is found there.
//! - *The verdicts of a sample of the batch* ([`run`]): the sampled pages are joined again with the
//!   store and with the batch. A page is rightly kept if no page of the store and no kept page is near.
//!   It is rightly dropped if a page of the store is near, or a kept page that comes before it in keep
//!   order, and if the verdict names the nearest such page. If this holds for every page, the verdicts
//!   are those of the keep rule: by induction in keep order.
//! - *The table of replaced pages* ([`replaced`]): the pages of the batch that it names are of the sample, so each row is computed.
//! - *The figures of the report*: those of the batch alone always, those that count all pairs if the sample is the whole batch.
//!
//! An example: the batch is `a` (fingerprint 0b0000), `b` (0b0001) and `c` (0b1111), k = 1, kept by id. The
//! true output has the match `b a 1` and keeps `a` and `c`. Someone deletes the match and calls `b` kept.
//! All files still agree, so the audit passes. But when `b` is joined again, the kept page `a` is near:
//! "the page is kept, but it is near one that is held or kept".
//!
//! What is compared are [groups](Groups) of pages: of fingerprints by their distance ([`rejoin`]), or, in
//! `crate::lsh`, of pages that share buckets. Start with [`Recompute::run`].

mod claims;
mod expected;
mod groups;
mod inputs;
mod rejoin;
mod replaced;
mod run;
mod verdict_lines;

pub(crate) use expected::{Expected, Joined, Kept};
pub(crate) use groups::{Groups, Measured};
pub use inputs::{Recompute, Recomputed};
pub use rejoin::ByDistance;
