//! The join by sorting: the fingerprints gathered by their keys, one key after the other.
//!
//! Nothing is indexed. For each key of a [`Design`] the fingerprints are sorted by it, and those that
//! come to stand together are compared. So a batch of a hundred million meets itself, or a window of
//! the store as large as that, in the memory of one pass; tables of all keys at once would hold the
//! batch many times.
//!
//! Keys that begin with the same block are sorted in two steps, of which the first serves them all:
//! a pass over the batch gathers its fingerprints into groups by the hash of that block, the *lead*,
//! and each group, some thousand fingerprints that stay in the cache, is sorted by each of the keys. A
//! pass takes one share of the groups, the unit of work; whoever takes it reads the batch through
//! and needs nobody else.
//!
//! Every pair is found once: it may meet under several keys, but counts under the first only. Where
//! too many meet under a key, they are sorted again by the bits outside it, dealt out over k + 1 keys: a
//! pair differs in at most k of them, so it agrees in one of the keys.

use std::ops::Range;
use std::sync::Arc;

use super::design::Design;
use super::table::hash;
use super::{Hit, Probe, Scratch};
use crate::error::Result;
use crate::fingerprint::{Fingerprint, Width};
use crate::progress::{self, Activity};

/// About how many fingerprints a group has, as a power of two.
const GROUP_BITS: u32 = 10;

/// How many shares the groups of one lead are divided into, as a power of two.
const SHARE_BITS: u32 = 3;

/// How many parts the leads are divided among.
const TURNS: u32 = 4;

/// About how many fingerprints a share has at most, as a power of two.
const MOST_BITS: u32 = 24;

/// More fingerprints that meet under one key than this are sorted again.
const CROWD: usize = 512;

/// About how many of a crowd are asked for their bits.
const ASKED: usize = 256;

/// How many fingerprints of the store are best probed at once.
pub(super) const WINDOW: usize = 1 << 24;

/// The batch, to be joined with itself or others under the keys of a design.
#[derive(Debug)]
pub struct Sorted<F> {
    batch: Arc<[F]>,
    keys: Vec<F>,
    leads: Vec<Lead<F>>,
    k: u32,
}

/// What several keys begin with.
#[derive(Debug)]
struct Lead<F> {
    mask: F,
    /// Which keys begin with it.
    keys: Range<usize>,
    /// How many groups there are and how many shares, as powers of two.
    group_bits: u32,
    share_bits: u32,
}

/// A fingerprint and its place in the batch, or in what is probed.
#[derive(Clone, Copy, Debug, Default)]
struct Entry<F> {
    fingerprint: F,
    place: u32,
}

/// Entries in buckets.
#[derive(Debug)]
struct Buckets<F> {
    entries: Vec<Entry<F>>,
    /// Bucket b holds the entries `starts[b]..starts[b + 1]`.
    starts: Vec<u32>,
}

/// Memory that one join works in.
#[derive(Debug)]
pub(super) struct Gathering<F> {
    picked: Vec<Entry<F>>,
    batch: Buckets<F>,
    others: Buckets<F>,
    spare: Vec<Buckets<F>>,
}

impl<F> Default for Buckets<F> {
    fn default() -> Buckets<F> {
        Buckets { entries: Vec::new(), starts: Vec::new() }
    }
}

impl<F> Default for Gathering<F> {
    fn default() -> Gathering<F> {
        let (batch, others) = (Buckets::default(), Buckets::default());
        Gathering { picked: Vec::new(), batch, others, spare: Vec::new() }
    }
}

impl<F: Fingerprint> Sorted<F> {
    /// The join of `batch`, which is distinct, under the keys of `design` for distances up to `k`.
    ///
    /// # Errors
    /// [`Kind::Usage`] where the design has no masks or does not cover `k`, or the batch has more than
    /// `u32::MAX` fingerprints.
    pub fn new(batch: Arc<[F]>, design: Design, k: u32) -> Result<Sorted<F>> {
        let count = u32::try_from(batch.len()).map_err(|_| super::too_many(batch.len()))?;
        let (mut keys, mut leads) = (Vec::new(), Vec::new());
        for (mask, led) in design.leads(F::WIDTH, k)? {
            let (group_bits, share_bits) = bits(count.into(), mask.count_ones());
            let first = keys.len();
            keys.extend(led.into_iter().map(F::from_u128));
            let (mask, keys) = (F::from_u128(mask), first..keys.len());
            leads.push(Lead { mask, keys, group_bits, share_bits });
        }
        Ok(Sorted { batch, keys, leads, k })
    }

