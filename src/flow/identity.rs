//! Which job the processes of a cluster are there for, as a digest that gives nothing away.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

/// The name and parameters of a job and the version of dupsieve, keyed by the cluster's secret:
/// HMAC-SHA256 (RFC 2104). Processes with different identities refuse each other.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobIdentity([u8; 32]);

impl JobIdentity {
    /// The identity of `job` with `parameters` (whatever must be equal in all processes: inputs,
    /// flags, digests) among the holders of `secret`, which may be empty.
    pub fn new(job: &str, parameters: &str, secret: &[u8]) -> JobIdentity {
        let mut keyed = Hmac::<Sha256>::new_from_slice(secret).expect("a key of any length");
        for part in [env!("CARGO_PKG_VERSION"), job, parameters] {
            keyed.update(&(part.len() as u64).to_le_bytes());
            keyed.update(part.as_bytes());
        }
        JobIdentity(keyed.finalize().into_bytes().into())
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
        let identity = JobIdentity::new("dedup", "k=3", b"secret");
        assert_eq!(identity, JobIdentity::new("dedup", "k=3", b"secret"));
        for (job, parameters, secret) in [
            ("dedu", "pk=3", "secret"),
            ("filter", "k=3", "secret"),
            ("dedup", "k=4", "secret"),
            ("dedup", "k=3", ""),
        ] {
            assert_ne!(identity, JobIdentity::new(job, parameters, secret.as_bytes()));
        }
    }
}
