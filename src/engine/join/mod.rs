//! The join: which pages of a batch are near-duplicates of pages in a store, or of each other?
//!
//! "Given a collection of f-bit fingerprints and a fingerprint F, identify whether an existing
//! fingerprint differs from F in at most k bits. (In the batch-mode version of the above problem, we
//! have a set of query fingerprints instead of a single query fingerprint.)" - Manku, Jain and Das
//! Sarma, section 3. The tables are made of the batch, and the store streams past them.
//!
//! A [`Join`] names a batch, a version of a store, and how the two are joined. [`Join::run`] does all of it:
//! it chooses a design, builds the tables, runs the dataflow, proves that nothing was left out, and writes
//! the verdicts. It needs no flag and no terminal.
//!
//! This room may import everything above it in `lib.rs`. Start reading at `request.rs`, then `run.rs`, which
//! has the steps in order; `find.rs` and `confirm.rs` are the steps that compute.
//!
//! # Example
//!
//! Three fingerprints, of which two differ in one bit:
//!
//! ```
//! use dupsieve_engine::flow::Processes;
//! use dupsieve_engine::join::Join;
//! use dupsieve_archive::store::{RecordCounts, Row, SegmentOptions, SegmentWriter};
//!
//! let folder = tempfile::tempdir()?;
//! let mut writer = SegmentWriter::<u64>::create(&folder.path().join("a.seg"), SegmentOptions::default())?;
//! for (fingerprint, id) in [(0b0001, "a"), (0b0011, "b"), (u64::MAX, "c")] {
//!     writer.push(&Row::new(fingerprint, id))?;
//! }
//! let batch = writer.finish(RecordCounts { read: 3, fingerprinted: 3, ..RecordCounts::default() }, "")?;
//!
//! let joined = Join::new(batch, None)?.run(&mut Processes::alone(1), &folder.path().join("out"))?;
//! let joined = joined.leader().expect("this is the only process");
//! assert_eq!((joined.outcome.kept, joined.outcome.dropped, joined.proof.pairs), (2, 1, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod confirm;
mod find;
mod preset;
mod proof;
mod request;
mod run;
mod site;

#[cfg(test)]
mod tests;

pub use find::Figures;
pub use preset::{Preset, recipe_of};
pub use proof::Proof;
pub use request::{
    Join, JoinInputs, check_passages, check_recipe, check_recrawled, check_signatures,
    check_stamps, recrawled,
};
pub use run::Joined;
pub use site::{Site, Watch, build, unwatched};
