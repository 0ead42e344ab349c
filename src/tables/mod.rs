//! The batch arranged so that near pairs meet.
//!
//! The batch B is small and the store F is large, so B is indexed and F streams past. The paper's way:
//! a table indexes B under a key, some of the fingerprint's bits. A fingerprint of F is compared with
//! those of B that have its key. The keys are chosen so that any two fingerprints within k share at
//! least one of them ([`Masked`]), so together the tables miss nothing, and since what meets is
//! compared in full, they invent nothing either.
//!
//! An example with fingerprints of 8 bits and k = 1. Divide them into two blocks of 4 bits: one differing
//! bit leaves one block untouched, so there are two tables, keyed by the high and by the low block.
//!
//! | B | table 1, by the high block | table 2, by the low block |
//! |---|---|---|
//! | `1010 0110` | `1010` -> `1010 0110` | `0110` -> `1010 0110` |
//! | `0011 1111` | `0011` -> `0011 1111` | `1111` -> `0011 1111` |
//!
//! Now `1010 0111` of F comes by. Table 1 has its key `1010`; the entry differs in one bit: a match.
//! Table 2 has no key `0111`. Then `1011 1111`: table 1 has no `1011`, table 2 has `1111`, but the entry
//! `0011 1111` differs in one bit only: a match too. And `0101 0110` meets an entry in table 2 under
//! `0110`, which differs in 4 bits: no match.
//!
//! At 64 bits and k = 3 the paper takes 5 blocks and a key for each choice of 2 of them, ten tables:
//!
//! ```
//! use dupsieve::rooms::tables::{Hit, Masked, Probe, Tables};
//!
//! let batch = [0x0123_4567_89ab_cdef_u64, 0xfedc_ba98_7654_3210]; // ascending
//! let tables = Tables::build(&batch, Masked::Ten.into(), 3, 1)?;
//! let store = [0x0123_4567_89ab_cdee, 0x7777_7777_7777_7777];
//! let mut hits = Vec::new();
//! tables.probe(&[&store], &mut Default::default(), &mut |hit| hits.push(hit));
//! assert_eq!(hits, [Hit { batch: 0, run: 0, at: 0, distance: 1 }]);
//! # Ok::<(), dupsieve::Error>(())
//! ```
//!
//! Start with `masked` (the keys), `table` (one table) and `indexed` (all of them). Faster for a sorted store
//! are the designs in `unmasked`: `conditioned` and `halves`, and for distances beyond 3
//! `multi_index`. A batch as large as the store is joined by `sorted`, and the batch and itself by either of the
//! last two (`self_join`). [`plan`] chooses. May import everything up to `store`.

mod buckets;
mod conditioned;
mod design;
mod distribution;
mod flips;
mod halves;
mod hit;
mod indexed;
pub mod keys;
mod masked;
mod masks;
mod method;
mod multi_index;
pub mod plan;
mod prices;
mod probe;
mod problem;
mod self_join;
mod slice;
mod sorted;
mod table;
mod table_cost;
#[cfg(test)]
mod tests;
mod unmasked;
mod way;

pub use design::Design;
pub use distribution::Distribution;
pub use hit::Hit;
pub use indexed::{Survivors, Tables};
pub use masked::Masked;
pub use method::{ArrangedBatch, MethodScratch};
pub use plan::{Estimate, Plan};
pub use probe::Probe;
pub use problem::Problem;
pub use self_join::{SelfJoin, SelfJoinScratch};
pub use sorted::{Gathering, SortedJoin};
pub use unmasked::Unmasked;
pub use way::Way;
