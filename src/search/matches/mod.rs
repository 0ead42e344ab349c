//! Pairs of near pages, and the verdicts drawn from them.
//!
//! Pages with one fingerprint are one group, so a million copies of an error page are one probe and one
//! [`Pair`]. The keep rule is applied to groups as well. Only then, and after they have been counted,
//! are pairs expanded to rows of documents.
//!
//! ```text
//! Pair -> Sieve -> confirm: on all workers of all processes, each for a range of the batch
//!                     |
//!                  partition -> keep_rule (crowd) --+
//!                          \-> expand --------------+-> listing: verdicts, keep.txt, drop.txt, matches
//! ```
//!
//! Start with `PairWindows` in `confirm.rs`, and with `Finalize::write`, which goes through the steps after it; `keep_rule` has the rule
//! with an example, `numbers` the six sorts of numbers. May import everything up to `tables`, no engine.

mod answer;
mod batch;
mod by_key;
mod comparing;
mod confirm;
mod confirmed;
mod coverage;
mod crowd;
mod drafts;
mod dropped_examples;
mod dropped_pages;
mod expand;
mod finalize;
mod frequent;
mod group_key;
mod groups;
mod hosts;
mod ids;
mod in_keep_order;
mod keep_order;
mod keep_rule;
mod listing;
mod match_row;
mod nearby;
mod nearest;
mod numbers;
mod outcome;
mod pair;
mod partition;
mod recrawl;
mod replaced;
mod result_columns;
mod shared_keys;
mod sieve;
mod similarity;
mod store_pair;
mod superseded;

pub use answer::{Answer, NearPage, Question};
pub use batch::held_bytes;
pub use by_key::{ByKey, Recrawled};
pub use dropped_examples::DroppedExample;
pub use dropped_pages::{DroppedPages, Lost};
pub use frequent::{Frequent, is_cut};
pub use hosts::DroppedHost;
pub use keep_order::{KeepOrder, LengthClass, Turn};
pub use numbers::{FingerprintIndex, KeepRank, Number};
pub use outcome::Outcome;
pub use pair::{Pair, Place};
pub use recrawl::Recrawls;
pub use replaced::{each_replaced, replacements_at, replacements_in};
pub use sieve::Sieve;
pub use similarity::{Confirm, Similarity};

pub use confirm::{Confirming, PairWindows, Task, Terms};
pub use confirmed::{Certificate, Confirmed, ConfirmedPairs, Detail, MAX_MATCHES, too_many};
pub(crate) use coverage::Covering;
pub use coverage::{Coverage, Coverages};
pub use finalize::Finalize;
pub(crate) use group_key::{GroupKey, GroupKeyReader};
pub use groups::{Groups, distinct_fingerprints};
pub use in_keep_order::InKeepOrder;
pub use listing::KEEP;
pub use result_columns::{MATCHES, RECRAWL, VERDICTS};
pub use shared_keys::{
    AnchorCost, Anchored, AnchoredRows, CHUNK_ROWS, KeyProbe, MOST_MET, RowAnchor, anchors_of,
};
