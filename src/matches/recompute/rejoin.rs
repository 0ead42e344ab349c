//! A sample of the batch joined again: with the store, and with the kept pages of the batch.
//!
//! Pages with one fingerprint, class and signature are one group, as in the join itself, so a million
//! copies are looked at once.

use std::ops::Range;
use std::sync::Arc;

use super::inputs::Recompute;
use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::matches::batch::Batch;
use crate::matches::detail::Detail;
use crate::matches::group_key::{GroupKeyReader, GroupKeys};
use crate::matches::keep_order::Leaders;
use crate::matches::numbers::{FingerprintIndex, Group, IdRank, Number, Row};
use crate::matches::origin::Origin;
use crate::progress::{self, Activity};
use crate::store::{Dated, Day, Ids, KeyRange, RowDays};
use crate::tables::{
    Design, Distribution, Hit, Method, MethodScratch, Prices, Probe, Problem, plan,
};

/// What joins the sample.
pub(super) struct Rejoin<'a, F> {
    pub(super) of: &'a Recompute<'a>,
    pub(super) batch: &'a Batch,
    /// The keys of the batch, if it has some.
    pub(super) keys: Option<&'a GroupKeys>,
    /// The distinct fingerprints of the batch.
    pub(super) fingerprints: &'a Arc<[F]>,
    /// The row of each group that is kept, if one is.
    pub(super) kept: &'a [Option<Row>],
    /// The row of each group that comes first in keep order, and the groups in that order.
    pub(super) leaders: Leaders,
}

/// What the join finds for a group.
#[derive(Debug)]
pub(super) struct Expected {
    pub(super) group: Group,
    /// How many pages of the store are near.
    held: u128,
    /// The nearest of them: distance, id and day.
    nearest_held: Option<(u8, String, Day)>,
    /// The nearest kept row of other groups: distance, rank of its id, row.
    nearest_kept: Option<(u8, IdRank, Row)>,
    /// Whether one of these comes before the group in keep order.
    crowded_out: bool,
    /// The near groups of the batch, if all matches were written.
    near: Vec<Group>,
}

/// A segment of the store, looked up by row.
struct Lookup {
    ids: Ids,
    days: RowDays,
    keys: Option<GroupKeyReader>,
}

