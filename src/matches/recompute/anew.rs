//! A sample of the batch joined anew: with the store, and with the kept pages of the batch.
//!
//! The pages with one fingerprint, class and signature are one group, as in the join itself, so that a
//! million copies are looked at once.

use std::ops::Range;
use std::sync::Arc;

use super::{NONE, Recompute};
use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::matches::group_key::MarkReader;
use crate::matches::{Against, Batch, Detail, Leaders};
use crate::progress::{self, Activity};
use crate::store::{Dated, Day, Ids, KeyRange, RowDays};
use crate::tables::{Design, Hit, Method, Probe, Problem, Scratch, plan};

/// What joins the sample.
pub(super) struct Anew<'a, F> {
    pub(super) of: &'a Recompute<'a>,
    pub(super) batch: &'a Batch,
    /// The distinct fingerprints of the batch.
    pub(super) fingerprints: &'a Arc<[F]>,
    /// The row of each group that is kept, or [`NONE`].
    pub(super) kept: &'a [u32],
    /// The row of each group that comes first in keep order, and the groups in that order.
    pub(super) leaders: Leaders,
}

/// What the join finds of a group.
#[derive(Debug)]
pub(super) struct Expected {
    pub(super) group: u32,
    /// How many pages of the store are near.
    held: u128,
    /// The nearest of them: distance, id and day.
    nearest_held: Option<(u8, String, Day)>,
    /// The nearest kept row of other groups: distance, rank of its id, row.
    nearest_kept: Option<(u8, u32, u32)>,
    /// Whether one of these comes before the group in keep order.
    crowded_out: bool,
    /// The near groups of the batch, where all matches were written.
    near: Vec<u32>,
}

/// A segment of the store, looked up by row.
struct Lookup {
    ids: Ids,
    days: RowDays,
    marks: Option<MarkReader>,
}