    /// The keys under which pairs meet.
    pub fn keys(&self) -> &[F] {
        &self.keys
    }

    /// Into how many parts the join of the batch with itself is divided: the same for all designs.
    pub fn parts(&self) -> u32 {
        match self.batch.len() as u64 {
            0 => 0,
            count => TURNS << bits(count, u32::MAX).1,
        }
    }

    /// Joins the batch with itself, as far as it falls into `part`. Over all parts, `found` is called
    /// exactly once for each pair within k: with the later one as the batch's, and the earlier one as
    /// the one that was probed.
    pub fn join(&self, part: u32, scratch: &mut Scratch<F>, found: &mut dyn FnMut(Hit)) {
        let Gathering { picked, batch, spare, .. } = &mut scratch.gathering;
        let mut join = Join { k: self.k, spare };
        let (share, turn) = (part / TURNS, part % TURNS);
        let leads = self.leads.iter().skip(turn as usize).step_by(TURNS as usize);
        for lead in leads.filter(|lead| share < lead.shares()) {
            batch.gather(lead, share, &[&self.batch], picked);
            for group in batch.buckets() {
                join.under(&self.keys, lead.keys.clone(), group, None, &mut |a, b, distance| {
                    let (batch, at) = (a.place.max(b.place), a.place.min(b.place));
                    found(Hit { batch, run: 0, at, distance });
                });
            }
        }
    }
}

impl<F: Fingerprint> Probe<F> for Sorted<F> {
    fn probe(&self, runs: &[&[F]], scratch: &mut Scratch<F>, found: &mut dyn FnMut(Hit)) {
        let ends: Vec<usize> = runs
            .iter()
            .scan(0, |end, run| {
                *end += run.len();
                Some(*end)
            })
            .collect();
        let Gathering { picked, batch, others, spare } = &mut scratch.gathering;
        let mut join = Join { k: self.k, spare };
        let shares = |lead| (0..Lead::shares(lead)).map(move |share| (lead, share));
        for (lead, share) in self.leads.iter().flat_map(shares) {
            others.gather(lead, share, runs, picked);
            batch.gather(lead, share, &[&self.batch], picked);
            for (group, others) in batch.buckets().zip(others.buckets()) {
                let keys = lead.keys.clone();
                join.under(&self.keys, keys, group, Some(others), &mut |entry, other, distance| {
                    let place = other.place as usize;
                    let run = ends.partition_point(|&end| end <= place);
                    let at = place + runs[run].len() - ends[run];
                    found(Hit { batch: entry.place, run: run as u32, at: at as u32, distance });
                });
            }
        }
    }

    fn window(&self) -> usize {
        WINDOW
    }
}

impl<F: Fingerprint> Lead<F> {
    /// How many shares its groups are divided into.
    fn shares(&self) -> u32 {
        1 << self.share_bits
    }
}

impl<F: Fingerprint> Buckets<F> {
    /// Gathers what of `runs` falls into a share of the lead's groups, group by group.
    fn gather(&mut self, lead: &Lead<F>, share: u32, runs: &[&[F]], picked: &mut Vec<Entry<F>>) {
        progress::tick(Activity::Sorting);
        picked.clear();
        let mut first = 0;
        for run in runs {
            for (block, first) in run.chunks(PICK).zip((first..).step_by(PICK)) {
                pick(lead, share, block, first, picked);
            }
            first += run.len() as u32;
        }
        let (shift, groups) = (64 - lead.group_bits, 1 << (lead.group_bits - lead.share_bits));
        let mask = lead.mask;
        self.sort(picked, groups, |entry| (hash(entry & mask) >> shift) as usize & (groups - 1));
    }

