//! How many processes and threads run a job together, and what each process knows about the others.

use std::time::Duration;

use super::secret::Secret;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Topology {
    /// Worker threads in each process, at least 1.
    pub workers: usize,
    pub processes: usize,
    /// This process, counted from 0.
    pub process: usize,
}

#[derive(Clone, Debug)]
pub struct Peers {
    pub hosts: Vec<String>,
    pub secret: Secret,
    pub patience: Patience,
}

/// How long a process waits for another one that is silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// For the first answer of one that has not started yet.
    pub arrival: Duration,
    /// For a sign of life of one that has arrived.
    pub silence: Duration,
}
