//! Which design is cheapest for a batch and a store of given sizes: the cost model.
//!
//! The model counts the steps of each design on uniform fingerprints, and weighs them with measured constants; only
//! their ratios decide. The cost of a design is beside the design: `sorted::cost`, `conditioned::cost`,
//! `multi_index::cost`. The conditioned probe is cheap where the store is dense, vectors where it is a few times as
//! large as the batch and beyond 3 bits, and sorting where the batch is large or crowded. The batch and itself are
//! joined by sorting or by multi-index hashing, and priced separately.
//!
//! Real fingerprints are not uniform. How many pairs meet in a key is counted in samples of the batch and of the store
//! ([`Distribution`](super::Distribution)), and all designs are priced by that: what shares a key is compared, and
//! of a slice of the key space only the other bits tell fingerprints apart.
//!
//! A wrong estimate changes the plan, but never the matches found.
//!
//! Start with [`choose`].

mod choose;

pub use choose::{Memory, Plan, choose};
