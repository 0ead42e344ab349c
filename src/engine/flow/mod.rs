//! The pipeline lifted to streams: the only room that names the engine, timely dataflow.
//!
//! A [`Processes`] is one process of all those that run a job together. It runs the job step by step. A step
//! that computes is a dataflow, and all dataflows have one shape: units of work are dispatched to whichever
//! worker is free, the results are gathered by the first worker of process 0 or handed over to their owners, and a window
//! bounds what is in flight.
//!
//! This room may import everything above it in `lib.rs`. Start reading at
//! `find.rs`, the dataflow of a join, then `dispatch.rs`, which runs them all. `confirming.rs` and `passages.rs` are the dataflows after it.
//! `probe.rs` is what a worker does with one chunk. `documents.rs` is the dataflow that reads documents.
//! `processes.rs` has the steps, and `fatal.rs` how a run ends early.
//!
//! ```
//! use dupsieve_engine::flow::Processes;
//!
//! let mut processes = Processes::alone(2);
//! // Every process learns what process 0 decides. Here there is one process.
//! let days = processes.agree("choose the days", || Ok(vec![20, 21]))?;
//! assert_eq!(days, [20, 21]);
//! # Ok::<(), dupsieve_base::Error>(())
//! ```

mod checkpoint;
mod chunks;
mod confirming;
mod counting;
mod dispatch;
mod documents;
mod fatal;
mod find;
mod finding;
mod findings;
mod fingerprinting;
mod gather;
mod host_counting;
mod owners;
mod passages;
mod places;
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

pub(crate) use confirming::confirm;
pub(crate) use find::{Pairs, find_pairs};
pub(crate) use owners::Owners;
pub(crate) use passages::find_passages;
pub(crate) use probe::Probing;
