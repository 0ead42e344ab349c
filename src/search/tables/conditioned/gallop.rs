//! The search for a bound that is probably close.

use crate::fingerprint::Fingerprint;

/// How many of the ascending `fingerprints` are not above `high`. It takes little time if they are few.
pub(super) fn gallop<F: Fingerprint>(fingerprints: &[F], high: F) -> usize {
    let mut bound = 1;
    while bound < fingerprints.len() && fingerprints[bound] <= high {
        bound *= 2;
    }
    let known = bound / 2;
    let open = &fingerprints[known..fingerprints.len().min(bound + 1)];
    known + open.partition_point(|&fingerprint| fingerprint <= high)
}
