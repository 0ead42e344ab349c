//! Features to integers: the hashes that turn a feature into bits.
//!
//! [`enum@Hash`] is the list that recipes name. XXH3 is our own choice; the others are those of libraries
//! whose fingerprints can be reproduced here bit for bit. Imports nothing of the crate. Start with `function.rs`.

mod function;
mod jenkins;
mod xxh3_short;

pub use function::{Hash, Hashed};
pub(crate) use xxh3_short::{folded, xxh3_of_ascii};