    /// Sorts `entries` into so many buckets.
    #[inline]
    fn sort(&mut self, entries: &[Entry<F>], buckets: usize, bucket: impl Fn(F) -> usize) {
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

    fn buckets(&self) -> impl Iterator<Item = &[Entry<F>]> {
        self.starts.windows(2).map(|bounds| &self.entries[bounds[0] as usize..bounds[1] as usize])
    }
}

/// How many fingerprints are picked from at a time.
const PICK: usize = 1024;

/// Adds those of `block`, which begins at place `first`, that fall into a share.
fn pick<F: Fingerprint>(
    lead: &Lead<F>,
    share: u32,
    block: &[F],
    first: u32,
    picked: &mut Vec<Entry<F>>,
) {
    let (mask, shift) = (lead.mask, 64 - lead.share_bits);
    let start = picked.len();
    let mut count = start;
    picked.resize(start + block.len() + 1, Entry::default());
    for (&fingerprint, place) in block.iter().zip(first..) {
        picked[count] = Entry { fingerprint, place };
        count += usize::from(hash(fingerprint & mask) >> shift == u64::from(share));
    }
    picked.truncate(count);
}

/// Two fingerprints within k, and their distance.
type Found<'a, F> = &'a mut dyn FnMut(&Entry<F>, &Entry<F>, u8);

/// A join under way.
struct Join<'a, F> {
    k: u32,
    spare: &'a mut Vec<Buckets<F>>,
}

impl<F: Fingerprint> Join<'_, F> {
    /// Joins `entries` with `others`, or with themselves where there are none, under those of `keys`
    /// whose `turns` it is.
    fn under(
        &mut self,
        keys: &[F],
        turns: Range<usize>,
        entries: &[Entry<F>],
        others: Option<&[Entry<F>]>,
        found: Found<'_, F>,
    ) {
        let fewest = others.map_or(entries.len() / 2, |others| entries.len().min(others.len()));
        if fewest == 0 {
            return;
        }
        let most = entries.len().max(others.map_or(0, <[_]>::len));
        let bits = bucket_bits(most);
        let [mut ours, mut theirs] = [(); 2].map(|()| self.spare.pop().unwrap_or_default());
        for turn in turns {
            let key = keys[turn];
            let bucket = |fingerprint: F| bucket(fingerprint, key, bits);
            let mut first = |a: &Entry<F>, b: &Entry<F>, distance| {
                if first_meeting(keys, a.fingerprint ^ b.fingerprint) == Some(turn) {
                    found(a, b, distance);
                }
            };
            ours.sort(entries, 1 << bits, bucket);
            match others {
                None => {
                    for bucket in ours.buckets().filter(|bucket| bucket.len() > 1) {
                        self.bucket(key, bucket, None, &mut first);
                    }
                }
                Some(others) => {
                    theirs.sort(others, 1 << bits, bucket);
                    for (bucket, others) in ours.buckets().zip(theirs.buckets()) {
                        self.bucket(key, bucket, Some(others), &mut first);
                    }
                }
            }
        }
        self.spare.extend([ours, theirs]);
    }

    /// Joins what has met under `key`.
    #[inline]
    fn bucket(
        &mut self,
        key: F,
        entries: &[Entry<F>],
        others: Option<&[Entry<F>]>,
        found: Found<'_, F>,
    ) {
        let most = entries.len().max(others.map_or(0, <[_]>::len));
        if most > CROWD && self.divide(key, entries, others, found) {
            return;
        }
        for (at, entry) in entries.iter().enumerate() {
            for other in others.unwrap_or(&entries[at + 1..]) {
                let distance = entry.fingerprint.distance(other.fingerprint);
                if distance <= self.k {
                    found(entry, other, distance as u8);
                }
            }
        }
    }

    /// Joins a crowd under keys made of the bits in which it differs, if that at least halves the
    /// comparisons; says whether it did. What has come together by a collision only, and does not agree
    /// in `key`, is joined under another key.
    #[cold]
    fn divide(
        &mut self,
        key: F,
        entries: &[Entry<F>],
        others: Option<&[Entry<F>]>,
        found: Found<'_, F>,
    ) -> bool {
        let keys = dealt(key, entries, others.unwrap_or_default(), self.k + 1);
        let all = entries.len() as u64 * others.unwrap_or(entries).len() as u64;
        let divides = self.meetings(&keys, entries, others.unwrap_or(entries)) <= all / 2;
        if divides {
            self.under(&keys, 0..keys.len(), entries, others, found);
        }
        divides
    }

    /// How many of `entries` and `others` meet, over all `keys`.
    fn meetings(&mut self, keys: &[F], entries: &[Entry<F>], others: &[Entry<F>]) -> u64 {
        let [mut ours, mut theirs] = [(); 2].map(|()| self.spare.pop().unwrap_or_default());
        let bits = bucket_bits(entries.len().max(others.len()));
        let mut meetings = 0;
        for &key in keys {
            ours.sort(entries, 1 << bits, |fingerprint| bucket(fingerprint, key, bits));
            theirs.sort(others, 1 << bits, |fingerprint| bucket(fingerprint, key, bits));
            let pairs = ours.buckets().zip(theirs.buckets());
            meetings += pairs.map(|(ours, theirs)| (ours.len() * theirs.len()) as u64).sum::<u64>();
        }
        self.spare.extend([ours, theirs]);
        meetings
    }
}

