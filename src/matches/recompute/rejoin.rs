//! The groups of a batch of fingerprints: a sample of them is joined again with the store and with the batch.
//!
//! Pages with one fingerprint, class and signature are one group, as in the join itself, so a million
//! copies are looked at once.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::expected::{Expected, Joined, Kept};
use super::groups::{Groups, Measured};
use super::inputs::{Recompute, Recomputed};
use super::replaced::Going;
use crate::error::Result;
use crate::fingerprint::{Fingerprint, Width};
use crate::matches::batch::Batch;
use crate::matches::detail::Detail;
use crate::matches::distinct::distinct_fingerprints;
use crate::matches::frequent::{Frequent, MostFrequent};
use crate::matches::group_key::{GroupKeyReader, GroupKeys};
use crate::matches::ids::Workshop;
use crate::matches::keep_order::{KeepOrder, Leaders};
use crate::matches::numbers::{FingerprintIndex, Group, IdRank, KeepRank, Number, Row};
use crate::matches::pair::{Pair, Place};
use crate::matches::partition::copies;
use crate::matches::shared_bands::SharedBands;
use crate::matches::similarity::Confirm;
use crate::matches::standing::{Standing, Standings};
use crate::matches::texts::{ComparedGroups, PageRuns, TextReading, Texts};
use crate::progress::{self, Activity};
use crate::runs::{Record, Sorter};
use crate::store::{Dated, Fingerprints, Ids, KeyRange, RowDays, Segment, Shown};
use crate::tables::{
    ArrangedBatch, Design, Distribution, Hit, MethodScratch, Probe, Problem, plan,
};

/// A batch of fingerprints, joined by their distance.
#[derive(Clone, Copy, Debug)]
pub struct ByDistance<'a> {
    /// The batch.
    pub batch: &'a Segment,
    /// The largest distance that counts as near.
    pub distance: u32,
    /// The check that confirmed matches, if there was one.
    pub confirm: Option<Confirm>,
    /// Which page of several near ones was kept.
    pub keep: KeepOrder,
    /// The texts of the batch, if they were compared.
    pub texts: Option<&'a Texts>,
}

impl ByDistance<'_> {
    /// Recomputes every row of the matches of an output and the verdicts of the sample.
    ///
    /// # Errors
    /// What differs from the files is [`Kind::BadData`](crate::Kind::BadData), with its file and line.
    pub fn recompute(self, of: &Recompute<'_>) -> Result<Recomputed> {
        match self.batch.width() {
            Width::W64 => of.run(&Rejoin::<u64>::load(self, of)?),
            Width::W128 => of.run(&Rejoin::<u128>::load(self, of)?),
        }
    }

    /// Recomputes the figures of the report that the batch alone gives.
    ///
    /// # Errors
    /// As [`ByDistance::recompute`].
    pub fn check_copies(self, of: &Recompute<'_>) -> Result<()> {
        match self.batch.width() {
            Width::W64 => of.check_copies(&Rejoin::<u64>::load(self, of)?),
            Width::W128 => of.check_copies(&Rejoin::<u128>::load(self, of)?),
        }
    }
}

/// What joins the sample.
struct Rejoin<'a, F> {
    of: &'a Recompute<'a>,
    by: ByDistance<'a>,
    batch: Batch,
    /// The keys of the batch, if it has some.
    keys: Option<GroupKeys>,
    /// The distinct fingerprints of the batch.
    fingerprints: Arc<[F]>,
    /// The row of each page, by the rank of its id.
    rows: Vec<Row>,
    /// The row of each group that comes first in keep order, and the groups in that order.
    leaders: Leaders,
}

/// Rows of the store: their fingerprints, and their keys where the batch has some.
struct HeldRows {
    fingerprints: Fingerprints,
    keys: Option<GroupKeyReader>,
}

