//! Many runs gathered into one, group by group of a common prefix.
//!
//! A store of a thousand days has a thousand runs, and a leaf would find only a few fingerprints in each.
//! A leaf accepts them in any order. So the runs are copied together, for each prefix one run after the
//! other, without comparing fingerprints with each other. The position of a fingerprint says which run it
//! came from: within a group, those of one run are together.

use std::ops::Range;

use crate::fingerprint::Fingerprint;
use crate::tables::probe::Hit;

#[derive(Debug, Default)]
pub(super) struct Bag<F> {
    /// All fingerprints, by prefix and then by run.
    pub(super) fingerprints: Vec<F>,
    /// How many bits follow the prefixes by which it is in order, and the prefix of the first group.
    pub(super) rest: u32,
    first: u128,
    runs: usize,
    /// For each group, and one more at the end, and each run: where its part begins, here and in the run.
    parts: Vec<PartBegin>,
}

#[derive(Clone, Copy, Debug, Default)]
struct PartBegin {
    here: u32,
    there: u32,
}

impl<F: Fingerprint> Bag<F> {
    /// Gathers `runs`, which ascend, by the prefixes before `rest` bits. Returns false, without gathering, if
    /// the runs have too few fingerprints in a group to make it worthwhile.
    pub(super) fn fill(&mut self, runs: &[&[F]], rest: u32) -> bool {
        let prefix = |&fingerprint: &F| (fingerprint >> rest).to_u128();
        let lowest = runs.iter().filter_map(|run| run.first()).min().map_or(0, prefix);
        let highest = runs.iter().filter_map(|run| run.last()).max().map_or(0, prefix);
        let groups = (highest - lowest) as usize + 1;
        let count: usize = runs.iter().map(|run| run.len()).sum();
        if groups.saturating_mul(runs.len()) > count {
            return false;
        }
        (self.rest, self.first, self.runs) = (rest, lowest, runs.len());
        self.parts.clear();
        self.parts.resize((groups + 1) * runs.len(), PartBegin::default());
        for (number, run) in runs.iter().enumerate() {
            self.divide(number, run, groups);
        }
        self.fingerprints.clear();
        for at in 0..groups * self.runs {
            self.parts[at].here = self.fingerprints.len() as u32;
            let part = self.parts[at].there..self.parts[at + self.runs].there;
            let run = runs[at % self.runs];
            self.fingerprints.extend_from_slice(&run[part.start as usize..part.end as usize]);
        }
        let all = self.fingerprints.len() as u32;
        self.parts[groups * self.runs..].iter_mut().for_each(|end| end.here = all);
        true
    }

    fn divide(&mut self, number: usize, run: &[F], groups: usize) {
        let mut there = 0;
        for group in 0..groups {
            self.parts[group * self.runs + number].there = there as u32;
            let last = F::from_u128(self.first + group as u128) << self.rest | low_bits(self.rest);
            there += gallop(&run[there..], last);
        }
        self.parts[groups * self.runs + number].there = run.len() as u32;
    }

    /// What each run has in the group of `fingerprint`.
    pub(super) fn slices(&self, fingerprint: F) -> Vec<Range<usize>> {
        let group = self.group(fingerprint);
        let begins = self.row(group);
        let ends = self.row(group + 1);
        begins
            .iter()
            .zip(ends)
            .map(|(begin, end)| begin.there as usize..end.there as usize)
            .collect()
    }

    /// Turns a hit in the bag into the hit in the run that the fingerprint was copied from.
    pub(super) fn hit_in_run(&self, hit: Hit) -> Hit {
        let row = self.row(self.group(self.fingerprints[hit.at as usize]));
        let run = row.partition_point(|part| part.here <= hit.at) - 1;
        let PartBegin { here, there } = row[run];
        Hit { run: run as u32, at: there + hit.at - here, ..hit }
    }

    fn group(&self, fingerprint: F) -> usize {
        ((fingerprint >> self.rest).to_u128() - self.first) as usize
    }

    fn row(&self, group: usize) -> &[PartBegin] {
        &self.parts[group * self.runs..][..self.runs]
    }
}

/// The lowest `count` bits set, fewer than all.
fn low_bits<F: Fingerprint>(count: u32) -> F {
    if count == 0 { F::default() } else { F::MAX >> (F::BITS - count) }
}

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
