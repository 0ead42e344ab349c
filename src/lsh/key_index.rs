//! The band keys of a batch in memory: which groups have a key?

use super::batch::Batch;
use crate::error::Result;
use crate::matches::KeepRank;
use crate::parallel::in_parallel;
use crate::tables::keys::{Keys, entry, most_numbers, number_of};

/// The keys of consecutive groups.
pub(super) struct KeyIndex {
    first: u32,
    groups: usize,
    pub(super) bands: Vec<Keys>,
}

impl KeyIndex {
    /// How many groups an index of `memory_bytes` holds.
    pub(super) fn groups(bands: usize, memory_bytes: usize) -> usize {
        most_numbers(bands, memory_bytes)
    }

    /// The index of some `groups`.
    pub(super) fn of(
        batch: &Batch,
        groups: std::ops::Range<u32>,
        workers: usize,
    ) -> Result<KeyIndex> {
        let mut bands: Vec<Vec<u64>> = Vec::new();
        let mut buffer = Vec::new();
        for group in groups.clone() {
            let mut band = 0;
            batch.each_key(group.into(), &mut buffer, |key| {
                if band == bands.len() {
                    bands.push(Vec::with_capacity(groups.len()));
                }
                bands[band].push(entry(key, group - groups.start));
                band += 1;
                Ok(())
            })?;
        }
        let bands = in_parallel(workers, &bands, |entries| Keys::of(entries.clone()));
        Ok(KeyIndex { first: groups.start, groups: groups.len(), bands })
    }

    /// How many groups it has.
    pub(super) fn len(&self) -> usize {
        self.groups
    }

    /// The group of this number.
    pub(super) fn group(&self, number: u32) -> KeepRank {
        KeepRank::from(self.first + number)
    }

    /// Whether it has a group.
    pub(super) fn has(&self, group: KeepRank) -> bool {
        let number = u32::from(group).checked_sub(self.first);
        number.is_some_and(|number| (number as usize) < self.groups)
    }

    /// The numbers of the groups with a key of a band.
    pub(super) fn numbers_with(&self, band: usize, key: u64) -> impl Iterator<Item = u32> {
        self.bands[band].with(key).iter().copied().map(number_of)
    }
}
