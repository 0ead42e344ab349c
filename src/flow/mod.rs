//! The pipeline lifted to streams: the only module that names the engine.
//!
//! A [`Cluster`] is one process of however many run a job together; it runs the job step by step. A
//! step that works is a dataflow, and all of them have one shape: units of [`Work`] are [dealt](deal)
//! to whoever is free, what they yield is [reduced](Reduce) and [gathered](Gather) by the first
//! worker of process 0, and a window bounds what is in flight between.

mod cluster;
mod counting;
mod dispatch;
mod fatal;
mod findings;
mod gather;
mod probe;
mod reading;
mod reduce;
mod stream;
mod sweep;
mod verify_cold;

pub use timely::worker::Worker;

pub use cluster::Cluster;
pub use counting::{Counted, Counting};
pub use dispatch::{Claim, Dealt, Window, Work, Yield, deal};
pub use fatal::{Fatal, lost_peer};
pub use gather::{Collect, End, Gather, Gathered};
pub use probe::{Join, Prober};
pub use reading::{Collected, Hand, Portions, Read, Reading, Sketching, Taken};
pub use reduce::Reduce;
pub use verify_cold::Hot;