impl<F: Fingerprint> Anew<'_, F> {
    /// Joins the groups of the `sampled` fingerprints, which ascend; what is found comes in order of groups.
    pub(super) fn join(&self, sampled: &[u32]) -> Result<Vec<Expected>> {
        let groups = sampled.iter().flat_map(|&fingerprint| self.batch.groups_of(fingerprint));
        let mut expected: Vec<Expected> = groups.map(Expected::of).collect();
        let probes: Arc<[F]> =
            sampled.iter().map(|&number| self.fingerprints[number as usize]).collect();
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
        self.join_batch(&method, &starts, &mut expected);
        Ok(expected)
    }

    fn method(&self, probes: &Arc<[F]>) -> Result<Method<F>> {
        let held = self.of.store.iter().map(|dated| dated.segment().rows());
        let problem = Problem {
            batch: probes.len() as u64,
            store: held.sum::<u64>() + u64::from(self.batch.rows()),
            k: self.of.distance,
            width: F::WIDTH,
            workers: 1,
            split: false,
        };
        let chosen = plan::choose(Design::Auto, &problem, self.of.memory_bytes as u64)?.chosen;
        Method::build(probes, chosen.design, chosen.way, self.of.distance)
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
        let marks = self.batch.marks().map(|_| MarkReader::new(segment, self.of.confirm.as_ref()));
        let mut lookup =
            Lookup { ids: segment.ids(), days: dated.days(), marks: marks.transpose()? };
        // Distinct fingerprints and their first rows.
        let (mut window, mut rows, mut end) = (Vec::new(), Vec::new(), 0);
        let (mut scan, mut run) = (segment.scan::<F>(KeyRange::all()), Vec::new());
        let mut probing = Probing { of: self, method, starts, scratch: Scratch::default() };
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
        let Some(marks) = self.batch.marks() else {
            // Of rows that share a fingerprint the first has the smallest id and its earliest day.
            return expected.iter_mut().try_for_each(|expected| {
                expected.held += u128::from(rows.end - rows.start);
                lookup.offer(expected, distance, rows.start)
            });
        };
        for row in rows {
            progress::tick(Activity::Working);
            for expected in &mut *expected {
                let reader = lookup.marks.as_mut().expect("the segment has what the batch has");
                let mark = self.batch.mark(marks, expected.group);
                if marks.compare(mark, reader.get(row)?).is_some() {
                    expected.held += 1;
                    lookup.offer(expected, distance, row)?;
                }
            }
        }
        Ok(())
    }

    /// Joins the sample with the batch.
    fn join_batch(&self, method: &Method<F>, starts: &[usize], expected: &mut [Expected]) {
        let mut scratch = Scratch::default();
        for (number, window) in self.fingerprints.chunks(method.window()).enumerate() {
            progress::tick(Activity::Working);
            let first = (number * method.window()) as u32;
            method.probe(&[window], &mut scratch, &mut |Hit { batch, at, distance, .. }| {
                let batch = batch as usize;
                for expected in &mut expected[starts[batch]..starts[batch + 1]] {
                    progress::tick(Activity::Working);
                    for other in self.batch.groups_of(first + at) {
                        self.meet(expected, other, distance);
                    }
                }
            });
        }
    }

    /// Takes a group of the batch whose fingerprint is near that of the `expected` one.
    fn meet(&self, expected: &mut Expected, other: u32, distance: u8) {
        let group = expected.group;
        if other == group || !self.batch.matches(group, other) {
            return;
        }
        if self.of.detail == Detail::All {
            expected.near.push(other);
        }
        let row = self.kept[other as usize];
        if row != NONE {
            let next = (distance, self.batch.rank(row), row);
            let nearest = expected.nearest_kept.get_or_insert(next);
            *nearest = next.min(*nearest);
            let rank = |group: u32| self.leaders.rank[group as usize];
            expected.crowded_out |= rank(other) < rank(group);
        }
    }

    /// What the keep rule says of a page of an `expected` group: nothing if it is kept, or the page that
    /// it is dropped in favour of, as the verdicts name it. Or why the pages that are called kept cannot be those
    /// of the rule.
    pub(super) fn verdict(
        &self,
        expected: &Expected,
        row: u32,
        ids: &mut Ids,
    ) -> Result<Result<Option<[String; 3]>, &'static str>> {
        let Expected { group, nearest_held, nearest_kept, crowded_out, .. } = expected;
        let kept = self.kept[*group as usize];
        let is_near = nearest_held.is_some() || nearest_kept.is_some();
        match kept {
            NONE if nearest_held.is_none() && !crowded_out => {
                return Ok(Err(
                    "the page is dropped, but no page of the store and no kept page that \
                               comes before it is near",
                ));
            }
            NONE => {}
            _ if is_near && kept == row => {
                return Ok(Err("the page is kept, but it is near one that is held or kept"));
            }
            _ if kept != self.leaders.rows[*group as usize] => {
                return Ok(Err("of pages with one fingerprint another comes first in keep order"));
            }
            _ if kept == row => return Ok(Ok(None)),
            _ => {}
        }
        let own = (kept != NONE).then(|| (0, self.batch.rank(kept), kept));
        let kept = [own, *nearest_kept].into_iter().flatten().min();
        Ok(Ok(Some(match (nearest_held, kept) {
            // Of two at one distance the store's comes first.
            (Some((distance, id, day)), kept) if kept.is_none_or(|kept| *distance <= kept.0) => {
                [id.clone(), distance.to_string(), day.to_string()]
            }
            (_, Some((distance, _, row))) => {
                let id = ids.get(self.batch.place(row).into())?;
                [id.to_owned(), distance.to_string(), Against::Batch.to_string()]
            }
            _ => unreachable!("a page is dropped in favour of one that is near"),
        })))
    }

    /// How many matches there are in which a page of an `expected` group is the new one.
    pub(super) fn pairs(&self, expected: &Expected, row: u32) -> u128 {
        let rank = self.batch.rank(row);
        let groups = expected.near.iter().copied().chain([expected.group]);
        expected.held + groups.map(|group| self.batch.before(group, rank) as u128).sum::<u128>()
    }
}

/// A probe of windows of the store.
struct Probing<'a, 'b, F: Fingerprint> {
    of: &'a Anew<'b, F>,
    method: &'a Method<F>,
    starts: &'a [usize],
    scratch: Scratch<F>,
}

impl<F: Fingerprint> Probing<'_, '_, F> {
    /// Probes a window of distinct fingerprints, which begin at these `rows`, and clears it. The last one
    /// has rows up to `end`.
    fn probe(
        &mut self,
        window: &mut Vec<F>,
        rows: &mut Vec<u64>,
        end: u64,
        lookup: &mut Lookup,
        expected: &mut [Expected],
    ) -> Result<()> {
        let (of, starts, mut failed) = (self.of, self.starts, Ok(()));
        rows.push(end);
        self.method.probe(&[window], &mut self.scratch, &mut |hit: Hit| {
            let (batch, at) = (hit.batch as usize, hit.at as usize);
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
    /// Makes a row of the store the nearest one, if it is.
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
    fn of(group: u32) -> Expected {
        let (nearest_held, nearest_kept, near) = (None, None, Vec::new());
        Expected { group, held: 0, nearest_held, nearest_kept, crowded_out: false, near }
    }
}