impl<F: Fingerprint> Groups for Rejoin<'_, F> {
    type Distance = Standing;
    type Rows = HeldRows;

    fn pages(&self) -> u32 {
        self.batch.rows()
    }

    fn groups(&self) -> u32 {
        self.batch.groups()
    }

    fn group_of(&self, page: IdRank) -> Group {
        self.batch.group_of(self.rows[page.index()])
    }

    fn leader(&self, group: Group) -> (IdRank, KeepRank) {
        (self.batch.rank(self.leaders.row(group)), self.leaders.rank(group))
    }

    fn held(&self, standing: Standing) -> String {
        let directed = self.by.confirm.filter(|confirm| confirm.has_direction());
        directed.map(|_| standing.share().to_string()).unwrap_or_default()
    }

    fn before(&self, group: Group, page: IdRank) -> u64 {
        self.batch.before(group, page) as u64
    }

    fn listed(&self, most: &MostFrequent, matches: impl Fn(u128) -> u128) -> Result<Vec<Frequent>> {
        most.list(self.by.batch, &self.batch, matches)
    }

    fn join(&self, sample: &[IdRank], kept: &Kept) -> Result<Joined<Standing>> {
        let fingerprint = |&page: &IdRank| self.batch.fingerprint_of(self.group_of(page));
        let sampled: BTreeSet<FingerprintIndex> = sample.iter().map(fingerprint).collect();
        self.rejoin(&Vec::from_iter(sampled), kept)
    }

    fn rows_of(&self, dated: &Dated) -> Result<HeldRows> {
        let keys = self.keys.as_ref().map(|_| self.key_reader(dated)).transpose()?;
        Ok(HeldRows { fingerprints: dated.segment().fingerprints(), keys })
    }

    fn compare(&self, new: IdRank, existing: IdRank) -> Result<Measured<Standing>> {
        let [new, existing] = [new, existing].map(|page| self.group_of(page));
        let distance = self.fingerprint(new).distance(self.fingerprint(existing));
        let rows = [new, existing].map(|group| self.batch.key_row(group));
        let standings = |keys: &GroupKeys| keys.compare_rows(rows[0], rows[1], distance);
        self.measured(distance, self.keys.as_ref().map(standings).transpose()?)
    }

    fn compare_row(
        &self,
        new: IdRank,
        rows: &mut HeldRows,
        row: u64,
    ) -> Result<Measured<Standing>> {
        let new = self.group_of(new);
        let held = F::from_u128(rows.fingerprints.get(row)?);
        let distance = self.fingerprint(new).distance(held);
        let standings = match (&self.keys, &mut rows.keys) {
            (Some(keys), Some(reader)) => {
                Some(keys.compare_row(self.batch.key_row(new), reader.get(row)?, distance)?)
            }
            _ => None,
        };
        self.measured(distance, standings)
    }
}

/// A segment of the store, looked up by row.
struct Lookup {
    ids: Ids,
    days: RowDays,
    shown: Shown,
    keys: Option<GroupKeyReader>,
}

impl<'a, F: Fingerprint> Rejoin<'a, F> {
    /// How near two pages are, at this distance of their fingerprints. The batch has keys if there are `standings`.
    fn measured(&self, distance: u32, standings: Option<Standings>) -> Result<Measured<Standing>> {
        let standings = match standings {
            Some(standings) if !standings.any() => {
                return Ok(Err("the two pages do not match, though they are near"));
            }
            standings => standings.filter(|_| self.by.confirm.is_some()),
        };
        Ok(Ok((Standing::near(distance as u8), standings.map(Standings::share))))
    }

