//! Finds near-duplicates: the paper's tables and their probes, candidates, containment, the keep rule, and the index that answers
//! for one page at once.
//!
//! ```text
//! tables::Plan -> tables::Probe -+-> matches::Candidate -> matches::Confirmed -> keep rule -> verdicts
//! shared anchors ----------------+
//! ```

#![allow(missing_docs)]
#![deny(unsafe_code)]

pub mod tables;

pub mod matches;

#[warn(missing_docs)]
pub mod index;
pub mod journal;

// A room of the crates below goes by the name that it has there: `crate::store`.
use dupsieve_archive::*;
use dupsieve_base::*;
use dupsieve_text::*;
