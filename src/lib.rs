//! dupsieve finds which pages of a day's crawl are nearly the same as pages already held, or as each other. The search among
//! fingerprints is exact.
//!
//! It is the batch query of Manku, Jain and Das Sarma, "Detecting Near-Duplicates for Web Crawling" (WWW
//! 2007), as a timely dataflow:
//!
//! ```text
//! documents -> features -> fingerprints -> segment -+-> tables (B) --+
//!                                                   |                +-> probe -> matches -> verdicts -> store'
//!                                                   +-> chunks (F) --+
//! ```
//!
//! # By task
//!
//! | to | start with | example |
//! |---|---|---|
//! | make fingerprints of texts | [`fingerprint::Recipe`] | [below](#fingerprints-of-texts) |
//! | find the pages of a day that are copies | [`join::Join`] | [below](#the-near-duplicates-of-a-day) |
//! | ask a store for near pages, and feed it | [`online::Online`] | [below](#a-store-that-is-asked-and-fed) |
//! | ask a version of a store, and nothing else | [`index::Lookup`] | there |
//! | say which pages or vectors share buckets | [`lsh::Bands`] | [below](#locality-sensitive-hashing) |
//! | put the copies of many days into clusters | [`clusters::Clustering`] | [below](#clusters) |
//! | read pages from files | [`document::read()`] | |
//!
//! Every failure is an [`Error`]. The modules are in the order of the flow above, and each imports only modules above it. Start
//! reading at [`tables`] for the paper's algorithm.
//!
//! # Fingerprints of texts
//!
//! ```
//! use dupsieve::fingerprint::Recipe;
//!
//! let mut sketcher = Recipe::named("wide", None)?.sketcher()?;
//! let monday = sketcher.text("The bridge over the canal is closed until spring. Monday")?;
//! let tuesday = sketcher.text("The bridge over the canal is closed until spring. Tuesday")?;
//! let other = sketcher.text("A comedy about a family that inherits a lighthouse in the north")?;
//! // A text without a word has no fingerprint.
//! let [monday, tuesday, other] = [monday, tuesday, other].map(Option::unwrap_or_default);
//! let distance = |one: u128, another: u128| (one ^ another).count_ones();
//! assert!(distance(monday, tuesday) < distance(monday, other));
//! # Ok::<(), dupsieve::Error>(())
//! ```
//!
//! # The near-duplicates of a day
//!
//! ```
#![doc = include_str!("../examples/join.rs")]
//! ```
//!
//! # A store that is asked and fed
//!
//! ```
#![doc = include_str!("../examples/online.rs")]
//! ```
//!
//! # Locality-sensitive hashing
//!
//! ```
#![doc = include_str!("../examples/lsh.rs")]
//! ```
//!
//! # Clusters
//!
//! ```
#![doc = include_str!("../examples/clusters.rs")]
//! ```

#![deny(unsafe_code)]

// The modules of all crates, in the order of the flow. What a program of your own starts with stands below; what these starting points
// take and give is in the modules, which change more than they do between two versions.
pub use dupsieve_archive::{hamming, seen, store, synthetic};
pub use dupsieve_base::{
    budget, catch_panic, day, error, frames, mount, object_storage, output, parallel, progress,
    results, runs, small_file, step, work, work_queues,
};
pub use dupsieve_engine::{flow, join, ledger, online, peers, report};
#[cfg(feature = "evaluate")]
pub use dupsieve_overlap::evaluate;
pub use dupsieve_overlap::{clusters, items, lsh, passages};
pub use dupsieve_search::{index, journal, matches, tables};
pub use dupsieve_text::{document, features, fingerprint, hash};

pub use dupsieve_archive::store::{Row, Segment, SegmentWriter, Store};
pub use dupsieve_base::{Error, Kind, Result};
pub use dupsieve_engine::flow::Processes;
pub use dupsieve_engine::join::Join;
pub use dupsieve_engine::online::Online;
pub use dupsieve_overlap::clusters::Clustering;
pub use dupsieve_search::index::Lookup;
pub use dupsieve_text::document::read;
pub use dupsieve_text::fingerprint::{Recipe, Sketcher};
