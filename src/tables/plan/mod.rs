//! Which design is cheapest for a batch and a store of given sizes: the cost model.
//!
//! A fingerprint costs, in each table, one look into the filter; if it passes, the way to a bucket; and
//! there, each comparison. Few tables have short keys and many comparisons, many tables have long keys and
//! many looks. The model counts these on uniform fingerprints and weighs them with measured constants;
//! only their ratios decide. The cost of a design is beside the design: `table_cost` for tables,
//! `conditioned::expense`, `halves::cost`, `multi_index::cost`, `sorted::cost`. The conditioned probe is cheap where
//! the store is dense, sorting where the batch is large, and halves, which pay first for a large filter,
//! where the store is a few times as large as the batch. At 128 bits they also pay beyond 3 bits. A design with masks
//! goes by tables or by sorting, whichever is cheaper. The batch and itself are joined by sorting or by
//! multi-index hashing, and priced separately.
//!
//! Real fingerprints are not uniform. How many pairs meet in a key is counted in samples of the batch and of the store
//! ([`Distribution`](super::Distribution)), and all designs are priced by that: what shares a key is compared, bits that
//! tell little fill one part of a filter, and of a slice of the key space only the other bits tell fingerprints apart.
//!
//! A wrong estimate changes the plan, but never the matches found.
//!
//! Start with [`choose`].
//!
//! ```
//! use dupsieve::rooms::fingerprint::Width;
//! use dupsieve::rooms::tables::{Design, Problem, plan};
//!
//! let (batch, store) = (1_000_000, 8_000_000_000);
//! let problem = Problem::uniform(batch, store, 3, Width::W64, 1);
//! let plan = plan::choose(Design::Auto, &problem, 16 << 30)?;
//! assert_eq!(plan.chosen.name(), "conditioned");
//! # Ok::<(), dupsieve::Error>(())
//! ```

mod choose;
mod estimate;

#[cfg(test)]
pub(super) use choose::choose_at;
pub use choose::{Memory, Plan, choose};
pub use estimate::Estimate;
