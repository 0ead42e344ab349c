//! How many processes and threads run a job together, and what each process knows of the others.

use std::time::Duration;

use super::secret::Secret;

/// How many threads and processes there are, and which of the processes this one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Topology {
    /// Worker threads in each process, at least 1.
    pub workers: usize,
    /// Processes in all, at least 1.
    pub processes: usize,
    /// This process, counted from 0.
    pub process: usize,
}

/// Who the processes of a cluster are to each other.
#[derive(Clone, Debug)]
pub struct Peers {
    /// Where each process is called, in their order.
    pub hosts: Vec<String>,
    /// What they know and nobody else does.
    pub secret: Secret,
    /// How long they wait for each other.
    pub patience: Patience,
}

/// How long a process waits for another one that says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// For the first word of one that has yet to start.
    pub arrival: Duration,
    /// For a sign of life from one that has come.
    pub silence: Duration,
}
