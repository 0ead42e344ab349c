//! The batch arranged so that near pairs meet.
//!
//! The batch B is small and the store F is large, so B stays and F streams past. The paper's way: a key is
//! some of the fingerprint's bits, and a fingerprint of F is compared with those of B that have its
//! key. The keys are chosen so that any two fingerprints within k share at least one of them
//! ([`Masked`]), so together they miss nothing, and since what meets is compared in full, they invent
//! nothing either.
//!
//! An example with fingerprints of 8 bits and k = 1. Divide them into two blocks of 4 bits: one differing
//! bit leaves one block untouched, so there are two keys, the high and the low block.
//!
//! | B | by the high block | by the low block |
//! |---|---|---|
//! | `1010 0110` | `1010` -> `1010 0110` | `0110` -> `1010 0110` |
//! | `0011 1111` | `0011` -> `0011 1111` | `1111` -> `0011 1111` |
//!
//! Now `1010 0111` of F comes by. Its high block `1010` is one of B; the entry differs in one bit: a match.
//! Its low block `0111` is none. Then `1011 1111`: `1011` is none, `1111` is one, but the entry
//! `0011 1111` differs in one bit only: a match too. And `0101 0110` meets an entry under its low block
//! `0110`, which differs in 4 bits: no match.
//!
//! At 64 bits and k = 3 the paper takes 5 blocks and a key for each choice of 2 of them, ten keys.
//!
//! Start with `masked` (the keys) and `sorted`, which brings a window of F together with B, key after key, and joins B
//! with itself in the same way. Faster for a sorted store that is much larger than the batch is `conditioned`, and for
//! one that is not, or for distances beyond 3, `multi_index`. [`plan`] chooses. May import everything up to `store`.

mod buckets;
mod conditioned;
mod design;
mod distribution;
mod flips;
pub mod keys;
mod masked;
mod method;
mod multi_index;
pub mod plan;
mod prices;
mod probe;
mod sorted;
#[cfg(test)]
mod tests;

pub use design::{Design, Estimate};
pub use distribution::{Distribution, Problem};
pub use masked::Masked;
pub use method::{ArrangedBatch, MethodScratch, SelfJoin, SelfJoinScratch};
pub use plan::Plan;
pub use probe::{Hit, Probe};
