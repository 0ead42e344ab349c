//! The pipeline lifted to streams: the only module that names the engine, timely dataflow.
//!
//! A [`Processes`] is one process of all those that run a job together. It runs the job step by step. A step
//! that computes is a dataflow, and all dataflows have one shape: units of work are dispatched to whichever
//! worker is free, the results are gathered by the first worker of process 0 or handed over to their owners, and a window
//! bounds what is in flight.
//!
//! This module may import everything above it in `lib.rs`. Start reading at
//! `dataflows.rs`, those of a join, then `dispatch.rs`, which runs them all.
//! `probe.rs` is what a worker does with one chunk. `documents.rs` is the dataflow that reads documents.
//! `processes.rs` has the steps, and `fatal.rs` how a run ends early.

mod checkpoint;
mod chunks;
mod counting;
mod dataflows;
mod dispatch;
mod documents;
mod fatal;
mod findings;
mod fingerprinting;
mod gather;
mod owners;
mod portions;
mod probe;
mod processes;
mod read;
mod reading;
mod role;
mod sweep;

pub use counting::Counted;
pub use documents::{Documents, Harvest};
pub use fatal::{Fatal, lost_peer, start_was_given_up};
pub use fingerprinting::Fingerprinting;
pub use processes::Processes;
pub use read::{Read, ShareRead};
pub use reading::Collected;
pub use role::{Role, Start};

pub(crate) use dataflows::{Pairs, confirm, find_pairs, find_passages};
pub(crate) use owners::Owners;
pub(crate) use probe::Probing;
