//! What everything stands on: errors that say what to do, files that are whole or absent, object stores and the mounts that
//! show them as folders, sorted runs, and results in three formats.
//!
//! ```text
//! object_storage::Address -> mount::Mount -> output::NewFile -+-> results::ResultWriter
//!                                                             `-> frames::FrameFile -> runs::Sorter
//! ```

// What the front does not show has comments where its name does not say all.
#![allow(missing_docs)]
#![deny(unsafe_code)]

#[warn(missing_docs)]
pub mod error;

pub mod catch_panic;
pub mod day;
pub mod parallel;
pub mod progress;
pub mod small_file;
pub mod step;

pub mod budget;
pub mod work;
pub mod work_queues;

pub mod object_storage;

pub mod output;

#[cfg(feature = "object-store")]
pub mod mount;
#[cfg(not(feature = "object-store"))]
#[path = "mount/absent.rs"]
pub mod mount;

pub mod frames;
pub mod runs;

pub mod results;

pub use error::{Error, Kind, Result};
