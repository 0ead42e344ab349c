//! Finds near-duplicates: the paper's tables and their probes, candidates, containment, the keep rule, and the index that answers
//! for one page at once.
//!
//! ```text
//! tables::Plan -> tables::Probe -+-> candidates -> matches::Confirmed -> keep rule -> verdicts
//! matches::Anchored -------------+
//! ```

// What the front does not show has comments where its name does not say all.
#![allow(missing_docs)]
#![deny(unsafe_code)]

pub mod tables;

pub mod matches;

#[warn(missing_docs)]
pub mod index;
pub mod journal;
#[cfg(test)]
mod tests;

// A module of the crates below goes by the name that it has there: `crate::store`.
use dupsieve_archive::*;
use dupsieve_base::*;
use dupsieve_text::*;