/// `count` keys: each is `key` with some of the other bits, which are dealt out one by one, those
/// first that divide the crowd most evenly. However they are dealt, `count - 1` differing bits leave
/// some key untouched.
fn dealt<F: Fingerprint>(key: F, entries: &[Entry<F>], others: &[Entry<F>], count: u32) -> Vec<F> {
    let asked = |side: &[Entry<F>]| side.len().div_ceil(ASKED).max(1);
    let some = entries.iter().step_by(asked(entries));
    let some: Vec<F> =
        some.chain(others.iter().step_by(asked(others))).map(|entry| entry.fingerprint).collect();
    let bit = |at: u32| F::from_u128(1 << at);
    let evenness = |at: u32| {
        let set = some.iter().filter(|&&fingerprint| fingerprint & bit(at) != F::default()).count();
        set.min(some.len() - set)
    };
    let free = (0..F::BITS).filter(|&at| key & bit(at) == F::default());
    let mut free: Vec<(usize, u32)> = free.map(|at| (evenness(at), at)).collect();
    free.sort_unstable_by(|a, b| b.cmp(a));
    let mut keys = vec![key; count as usize];
    for (turn, &(_, at)) in free.iter().enumerate() {
        let key = &mut keys[turn % count as usize];
        *key = *key | bit(at);
    }
    keys
}

/// How many buckets so many entries are sorted into, as a power of two.
fn bucket_bits(entries: usize) -> u32 {
    entries.max(1).ilog2() + 1
}

/// The bucket of a fingerprint under `key`.
#[inline]
fn bucket<F: Fingerprint>(fingerprint: F, key: F, bits: u32) -> usize {
    (hash(fingerprint & key) >> (64 - bits)) as usize
}

/// The first of `keys` under which a pair with these differing bits meets.
fn first_meeting<F: Fingerprint>(keys: &[F], differing: F) -> Option<usize> {
    keys.iter().position(|&key| differing & key == F::default())
}

/// How many groups and how many shares, as powers of two, so many fingerprints have under a lead of
/// so many bits.
fn bits(count: u64, lead_bits: u32) -> (u32, u32) {
    let count = count.max(1).ilog2();
    let groups = count.saturating_sub(GROUP_BITS).clamp(1, lead_bits);
    (groups, count.saturating_sub(MOST_BITS).max(SHARE_BITS).min(groups))
}

/// Reading past one fingerprint on the way to a share, in nanoseconds; like all that follow measured on
/// one thread of a 2-core Zen 5 machine.
const PICK_NS: f64 = 1.0;
/// Bringing one into its group.
const GATHER_NS: f64 = 5.0;
/// Sorting one by one key.
const SORT_NS: f64 = 6.5;
/// Comparing two that meet.
const COMPARE_NS: f64 = 0.7;

/// What one pass over all shares takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cost {
    /// The time of one thread.
    pub(super) nanoseconds: f64,
    /// The memory of one worker, and what it holds of the store.
    pub(super) memory_bytes: u64,
}

