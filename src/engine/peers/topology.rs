//! How many processes and threads run a job together, and what each process knows about the others.

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

#[derive(Clone, Debug)]
pub struct Peers {
    /// The address of each process, in their order.
    pub hosts: Vec<String>,
    /// The secret that they know and nobody else does.
    pub secret: Secret,
    /// How long they wait for each other.
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
