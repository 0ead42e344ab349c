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
//! | read pages from files | [`document::read()`] | there |
//!
//! Every failure is an [`Error`]. The modules are in the order of the flow above, and each imports only modules above it. Start
//! reading at [`tables`] for the paper's algorithm.
//!
//! # Fingerprints of texts
//!
//! ```
//! use dupsieve::rooms::fingerprint::Recipe;
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

/// The rooms of the library, in the order of the flow: each room imports only rooms above it.
///
/// The program is made of these rooms. What a program of your own starts with stands at the root of the crate, and what these
/// starting points take and give is here. Between two versions the rooms change more than the root does.
// The rooms are folders beside this file. In those whose types stand at the root of the crate, whatever is public is documented; in the
// others, what a name does not say.
#[path = "."]
#[allow(missing_docs)]
pub mod rooms {
    pub mod catch_panic;
    #[warn(missing_docs)]
    pub mod error;
    pub mod parallel;
    pub mod progress;
    pub mod small_file;
    pub mod step;

    pub mod budget;
    pub mod work;
    pub mod work_queues;

    pub mod object_storage;

    pub mod output;

    pub mod mount;

    pub mod frames;
    pub mod runs;

    pub mod results;

    pub mod hash;

    pub mod document;

    pub mod features;

    #[warn(missing_docs)]
    pub mod fingerprint;

    pub mod hamming;

    #[warn(missing_docs)]
    pub mod store;

    pub mod synthetic;

    pub mod tables;

    pub mod matches;

    #[warn(missing_docs)]
    pub mod index;

    pub mod seen;

    pub mod journal;

    #[warn(missing_docs)]
    pub mod lsh;

    #[warn(missing_docs)]
    pub mod clusters;

    pub mod items;

    pub mod passages;

    #[cfg(feature = "evaluate")]
    pub mod evaluate;

    pub mod ledger;

    pub mod peers;

    pub mod flow;

    #[warn(missing_docs)]
    pub mod join;

    pub mod report;

    #[warn(missing_docs)]
    pub mod online;
}

// Within the crate a room goes by its own name: `crate::store`.
use rooms::*;

pub use rooms::clusters::Clustering;
pub use rooms::document::read;
pub use rooms::error::{Error, Kind, Result};
pub use rooms::fingerprint::{Recipe, Sketcher};
pub use rooms::flow::Processes;
pub use rooms::index::Lookup;
pub use rooms::join::Join;
pub use rooms::online::Online;
pub use rooms::store::{Row, Segment, SegmentWriter, Store};