impl<F: Fingerprint> Rejoin<'_, F> {
    /// Joins the groups of the `sampled` fingerprints, which ascend. The result is in the order of groups.
    pub(super) fn join(&self, sampled: &[FingerprintIndex]) -> Result<Vec<Expected>> {
        let groups = sampled.iter().flat_map(|&sampled| self.batch.groups_of(sampled).iter());
        let mut expected: Vec<Expected> = groups.map(Expected::of).collect();
        let probes: Arc<[F]> =
            sampled.iter().map(|&sampled| self.fingerprints[sampled.index()]).collect();
        if probes.is_empty() {
            return Ok(expected);
        }
        // Where the groups of each sampled fingerprint begin in `expected`.
        let mut starts = vec![0];
        for &fingerprint in sampled {
            starts.push(starts[starts.len() - 1] + self.batch.groups_of(fingerprint).len());
        }
        let method = self.method(&probes)?;
        for dated in self.of.store {
            self.join_segment(dated, &method, &starts, &mut expected)?;
        }
        self.join_batch(&method, &starts, &mut expected)?;
        Ok(expected)
    }

    fn method(&self, probes: &Arc<[F]>) -> Result<Method<F>> {
        let held = self.of.store.iter().map(|dated| dated.segment().rows());
        let store = held.sum::<u64>() + u64::from(self.batch.rows());
        let problem = Problem {
            distribution: Distribution::of(probes, &[]),
            ..Problem::uniform(probes.len() as u64, store, self.of.distance, F::WIDTH, 1)
        };
        let memory_bytes = self.of.memory_bytes as u64;
        let chosen = plan::choose(Design::Auto, &problem, &Prices::USUAL, memory_bytes)?.chosen;
        let method =
            Method::build(probes, chosen.design, chosen.way, self.of.distance, self.of.workers)?;
        Ok(method.in_windows(chosen.window))
    }

    fn join_segment(
        &self,
        dated: &Dated,
        method: &Method<F>,
        starts: &[usize],
        expected: &mut [Expected],
    ) -> Result<()> {
        let segment = dated.segment();
        // A segment of a day on which no page was kept has no signatures either.
        if segment.rows() == 0 {
            return Ok(());
        }
        let confirm = self.of.confirm.as_ref();
        let keys = self.keys.map(|_| GroupKeyReader::new(segment, confirm)).transpose()?;
        let mut lookup = Lookup { ids: segment.ids(), days: dated.days(), keys };
        // Distinct fingerprints and their first rows.
        let mut window = Vec::new();
        let mut rows = Vec::new();
        let mut end = 0;
        let mut scan = segment.scan::<F>(KeyRange::all());
        let mut run = Vec::new();
        let mut probing = Probing { of: self, method, starts, scratch: MethodScratch::default() };
        while let Some(first) = scan.next(&mut run)? {
            for (row, &fingerprint) in (first..).zip(&run) {
                if window.last() != Some(&fingerprint) {
                    if window.len() >= method.window() {
                        probing.probe(&mut window, &mut rows, row, &mut lookup, expected)?;
                    }
                    window.push(fingerprint);
                    rows.push(row);
                }
                end = row + 1;
            }
        }
        probing.probe(&mut window, &mut rows, end, &mut lookup, expected)
    }

    /// Takes rows of the store with one fingerprint, near all of the `expected` groups.
    fn take(
        &self,
        expected: &mut [Expected],
        distance: u8,
        rows: Range<u64>,
        lookup: &mut Lookup,
    ) -> Result<()> {
        let Some(keys) = self.keys else {
            // Of rows that share a fingerprint the first has the smallest id and its earliest day.
            return expected.iter_mut().try_for_each(|expected| {
                expected.held += u128::from(rows.end - rows.start);
                lookup.offer(expected, distance, rows.start)
            });
        };
        for row in rows {
            progress::tick(Activity::Working);
            for expected in &mut *expected {
                let reader = lookup.keys.as_mut().expect("the segment has what the batch has");
                let new = self.batch.key_row(expected.group);
                if keys.compare_row(new, reader.get(row)?, distance.into())?.is_some() {
                    expected.held += 1;
                    lookup.offer(expected, distance, row)?;
                }
            }
        }
        Ok(())
    }

    /// Joins the sample with the batch.
    fn join_batch(
        &self,
        method: &Method<F>,
        starts: &[usize],
        expected: &mut [Expected],
    ) -> Result<()> {
        let mut met = Ok(());
        let mut scratch = MethodScratch::default();
        for (number, window) in self.fingerprints.chunks(method.window()).enumerate() {
            progress::tick(Activity::Working);
            let first = (number * method.window()) as u32;
            method.probe(&[window], &mut scratch, &mut |Hit { batch, at, distance, .. }| {
                let batch = batch as usize;
                for expected in &mut expected[starts[batch]..starts[batch + 1]] {
                    progress::tick(Activity::Working);
                    for other in self.batch.groups_of(FingerprintIndex::from(first + at)).iter() {
                        if met.is_ok() {
                            met = self.meet(expected, other, distance);
                        }
                    }
                }
            });
        }
        met
    }

    /// Takes a group of the batch whose fingerprint is near that of the `expected` one.
    fn meet(&self, expected: &mut Expected, other: Group, distance: u8) -> Result<()> {
        let group = expected.group;
        if other == group || !self.batch.matches(self.keys, [group, other], distance.into())? {
            return Ok(());
        }
        if self.of.detail == Detail::All {
            expected.near.push(other);
        }
        if let Some(row) = self.kept[other.index()] {
            let next = (distance, self.batch.rank(row), row);
            let nearest = expected.nearest_kept.get_or_insert(next);
            *nearest = next.min(*nearest);
            expected.crowded_out |= self.leaders.rank(other) < self.leaders.rank(group);
        }
        Ok(())
    }

    /// The verdict of the keep rule on a page of an `expected` group: `None` if the page is kept, else the
    /// page it is dropped for, as the verdicts name it. An inner error says why the kept pages of the
    /// output cannot be those of the rule.
    pub(super) fn verdict(
        &self,
        expected: &Expected,
        row: Row,
        ids: &mut Ids,
    ) -> Result<Result<Option<[String; 3]>, &'static str>> {
        let kept = self.kept[expected.group.index()];
        if let Some(what) = self.contradiction(expected, row, kept) {
            return Ok(Err(what));
        }
        if kept == Some(row) {
            return Ok(Ok(None));
        }
        let own = kept.map(|kept| (0, self.batch.rank(kept), kept));
        let kept = [own, expected.nearest_kept].into_iter().flatten().min();
        Ok(Ok(Some(match (&expected.nearest_held, kept) {
            // At equal distances the store's page comes first.
            (Some((distance, id, day)), kept) if kept.is_none_or(|kept| *distance <= kept.0) => {
                [id.clone(), distance.to_string(), day.to_string()]
            }
            (_, Some((distance, _, row))) => {
                let row: u32 = self.batch.segment_row(row).into();
                let id = ids.get(row.into())?;
                [id.to_owned(), distance.to_string(), Origin::Batch.to_string()]
            }
            _ => unreachable!("a page is dropped for one that is near"),
        })))
    }

    /// Why a group cannot have this row `kept`, if it cannot.
    fn contradiction(
        &self,
        expected: &Expected,
        row: Row,
        kept: Option<Row>,
    ) -> Option<&'static str> {
        let Expected { group, nearest_held, nearest_kept, crowded_out, .. } = expected;
        let is_near = nearest_held.is_some() || nearest_kept.is_some();
        match kept {
            None if nearest_held.is_none() && !crowded_out => Some(
                "the page is dropped, but no page of the store and no kept page that comes before it is \
                 near",
            ),
            None => None,
            Some(kept) if is_near && kept == row => {
                Some("the page is kept, but it is near one that is held or kept")
            }
            Some(kept) if kept != self.leaders.row(*group) => {
                Some("of pages with one fingerprint another comes first in keep order")
            }
            Some(_) => None,
        }
    }

    /// In how many matches a page of an `expected` group is the new one.
    pub(super) fn pairs(&self, expected: &Expected, row: Row) -> u128 {
        let rank = self.batch.rank(row);
        let groups = expected.near.iter().copied().chain([expected.group]);
        expected.held + groups.map(|group| self.batch.before(group, rank) as u128).sum::<u128>()
    }
}