    fn load(by: ByDistance<'a>, of: &'a Recompute<'a>) -> Result<Rejoin<'a, F>> {
        let &Recompute { spill: folder, memory_bytes, workers, .. } = of;
        let workshop = Workshop { folder, memory_bytes, workers };
        let (batch, mut keys, _) = Batch::load::<F>(by.batch, by.confirm, workshop, memory_bytes)?;
        if by.texts.is_some() {
            keys.iter_mut().for_each(GroupKeys::find_candidates);
        }
        let rows = batch.by_rank();
        let fingerprints = distinct_fingerprints(by.batch)?.into();
        let leaders = batch.leaders(by.batch, by.keep, keys.as_ref(), of.space())?;
        Ok(Rejoin { of, by, batch, keys, fingerprints, rows, leaders })
    }

    fn fingerprint(&self, group: Group) -> F {
        self.fingerprints[self.batch.fingerprint_of(group).index()]
    }

    fn key_reader(&self, dated: &Dated) -> Result<GroupKeyReader> {
        GroupKeyReader::new(dated.segment(), self.by.confirm.as_ref())
    }

    /// Joins the groups of the `sampled` fingerprints, which ascend.
    fn rejoin(&self, sampled: &[FingerprintIndex], kept: &Kept) -> Result<Joined<Standing>> {
        let groups = sampled.iter().flat_map(|&sampled| self.batch.groups_of(sampled).iter());
        let copies = sampled.iter().map(|&sampled| copies(self.pages_of(sampled))).sum();
        let mut joined = Joined {
            expected: groups.map(Expected::of).collect(),
            pairs: 0,
            candidates: self.by.confirm.map(|_| copies),
            going: self.of.space().sorter(),
        };
        let probes: Arc<[F]> =
            sampled.iter().map(|&sampled| self.fingerprints[sampled.index()]).collect();
        if probes.is_empty() {
            return Ok(joined);
        }
        // Where the groups of each sampled fingerprint begin in `expected`.
        let mut starts = vec![0];
        for &fingerprint in sampled {
            starts.push(starts[starts.len() - 1] + self.batch.groups_of(fingerprint).len());
        }
        let method = self.method(&probes)?;
        for dated in self.of.store {
            self.join_segment(dated, &method, &starts, kept, &mut joined)?;
        }
        let mut met = Meetings {
            pairs: self.of.space().sorter(),
            compared: ComparedGroups::new(self.by.texts.map_or(0, |_| self.batch.groups())),
        };
        self.join_batch(&method, &starts, sampled, &mut joined, &mut met)?;
        self.meet_in_bands(&mut joined, &mut met)?;
        self.settle(met, kept, &mut joined.expected)?;
        Ok(joined)
    }

    /// How many pages have a fingerprint.
    fn pages_of(&self, fingerprint: FingerprintIndex) -> u128 {
        let groups = self.batch.groups_of(fingerprint).iter();
        groups.map(|group| self.batch.rows_of(group).len() as u128).sum()
    }

    fn method(&self, probes: &Arc<[F]>) -> Result<ArrangedBatch<F>> {
        let held = self.of.store.iter().map(|dated| dated.segment().rows());
        let store = held.sum::<u64>() + u64::from(self.batch.rows());
        let problem = Problem {
            distribution: Distribution::of(probes, &[]),
            ..Problem::uniform(probes.len() as u64, store, self.by.distance, F::WIDTH, 1)
        };
        let memory_bytes = self.of.memory_bytes as u64;
        let chosen = plan::choose(Design::Auto, &problem, memory_bytes)?.chosen;
        let method = ArrangedBatch::build(
            probes,
            chosen.design,
            chosen.way,
            self.by.distance,
            self.of.workers,
        )?;
        Ok(method.in_windows(chosen.window))
    }

    fn join_segment(
        &self,
        dated: &Dated,
        method: &ArrangedBatch<F>,
        starts: &[usize],
        kept: &Kept,
        joined: &mut Joined<Standing>,
    ) -> Result<()> {
        let segment = dated.segment();
        // A segment of a day on which no page was kept has no signatures either.
        if segment.rows() == 0 {
            return Ok(());
        }
        let keys = self.keys.as_ref().map(|_| self.key_reader(dated)).transpose()?;
        let mut lookup =
            Lookup { ids: segment.ids(), days: dated.days(), shown: dated.shown(), keys };
        // Distinct fingerprints and their first rows.
        let mut window = Vec::new();
        let mut rows = Vec::new();
        let mut end = 0;
        let mut scan = segment.scan::<F>(KeyRange::all());
        let mut run = Vec::new();
        let scratch = MethodScratch::default();
        let mut probing = Probing { of: self, method, starts, kept, scratch };
        while let Some(first) = scan.next(&mut run)? {
            for (row, &fingerprint) in (first..).zip(&run) {
                if window.last() != Some(&fingerprint) {
                    if window.len() >= method.window() {
                        probing.probe(&mut window, &mut rows, row, &mut lookup, joined)?;
                    }
                    window.push(fingerprint);
                    rows.push(row);
                }
                end = row + 1;
            }
        }
        probing.probe(&mut window, &mut rows, end, &mut lookup, joined)
    }

    /// Takes rows of the store with one fingerprint, near all of the groups at these places of the `joined` ones.
    fn take(
        &self,
        (joined, at): (&mut Joined<Standing>, Range<usize>),
        (kept, distance): (&Kept, u8),
        rows: Range<u64>,
        lookup: &mut Lookup,
    ) -> Result<()> {
        let shown = lookup.shown.among(rows.start, rows.end - rows.start)?;
        let Some((first, count)) = shown else { return Ok(()) };
        let expected = &mut joined.expected[at];
        joined.pairs += 1;
        if let (Some(candidates), Some(first)) = (&mut joined.candidates, expected.first()) {
            let pages = self.pages_of(self.batch.fingerprint_of(first.group));
            *candidates += pages * u128::from(count);
        }
        let Some(keys) = &self.keys else {
            // Rows with equal fingerprints are sorted by id, then by day, so the first row is the one that a verdict names.
            return expected.iter_mut().try_for_each(|expected| {
                expected.held += u128::from(count);
                lookup.offer(expected, Standing::near(distance), first)
            });
        };
        for row in rows {
            progress::tick(Activity::Working);
            if !lookup.shown.get(row)? {
                continue;
            }
            for expected in &mut *expected {
                let reader = lookup.keys.as_mut().expect("the segment has what the batch has");
                let new = self.batch.key_row(expected.group);
                let standings = keys.compare_row(new, reader.get(row)?, distance.into())?;
                expected.held += u128::from(standings.any());
                if let Some(standing) = standings.of_first {
                    lookup.offer(expected, standing, row)?;
                }
                let by = kept[expected.group.index()].filter(|_| self.of.replaces);
                if let (Some(by), Some(standing)) = (by, standings.of_second) {
                    let (id, day) = (lookup.ids.get(row)?.to_owned(), lookup.days.get(row)?);
                    joined.going.push(Going { id, day, standing, by })?;
                }
            }
        }
        Ok(())
    }

    /// Joins the sample with the batch.
    fn join_batch(
        &self,
        method: &ArrangedBatch<F>,
        starts: &[usize],
        sampled: &[FingerprintIndex],
        joined: &mut Joined<Standing>,
        met: &mut Meetings,
    ) -> Result<()> {
        let Joined { expected, pairs, candidates, .. } = joined;
        let mut done = Ok(());
        let mut scratch = MethodScratch::default();
        for (number, window) in self.fingerprints.chunks(method.window()).enumerate() {
            progress::tick(Activity::Working);
            let first = (number * method.window()) as u32;
            method.probe(&[window], &mut scratch, &mut |Hit { batch, at, distance, .. }| {
                let batch = batch as usize;
                let other = FingerprintIndex::from(first + at);
                if other < sampled[batch] {
                    *pairs += 1;
                    let pages = || self.pages_of(other) * self.pages_of(sampled[batch]);
                    candidates.iter_mut().for_each(|candidates| *candidates += pages());
                }
                for expected in &expected[starts[batch]..starts[batch + 1]] {
                    progress::tick(Activity::Working);
                    for other in self.batch.groups_of(other).iter() {
                        if done.is_ok() {
                            done = self.meet(expected.group, other, distance, met);
                        }
                    }
                }
            });
        }
        done
    }

    /// Joins the sample with the pages of the batch that share a band with it.
    fn meet_in_bands(&self, joined: &mut Joined<Standing>, met: &mut Meetings) -> Result<()> {
        let Joined { expected, candidates, .. } = joined;
        let ByDistance { batch, distance, confirm, .. } = self.by;
        let Some(confirm) = confirm.filter(Confirm::has_direction) else { return Ok(()) };
        let space = self.of.space();
        let confirm = self.by.texts.map_or(confirm, |_| confirm.of_candidates_in_bands());
        let bands = SharedBands { batch, confirm, distance, space, workers: self.of.workers };
        for pair in bands.pairs::<F>()? {
            let Pair { new, existing: Place::Batch { group }, distance } = pair? else { continue };
            let is_sampled = |of: Group| expected.binary_search_by_key(&of, |it| it.group).is_ok();
            if is_sampled(self.batch.groups_of(new).start) {
                let pages = self.pages_of(new) * self.pages_of(group);
                candidates.iter_mut().for_each(|candidates| *candidates += pages);
            }
            for [one, other] in [[new, group], [group, new]] {
                for one in self.batch.groups_of(one).iter().filter(|&one| is_sampled(one)) {
                    for other in self.batch.groups_of(other).iter() {
                        self.meet(one, other, distance, met)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Takes an `other` group of the batch whose fingerprint is near that of a `group` of the sample, if the signatures allow a match.
    fn meet(&self, group: Group, other: Group, distance: u8, met: &mut Meetings) -> Result<()> {
        if other == group {
            return Ok(());
        }
        let standings =
            self.batch.standings(self.keys.as_ref(), [group, other], distance.into())?;
        if !standings.any() {
            return Ok(());
        }
        met.compared.add([group, other]);
        met.pairs.push(Meeting { group, other, distance, standings })
    }

    /// Takes the groups that were met as matches, if their texts confirm that where they were compared.
    fn settle(
        &self,
        met: Meetings,
        kept: &Kept,
        expected: &mut [Expected<Standing>],
    ) -> Result<()> {
        let runs = self.runs(&met.compared)?;
        let all = self.of.detail == Detail::All;
        for meeting in met.pairs.sorted()? {
            progress::tick(Activity::Working);
            let Meeting { group, other, distance, standings } = meeting?;
            let standings = match &runs {
                Some(runs) => runs.standings([group, other], distance)?,
                None => standings,
            };
            let at = expected.binary_search_by_key(&group, |it| it.group);
            if let (true, Ok(at)) = (standings.any(), at) {
                let turns = [group, other].map(|group| self.leaders.rank(group));
                expected[at].meet(kept, all, turns, other, standings.of_first);
            }
        }
        Ok(())
    }

    /// The runs of words of these groups; `None` if the join did not compare texts.
    fn runs(&self, compared: &ComparedGroups) -> Result<Option<PageRuns>> {
        let ByDistance { batch: segment, confirm, texts, .. } = self.by;
        let (Some(texts), Some(confirm), Some(keys)) = (texts, confirm, &self.keys) else {
            return Ok(None);
        };
        let Rejoin { batch, leaders, .. } = self;
        let &Recompute { spill: folder, workers, .. } = self.of;
        let reading =
            TextReading { texts, segment, batch, leaders, confirm, folder, copies: false, workers };
        reading.read(keys, compared).map(Some)
    }
}

/// What the sample may match in the batch.
struct Meetings {
    pairs: Sorter<Meeting>,
    /// The groups of the pairs, where texts were compared.
    compared: ComparedGroups,
}

/// A group of the sample, and another group of the batch that it may match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Meeting {
    group: Group,
    other: Group,
    distance: u8,
    standings: Standings,
}

impl Record for Meeting {}

/// A probe of windows of the store.
struct Probing<'a, 'b, F: Fingerprint> {
    of: &'a Rejoin<'b, F>,
    method: &'a ArrangedBatch<F>,
    starts: &'a [usize],
    kept: &'a Kept,
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
        joined: &mut Joined<Standing>,
    ) -> Result<()> {
        let Probing { of, starts, kept, .. } = *self;
        let mut failed = Ok(());
        rows.push(end);
        self.method.probe(&[window], &mut self.scratch, &mut |hit: Hit| {
            let batch = hit.batch as usize;
            let at = hit.at as usize;
            let groups = starts[batch]..starts[batch + 1];
            if failed.is_ok() {
                let near = (kept, hit.distance);
                failed = of.take((joined, groups), near, rows[at]..rows[at + 1], lookup);
            }
        });
        window.clear();
        rows.clear();
        progress::tick(Activity::Working);
        failed
    }
}

impl Lookup {
    /// Takes a row of the store as the nearest row, if no nearer row was found.
    fn offer(
        &mut self,
        expected: &mut Expected<Standing>,
        standing: Standing,
        row: u64,
    ) -> Result<()> {
        expected.offer(standing, || Ok((self.ids.get(row)?.to_owned(), self.days.get(row)?)))
    }
}
