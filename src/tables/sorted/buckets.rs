//! Fingerprints in buckets, by a counting sort: those of one key are together.

use super::lead::Lead;
use crate::fingerprint::Fingerprint;
use crate::progress::{self, Activity};
use crate::tables::table::hash;

/// How many fingerprints are picked from at a time.
const PICK: usize = 1024;

/// A fingerprint and its place in the batch, or in what is probed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entry<F> {
    pub(super) fingerprint: F,
    pub(super) place: u32,
}

/// Entries in buckets.
#[derive(Debug)]
pub(super) struct Buckets<F> {
    entries: Vec<Entry<F>>,
    /// Bucket b holds the entries `starts[b]..starts[b + 1]`.
    starts: Vec<u32>,
}

impl<F> Default for Buckets<F> {
    fn default() -> Buckets<F> {
        Buckets { entries: Vec::new(), starts: Vec::new() }
    }
}

impl<F: Fingerprint> Buckets<F> {
    /// Gathers what of `runs` falls into a share of the lead's groups, group by group.
    pub(super) fn gather(
        &mut self,
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
        self.sort(picked, groups, |entry| (hash(entry & mask) >> shift) as usize & (groups - 1));
    }

    /// Sorts `entries` into this many buckets.
    #[inline]
    pub(super) fn sort(
        &mut self,
        entries: &[Entry<F>],
        buckets: usize,
        bucket: impl Fn(F) -> usize,
    ) {
        let Buckets { entries: sorted, starts } = self;
        starts.clear();
        starts.resize(buckets + 1, 0);
        sorted.resize(entries.len().max(sorted.len()), Entry::default());
        for entry in entries {
            starts[bucket(entry.fingerprint)] += 1;
        }
        let mut sum = 0;
        for start in starts.iter_mut() {
            sum += *start;
            *start = sum;
        }
        for entry in entries {
            let start = &mut starts[bucket(entry.fingerprint)];
            *start -= 1;
            sorted[*start as usize] = *entry;
        }
    }

    pub(super) fn buckets(&self) -> impl Iterator<Item = &[Entry<F>]> {
        self.starts.windows(2).map(|bounds| &self.entries[bounds[0] as usize..bounds[1] as usize])
    }
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
