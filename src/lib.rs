//! dupsieve says, exactly, which pages of a day's crawl are near-duplicates of pages already held or
//! of each other.
//!
//! It is the batch query of Manku, Jain and Das Sarma, "Detecting Near-Duplicates for Web Crawling"
//! (WWW 2007), as a timely-dataflow job:
//!
//! ```text
//! documents -> features -> fingerprints -> segment -+-> tables (B) --+
//!                                                   |                +-> probe -> matches -> verdicts -> store'
//!                                                   +-> chunks (F) --+
//! ```
//!
//! The modules stand in the order of that flow, and each imports only what stands above it.

#![deny(unsafe_code)]

pub mod error;
pub mod progress;
pub mod small_file;

pub mod budget;

pub mod output;
pub mod runs;

pub mod hash;

pub mod document;

pub mod features;

pub mod fingerprint;

pub mod hamming;

pub mod store;

pub mod synthetic;

pub mod tables;

pub mod matches;

pub mod evaluate;

pub mod ledger;

pub mod peers;

pub mod flow;

pub mod join;

pub use error::{Error, Kind, Result};
