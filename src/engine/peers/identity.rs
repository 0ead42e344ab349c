//! The identity of a job, as a digest that reveals nothing about it.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// SHA-256 of the name and parameters of a job and the version of dupsieve. Processes with different
/// identities refuse each other.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobIdentity([u8; 32]);

impl JobIdentity {
    /// The identity of `job` with `parameters`: everything that must be equal in all processes, such as
    /// inputs, flags and digests.
    pub fn new(job: &str, parameters: &str) -> JobIdentity {
        let mut digest = Sha256::new();
        for part in [env!("CARGO_PKG_VERSION"), job, parameters] {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        }
        JobIdentity(digest.finalize().into())
    }
}

impl fmt::Debug for JobIdentity {
    /// The first four bytes in hex: enough to tell two apart.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0[..4].iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_counts_and_so_does_where_it_ends() {
        let identity = JobIdentity::new("dedup", "k=3");
        assert_eq!(identity, JobIdentity::new("dedup", "k=3"));
        for (job, parameters) in [("dedu", "pk=3"), ("filter", "k=3"), ("dedup", "k=4")] {
            assert_ne!(identity, JobIdentity::new(job, parameters));
        }
    }
}
