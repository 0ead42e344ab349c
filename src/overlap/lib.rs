//! What else pages have in common: buckets of locality-sensitive hashes, clusters of copies, passages that are repeated, and the
//! items of a reference set.
//!
//! ```text
//! lsh::Bands -> candidates        clusters::Clustering -> members of all days
//! passages::PassageFinder -> passages   items::Items -> hits
//! ```

// What the front does not show has comments where its name does not say all.
#![allow(missing_docs)]
#![deny(unsafe_code)]

#[warn(missing_docs)]
pub mod clusters;
pub mod items;
#[warn(missing_docs)]
pub mod lsh;
pub mod passages;

#[cfg(feature = "evaluate")]
pub mod evaluate;

// A module of the crates below goes by the name that it has there: `crate::store`.
use dupsieve_archive::*;
use dupsieve_base::*;
use dupsieve_search::*;
use dupsieve_text::*;
