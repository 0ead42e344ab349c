//! What is kept of all days: segments of fingerprints and what belongs to them, versions of the store, hidden rows, and filters that
//! know what was seen.
//!
//! ```text
//! store::Store -> store::Version -> store::Segment -> fingerprints, sketches, ids
//!                              `-> seen::Seeker
//! ```

// What the front does not show has comments where its name does not say all.
#![allow(missing_docs)]
#![deny(unsafe_code)]

pub mod hamming;

pub mod store;

pub mod seen;
pub mod synthetic;

// A module of the crates below goes by the name that it has there: `crate::store`.
use dupsieve_base::*;
use dupsieve_text::*;