impl Cost {
    /// Joining uniform fingerprints: a batch with `others`, or with itself where there are none.
    pub(super) fn of(
        design: Design,
        batch: u64,
        others: u64,
        k: u32,
        width: Width,
    ) -> Result<Cost> {
        let (all, mut nanoseconds, mut share) = ((batch + others) as f64, 0.0, 0);
        let pairs = match others {
            0 => batch as f64 * batch as f64 / 2.0,
            others => batch as f64 * others as f64,
        };
        for (lead, keys) in design.leads(width, k)? {
            let (group_bits, share_bits) = bits(batch, lead.count_ones());
            nanoseconds += all * (PICK_NS * f64::from(1 << share_bits) + GATHER_NS);
            share = share.max((batch.max(others) + batch + others) >> share_bits);
            for key in keys {
                // Those that have the same key, and those that only fall into the same bucket.
                let places = 2_f64.powi(key.count_ones() as i32).min(batch as f64);
                let met = (pairs / places.max(1.0)).min(all * 2.0 * CROWD as f64);
                nanoseconds += all * SORT_NS + met * COMPARE_NS;
            }
            nanoseconds += f64::from(1 << group_bits);
        }
        let bytes = u64::from(width.bits() / 8);
        let entry = 2 * bytes;
        Ok(Cost { nanoseconds, memory_bytes: share * entry + 2 * others * bytes })
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::tables::tests::{all_pairs, inputs, off, probed, set, uniform};

    /// The pairs of all parts, sorted; one found twice stands there twice.
    fn joined<F: Fingerprint>(batch: &[F], design: Design, k: u32) -> Vec<Hit> {
        let sorted = Sorted::new(batch.into(), design, k).unwrap();
        let (mut hits, mut scratch) = (Vec::new(), Scratch::default());
        for part in 0..sorted.parts() {
            sorted.join(part, &mut scratch, &mut |hit| hits.push(hit));
        }
        hits.sort_unstable();
        hits
    }

    /// The meaning: every pair, compared.
    fn itself<F: Fingerprint>(batch: &[F], k: u32) -> Vec<Hit> {
        let pairs = all_pairs(batch, batch, k);
        pairs.into_iter().filter(|pair| pair.at < pair.batch).collect()
    }

    fn is_exact<F: Fingerprint>() {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        for k in [0, 1, 3, 4, 7] {
            let blocks = [1, 2, 3].map(|choose| Design::Blocks { blocks: k + choose, choose });
            let paper = Design::PAPER.into_iter().filter(|design| k <= design.covers(F::WIDTH));
            for design in paper.chain(blocks) {
                for (mut batch, others) in inputs::<F>(&mut random, k) {
                    batch.extend(others);
                    let batch = set(batch);
                    assert_eq!(joined(&batch, design, k), itself(&batch, k), "{design} at {k}");
                }
            }
        }
    }

    #[test]
    fn a_batch_finds_itself_at_64_bits() {
        is_exact::<u64>();
    }

    #[test]
    fn a_batch_finds_itself_at_128_bits() {
        is_exact::<u128>();
    }

    #[test]
    fn batches_about_the_edges_of_groups_are_exact() {
        let mut random = ChaCha8Rng::seed_from_u64(8);
        for count in [0, 1, 2, 3, 1023, 1024, 2047, 2048, 2049, 5000] {
            let batch: Vec<u64> = uniform(&mut random, count / 2);
            let near: Vec<u64> = batch.iter().map(|&b| off(&mut random, b, 3)).collect();
            let batch = set(batch.into_iter().chain(near));
            for design in [Design::Four, Design::Ten] {
                assert_eq!(joined(&batch, design, 3), itself(&batch, 3), "{count}");
            }
        }
    }

    /// A neighbourhood so dense that what meets is sorted again, and again.
    #[test]
    fn crowds_are_divided_and_stay_exact() {
        let mut random = ChaCha8Rng::seed_from_u64(9);
        let centre = 0xabcd_ef01_2345_0000_u64 << 2;
        let low = (0..1 << 12).map(|i| centre ^ i);
        let ball = (0..3000).map(|i| off(&mut random, centre, i % 4)).collect::<Vec<_>>();
        let batch = set(low.chain(ball));
        let others = set((0..400).map(|i| off(&mut random, centre, i % 6)).collect::<Vec<_>>());
        for design in [Design::Four, Design::Ten, Design::Blocks { blocks: 64, choose: 1 }] {
            assert_eq!(joined(&batch, design, 3), itself(&batch, 3), "{design}");
            let sorted = Sorted::new(Arc::from(&batch[..]), design, 3).unwrap();
            assert_eq!(probed(&sorted, &others), all_pairs(&batch, &others, 3), "{design}");
        }
    }

    #[test]
    fn a_pair_names_its_run() {
        let batch: Arc<[u64]> = Arc::from([5, 1 << 40]);
        let sorted = Sorted::new(batch, Design::Ten, 1).unwrap();
        let runs: [&[u64]; 4] = [&[4, 1 << 41], &[], &[5, 1 << 40 | 1], &[5]];
        let mut found = Vec::new();
        sorted.probe(&runs, &mut Scratch::default(), &mut |hit| found.push(hit));
        found.sort_unstable();
        let hit = |batch, run, at, distance| Hit { batch, run, at, distance };
        assert_eq!(found, [hit(0, 0, 0, 1), hit(0, 2, 0, 0), hit(0, 3, 0, 0), hit(1, 2, 1, 1)]);
    }
}