/// A probe of windows of the store.
struct Probing<'a, 'b, F: Fingerprint> {
    of: &'a Rejoin<'b, F>,
    method: &'a Method<F>,
    starts: &'a [usize],
    scratch: MethodScratch<F>,
}

impl<F: Fingerprint> Probing<'_, '_, F> {
    /// Probes a window of distinct fingerprints, and clears it. `rows` are the first row of each; the
    /// last fingerprint has rows up to `end`.
    fn probe(
        &mut self,
        window: &mut Vec<F>,
        rows: &mut Vec<u64>,
        end: u64,
        lookup: &mut Lookup,
        expected: &mut [Expected],
    ) -> Result<()> {
        let Probing { of, starts, .. } = *self;
        let mut failed = Ok(());
        rows.push(end);
        self.method.probe(&[window], &mut self.scratch, &mut |hit: Hit| {
            let batch = hit.batch as usize;
            let at = hit.at as usize;
            let expected = &mut expected[starts[batch]..starts[batch + 1]];
            if failed.is_ok() {
                failed = of.take(expected, hit.distance, rows[at]..rows[at + 1], lookup);
            }
        });
        window.clear();
        rows.clear();
        progress::tick(Activity::Working);
        failed
    }
}

impl Lookup {
    /// Takes a row of the store as the nearest one, if it is.
    fn offer(&mut self, expected: &mut Expected, distance: u8, row: u64) -> Result<()> {
        let nearest = &mut expected.nearest_held;
        if nearest.as_ref().is_some_and(|nearest| nearest.0 < distance) {
            return Ok(());
        }
        let next = (distance, self.ids.get(row)?.to_owned(), self.days.get(row)?);
        if nearest.as_ref().is_none_or(|nearest| next < *nearest) {
            *nearest = Some(next);
        }
        Ok(())
    }
}

impl Expected {
    fn of(group: Group) -> Expected {
        Expected {
            group,
            held: 0,
            nearest_held: None,
            nearest_kept: None,
            crowded_out: false,
            near: Vec::new(),
        }
    }
}
