//! What falls into one share of a lead's groups, group by group.

use super::lead::Lead;
use crate::fingerprint::Fingerprint;
use crate::progress::{self, Activity};
use crate::tables::buckets::{Buckets, Entry, hash};

/// How many fingerprints are picked from at a time.
const PICK: usize = 1024;

/// Gathers in `buckets` what of `runs` falls into a share of the lead's groups, group by group.
pub(super) fn gather<F: Fingerprint>(
    buckets: &mut Buckets<F>,
    lead: &Lead<F>,
    share: u32,
    runs: &[&[F]],
    picked: &mut Vec<Entry<F>>,
) {
    progress::tick(Activity::Sorting);
    picked.clear();
    let mut first = 0;
    for run in runs {
        for (block, first) in run.chunks(PICK).zip((first..).step_by(PICK)) {
            pick(lead, share, block, first, picked);
        }
        first += run.len() as u32;
    }
    let shift = 64 - lead.group_bits;
    let groups = 1 << (lead.group_bits - lead.share_bits);
    let mask = lead.mask;
    let group = |fingerprint| (hash(fingerprint & mask) >> shift) as usize & (groups - 1);
    buckets.sort(picked.iter().copied(), groups, group);
}

/// Adds those of `block`, which begins at place `first`, that fall into a share.
fn pick<F: Fingerprint>(
    lead: &Lead<F>,
    share: u32,
    block: &[F],
    first: u32,
    picked: &mut Vec<Entry<F>>,
) {
    let mask = lead.mask;
    let shift = 64 - lead.share_bits;
    let start = picked.len();
    let mut count = start;
    picked.resize(start + block.len() + 1, Entry::default());
    for (&fingerprint, place) in block.iter().zip(first..) {
        picked[count] = Entry { fingerprint, place };
        count += usize::from(hash(fingerprint & mask) >> shift == u64::from(share));
    }
    picked.truncate(count);
}
