//! dupsieve finds, exactly, which pages of a day's crawl are near-duplicates of pages already held or of
//! each other.
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
//! The modules below are in the order of that flow, and each imports only modules above it. Start reading at
//! [`tables`] for the paper's algorithm, and at [`join`] for the use as a library.
//!
//! # Example
//!
//! Ten fingerprints are joined with each other. `page-8` differs from `page-3` in one bit, and `page-9` from
//! `page-5` in two. All others are far apart.
//!
//! ```
//! use dupsieve::fingerprint::Class;
//! use dupsieve::flow::Cluster;
//! use dupsieve::join::Join;
//! use dupsieve::store::{RecordCounts, Row, SegmentOptions, SegmentWriter};
//!
//! let mut pages: Vec<(u64, String)> =
//!     (0..8).map(|page| (page * 0x1111_1111_1111_1111, format!("page-{page}"))).collect();
//! pages.push((pages[3].0 ^ 0b1, "page-8".to_owned()));
//! pages.push((pages[5].0 ^ 0b11, "page-9".to_owned()));
//!
//! // The batch is a segment: a file of sorted fingerprints with their ids.
//! pages.sort();
//! let folder = tempfile::tempdir()?;
//! let mut segment = SegmentWriter::create(&folder.path().join("batch.seg"), SegmentOptions::default())?;
//! for (fingerprint, id) in &pages {
//!     let (fingerprint, class) = (*fingerprint, Class::Full);
//!     segment.push(&Row { fingerprint, id, length: 0, time: None, class, day: None, check: &[], bands: &[], digest: 0 })?;
//! }
//! let batch = segment.finish(RecordCounts { read: 10, fingerprinted: 10, ..RecordCounts::default() }, "")?;
//!
//! // One call joins it, on two threads. There is no store yet, so it is joined with itself alone.
//! let output = folder.path().join("out");
//! let joined = Join::new(batch, None)?.run(&mut Cluster::alone(2), &output)?;
//!
//! let verdicts = std::fs::read_to_string(output.join("verdicts.tsv"))?;
//! let dropped: Vec<&str> = verdicts.lines().filter(|line| line.contains("drop")).collect();
//! assert_eq!(dropped, ["page-8\tdrop\tpage-3\t1\tbatch", "page-9\tdrop\tpage-5\t2\tbatch"]);
//! assert_eq!(joined.leader().map(|joined| joined.outcome.kept), Some(8));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![deny(unsafe_code)]

pub mod error;
pub mod foreign;
pub mod progress;
pub mod small_file;
pub mod step;

pub mod budget;
pub mod parallel;
pub mod work;

pub mod storage;

pub mod output;

pub mod mount;
pub mod runs;

pub mod results;

pub mod hash;

pub mod document;

pub mod features;

pub mod fingerprint;

pub mod hamming;

pub mod store;

pub mod synthetic;

pub mod tables;

pub mod matches;

pub mod index;

pub mod seen;

pub mod journal;

pub mod online;

pub mod lsh;

pub mod clusters;

pub mod evaluate;

pub mod ledger;

pub mod peers;

pub mod flow;

pub mod join;

pub mod report;

pub use error::{Error, Kind, Result};
