//! Pairs of near pages, and the verdicts drawn from them.
//!
//! A probe finds [`Pair`]s of groups: documents with one fingerprint are one group, so that a million
//! copies of an error page are one probe and one pair. The keep rule is applied to groups too. Only
//! then are pairs expanded to [`Row`]s of documents, after they have been counted.
//!
//! ```text
//! Pair -> sieve -> sift -> verdicts (crowd) --+
//!                       -> expand ------------+-> listing: verdicts.tsv, keep.txt, drop.txt, matches.tsv
//!
//! verdicts.tsv, keep.txt, drop.txt, matches.tsv -> audit -> recompute: is this what the inputs give?
//! ```

mod audit;
mod batch;
mod confirm;
mod crowd;
mod expand;
mod finalize;
mod frequent;
mod group_key;
mod keep;
mod lines;
mod listing;
mod match_row;
mod origin;
mod pair;
mod partition;
mod recompute;
mod sieve;
mod verdicts;

pub use audit::{Audit, Document};
use batch::{Batch, Id};
pub use batch::{groups, held_bytes};
pub use confirm::{Confirm, Similarity};
pub use finalize::{Detail, Outcome, Settlement, too_many};
pub use frequent::Hot;
pub use keep::KeepOrder;
use keep::Leaders;
pub use match_row::Row;
pub use origin::Against;
pub use pair::{Pair, Place};
pub use recompute::{Recompute, Recomputed};
pub use sieve::Sieve;
