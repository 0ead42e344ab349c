//! Runs it on all workers of all processes: the dataflow, how processes find and watch each other, the ledger of finished work, the
//! join of a day, its report, and the service that answers while a crawl runs.
//!
//! ```text
//! join::Join -> flow (timely; peers) -> ledger -> verdicts -> report::Report
//! online::Online -> index, journal -> join::Join
//! ```

// What the front does not show has comments where its name does not say all.
#![allow(missing_docs)]
#![deny(unsafe_code)]

pub mod ledger;
pub mod peers;

pub mod flow;

#[warn(missing_docs)]
pub mod join;

pub mod report;

#[warn(missing_docs)]
pub mod online;

// A module of the crates below goes by the name that it has there: `crate::store`.
use dupsieve_archive::*;
use dupsieve_base::*;
use dupsieve_overlap::*;
use dupsieve_search::*;
use dupsieve_text::*;
